"""No verb: resolve a launch and become it, or with `--print-config` show it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from lilserve import __version__
from lilserve.cli.conduct import plan_of
from lilserve.cli.report import tell
from lilserve.cli.selecting import SelectingCommand, completes, request, selecting
from lilserve.errors import ConfigurationError, Problem, refuse
from lilserve.plan.redact import redact_text

if TYPE_CHECKING:
    from lilserve.cli.selecting import Request
    from lilserve.plan.model import Plan

FORMATS = ("json", "yaml", "argv", "shell", "env", "table")
BARE = ("argv", "shell", "env")  # forms without a place for notices


class LaunchCommand(SelectingCommand):
    """The launch, whose help is that of the whole command."""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from lilserve.cli.helping import write_help  # noqa: PLC0415 -- a launch prints no help

        write_help(self, ctx, formatter)


def _show_version(ctx: click.Context, _parameter: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        click.echo(f"lil-serve {__version__}")
        ctx.exit()


@click.command(cls=LaunchCommand)
@click.argument("words", nargs=-1, shell_complete=completes("token"))
@selecting
@click.option(
    "--print-config",
    is_flag=False,
    flag_value="json",
    type=click.Choice(FORMATS),
    help="Show what would run, and who said so; JSON without a value.",
)
@click.option("--strict", is_flag=True, help="Treat every warning as an error.")
@click.option("--locked", metavar="RECEIPT", help="Refuse anything but the launch of this receipt.")
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Print it and exit."
)
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
        from lilserve.cli.misplaced import stray  # noqa: PLC0415 -- only a refusal needs it

        raise ConfigurationError(stray(words, ctx.meta["own_tokens"]))
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
    if print_config in BARE:
        tell(plan)
    return 0


def _run(plan: Plan, asked: Request, *, strict: bool) -> int:
    """Judge this host, then become the launch."""
    from lilserve.engine.installed import installed_release, mismatch  # noqa: PLC0415 -- a printed plan
    from lilserve.host.checks import problems_of  # noqa: PLC0415 -- asks the host nothing
    from lilserve.run import run  # noqa: PLC0415 -- and starts nothing

    found = problems_of(plan, asked.selection.facts)
    told = mismatch(installed_release(plan.argv[0], os.environ.get("PATH")), plan.release)
    if told is not None and strict:
        raise ConfigurationError(Problem(f"{told} (--strict)", code="engine-release"))
    for text in filter(None, (told, *(notice.text for notice in plan.notices))):
        click.echo(f"notice: {redact_text(text)}", err=True)
    return run(plan, os.environ, found=found)


def refuse_notices(plan: Plan) -> None:
    """Raise ConfigurationError when the plan has a notice that is more than information."""
    refuse(strict_problems(plan))


def strict_problems(plan: Plan) -> list[Problem]:
    """Every notice that is more than information, as a problem."""
    warnings = [notice for notice in plan.notices if notice.level != "information"]
    return [Problem(f"{notice.text} (--strict)", code=notice.code) for notice in warnings]
