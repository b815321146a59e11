"""`run`: inside a container, become the plan that was rendered into it."""

from __future__ import annotations

import os

import click

from lilserve.cli.selecting import SelectingCommand
from lilserve.errors import ConfigurationError, HostError, Problem
from lilserve.receipt.seal import unseal


@click.command(cls=SelectingCommand)
@click.option("--sealed", required=True, metavar="SEAL", help="What `lil-serve render` wrote.")
@click.pass_context
def command(ctx: click.Context, /, sealed: str) -> int:
    """Run exactly what was rendered: the argv behind --, the variables around it, and what the seal holds.

    Nothing is resolved here. Renderings call this verb; for a launch by hand leave the verb away.
    """
    argv = ctx.meta["engine_tokens"]
    if not argv:
        raise ConfigurationError(
            Problem("no command stands behind --", hint="lil-serve render docker ...", code="seal")
        )
    plan = unseal(sealed, argv, os.environ)
    from lilserve.host.checks import problems_of  # noqa: PLC0415 -- a broken seal asks the host nothing
    from lilserve.host.facts import all_facts  # noqa: PLC0415 -- as above
    from lilserve.run import run  # noqa: PLC0415 -- and starts nothing

    problems = problems_of(plan, all_facts(os.environ))
    if problems:
        raise HostError(*problems)
    return run(plan, os.environ)
