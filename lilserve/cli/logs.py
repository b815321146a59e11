"""`logs`: what a container of ours has printed."""

from __future__ import annotations

import os

import click

from lilserve.errors import ConfigurationError, Problem


@click.command()
@click.argument("name", required=False)
@click.option("--follow", "-f", is_flag=True, help="Go on until it ends.")
@click.option("--tail", metavar="LINES", type=click.IntRange(min=0), help="The last lines alone.")
def command(name: str | None, tail: int | None, *, follow: bool) -> None:
    """Print the output of a container that `up` made; without a NAME, of the only one."""
    from lilserve.container.choosing import named, the_only  # noqa: PLC0415 -- loads the SDK
    from lilserve.container.daemon import Daemon  # noqa: PLC0415 -- as above

    daemon = Daemon(os.environ)
    state = next(iter(named(daemon, [name])), None) if name else the_only(daemon)
    if state is None:
        raise ConfigurationError(
            Problem(f"{name or 'nothing'} is {'not ' if name else ''}up", hint="lil-serve status", code="name")
        )
    for chunk in daemon.logs(state.id, follow=follow, tail="all" if tail is None else tail):
        click.echo(chunk, nl=False)
