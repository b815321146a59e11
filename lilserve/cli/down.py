"""`down`: containers of ours stopped within their grace and removed."""

from __future__ import annotations

import os

import click


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "every", is_flag=True, help="All of ours.")
def command(names: tuple[str, ...], *, every: bool) -> None:
    """Stop and remove containers that `up` made. What is not there is no error; what is not ours is never touched."""
    from lilserve.container.choosing import named, the_only  # noqa: PLC0415 -- loads the SDK
    from lilserve.container.daemon import Daemon  # noqa: PLC0415 -- as above
    from lilserve.container.raising import take_down  # noqa: PLC0415 -- as above

    daemon = Daemon(os.environ)
    if names:
        chosen = named(daemon, names)
    elif every:
        chosen = daemon.ours()
    else:
        only = the_only(daemon)
        chosen = [only] if only else []
    for state in chosen:
        take_down(daemon, state, lambda text: click.echo(text, err=True))
    for name in names:
        if name not in {state.name for state in chosen}:
            click.echo(f"{name} is not up", err=True)
    if not names and not chosen:
        click.echo("nothing is up", err=True)
