"""`receipt`: what was resolved, to be kept beside a result and to hold later launches to."""

from __future__ import annotations

import json
import os

import click

from lilserve import __version__
from lilserve.cli.conduct import plan_of
from lilserve.cli.selecting import SelectingCommand, request, selecting
from lilserve.errors import ConfigurationError, Problem
from lilserve.receipt.receipt import check_receipt, receipt_data


@click.command(cls=SelectingCommand)
@selecting
@click.option("--output", metavar="FILE", help="Write it there instead of printing it.")
@click.pass_context
def command(ctx: click.Context, /, output: str | None, **_: object) -> None:
    r"""Write down a launch: plan and document digests, engine build, facts of this host, redacted argv.

    \b
    lil-serve receipt --profile X --hardware Y > launch.json
    lil-serve --locked launch.json --profile X --hardware Y
    """
    plan = plan_of(request(ctx, os.environ, ask_gpus=True))
    text = json.dumps(receipt_data(plan, __version__), indent=2, ensure_ascii=False) + "\n"
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        with open(output, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise ConfigurationError(
            Problem(f"cannot write {output!r}: {(error.strerror or '').lower()}", code="file")
        ) from error


def read_receipt(path: str) -> dict[str, object]:
    """The receipt in a file. Raises ConfigurationError."""
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigurationError(
            Problem(
                f"cannot read the receipt {path!r}: {reason.lower()}",
                hint=f"lil-serve receipt ... > {path}",
                code="file",
            )
        ) from error
    return check_receipt(data, path)
