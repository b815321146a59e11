"""`render`: the same plan for another home, as text."""

from __future__ import annotations

import os

import click

from lilserve.cli.housing import containers, housing
from lilserve.cli.selecting import SelectingCommand, selecting

# The names of lilserve.render.targets.TARGETS, here so that help and completion load no renderer; a test compares.
TARGETS = ("docker", "compose", "quadlet", "kubernetes", "leaderworkerset", "ranks")


@click.command(cls=SelectingCommand)
@click.argument("target", type=click.Choice(TARGETS))
@selecting
@housing
@click.pass_context
def command(ctx: click.Context, /, target: str, **_: object) -> None:
    r"""Print a launch for a container, a cluster or two boards by hand. Nothing is started.

    \b
    lil-serve render compose --profile X --hardware Y --image IMAGE -- --cache-mode lmcache
    lil-serve render leaderworkerset --profile X --hardware Y --image IMAGE -- --nnodes 2

    Secrets appear by name alone. The container refuses to run anything but what was rendered.
    """
    from lilserve.render.container import tell  # noqa: PLC0415 -- help needs no renderer
    from lilserve.render.targets import TARGETS as RENDERERS  # noqa: PLC0415 -- as above

    chosen = RENDERERS[target]
    made = containers(ctx, os.environ, chosen)
    text = chosen.text(made)
    for line in tell(dict.fromkeys(notice for one in made for notice in one.notices)):
        click.echo(line, err=True)
    click.echo(text, nl=False)
