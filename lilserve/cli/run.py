"""`run`: inside a container, become the plan that was rendered into it."""

from __future__ import annotations

import os

import click

from lilserve.cli.selecting import SelectingCommand
from lilserve.errors import ConfigurationError, HostError, Problem
from lilserve.receipt.seal import arena_of, unseal


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
    arena = arena_of(sealed)
    if arena is not None:
        _claim(arena)
    return run(plan, os.environ)


def _claim(name: str) -> None:
    """Lock the shared memory that a cache server will make, and clear what its predecessor left.

    The lock's descriptor goes on to the server, so the kernel frees it when the server ends. Raises HostError while
    somebody uses the memory: an engine that outlived its cache server, until its own probe has ended it.
    """
    from lilserve.run.arena import claim  # noqa: PLC0415 -- only a cache server on its own makes an arena

    held = claim(name)
    if isinstance(held, Problem):
        raise HostError(held)
    if held.stale:
        held.clear()
        click.echo(f"lil-serve: removed {held.path}, which an earlier run left behind", err=True)
    os.set_inheritable(held.descriptor, True)
