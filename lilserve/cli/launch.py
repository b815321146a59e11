"""No verb: resolve a launch and become it, or with `--print-config` show it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from lilserve.cli.conduct import plan_of
from lilserve.cli.selecting import SelectingCommand, request, selecting
from lilserve.errors import ConfigurationError, HostError, Problem, nearest, refuse
from lilserve.plan.redact import redact_text

if TYPE_CHECKING:
    from lilserve.cli.selecting import Request
    from lilserve.plan.model import Plan

FORMATS = ("json", "yaml", "argv", "shell", "env", "table")


@click.command(cls=SelectingCommand)
@click.argument("words", nargs=-1, metavar="[-- ENGINE OPTIONS AND CONTROLS]")
@selecting
@click.option(
    "--print-config",
    is_flag=False,
    flag_value="json",
    type=click.Choice(FORMATS),
    help="Show what would run, and who said so.",
)
@click.option("--strict", is_flag=True, help="Treat every warning as an error.")
@click.option("--locked", metavar="RECEIPT", help="Refuse anything but the launch of this receipt.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    words: tuple[str, ...],
    print_config: str | None,
    locked: str | None,
    *,
    strict: bool,
    **_: object,
) -> int:
    """Resolve a launch, show it or become it. Engine options and controls stand after --."""
    if words:
        raise ConfigurationError(*(_stray(word, ctx) for word in words))
    asked = request(ctx, os.environ, ask_gpus=print_config is None)
    plan = plan_of(asked)
    if strict:
        refuse_notices(plan)
    if locked is not None:
        from lilserve.cli.receipt import read_receipt  # noqa: PLC0415 -- few launches are held to a receipt
        from lilserve.receipt.receipt import hold_to  # noqa: PLC0415 -- as above

        hold_to(read_receipt(locked), plan, locked)
    if print_config is None:
        return _run(plan, asked, strict=strict)
    from lilserve.render.formats import FORMATS as RENDERERS  # noqa: PLC0415 -- a launch prints nothing

    click.echo(RENDERERS[print_config](plan))
    return 0


def _run(plan: Plan, asked: Request, *, strict: bool) -> int:
    """Judge this host, then become the launch."""
    from lilserve.engine.installed import installed_release, mismatch  # noqa: PLC0415 -- a printed plan
    from lilserve.host.checks import problems_of  # noqa: PLC0415 -- asks the host nothing
    from lilserve.run import run  # noqa: PLC0415 -- and starts nothing

    problems = problems_of(plan, asked.selection.facts)
    if problems:
        raise HostError(*problems)
    told = mismatch(installed_release(plan.argv[0], os.environ.get("PATH")), plan.release)
    if told is not None and strict:
        raise ConfigurationError(Problem(f"{told} (--strict)", code="engine-release"))
    for text in filter(None, (told, *(notice.text for notice in plan.notices))):
        click.echo(f"notice: {redact_text(text)}", err=True)
    return run(plan, os.environ)


def refuse_notices(plan: Plan) -> None:
    """Raise ConfigurationError when the plan has a notice that is more than information."""
    refuse(strict_problems(plan))


def strict_problems(plan: Plan) -> list[Problem]:
    """Every notice that is more than information, as a problem."""
    warnings = [notice for notice in plan.notices if notice.level != "information"]
    return [Problem(f"{notice.text} (--strict)", code=notice.code) for notice in warnings]


def _stray(word: str, ctx: click.Context) -> Problem:
    """A word that is neither a verb nor behind an option."""
    verbs = (
        ctx.parent.command.list_commands(ctx.parent)
        if ctx.parent and isinstance(ctx.parent.command, click.Group)
        else []
    )
    near = nearest(word, verbs)
    return Problem(
        f"unknown verb {word!r}",
        None,
        ", ".join(verbs),
        f"lil-serve {near}" if near else f"lil-serve --profile {word}",
        code="usage",
    )
