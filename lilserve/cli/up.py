"""`up`: a launch in a container on this host, created, started and awaited."""

from __future__ import annotations

import os
import time

import click

from lilserve.cli.housing import containers, housing
from lilserve.cli.selecting import SelectingCommand, selecting
from lilserve.errors import ConfigurationError, Problem


@click.command(cls=SelectingCommand)
@selecting
@housing
@click.option("--dry-run", is_flag=True, help="Print the equivalent `docker run` and start nothing.")
@click.option("--replace", is_flag=True, help="Stop what runs under this name and is something else.")
@click.option("--no-wait", is_flag=True, help="Return once it is started.")
@click.pass_context
def command(ctx: click.Context, /, *, dry_run: bool, replace: bool, no_wait: bool, **_: object) -> int:
    r"""Start a launch in a container and wait until it serves. Twice is the same as once.

    \b
    lil-serve up --profile X --hardware Y --image IMAGE --gpus 0,1 -- --cache-mode lmcache
    """
    from lilserve.render.container import tell  # noqa: PLC0415 -- help needs no renderer
    from lilserve.render.targets import TARGETS  # noqa: PLC0415 -- as above

    target = TARGETS["docker"]
    (one,) = containers(ctx, os.environ, target, here=True)
    for line in tell(one.notices):
        _say(line)
    if dry_run:
        click.echo(target.text([one]), nl=False)
        return 0
    from lilserve.container.awaiting import Clock, await_ready  # noqa: PLC0415 -- a dry run asks no daemon
    from lilserve.container.daemon import Daemon  # noqa: PLC0415 -- loads the SDK, a third of a second
    from lilserve.container.raising import bring_up  # noqa: PLC0415 -- as above

    daemon = Daemon(os.environ)
    state = bring_up(daemon, one, os.environ, _profile(one.seccomp), replace=replace, say=_say)
    if no_wait:
        return 0
    try:
        return await_ready(daemon, state, one.load_budget, Clock(time.monotonic, time.sleep), _say)
    except KeyboardInterrupt:
        _say(f"{one.name} is left running: lil-serve logs --follow {one.name}, lil-serve down {one.name}")
        raise


def _say(text: str) -> None:
    click.echo(text, err=True)


def _profile(seccomp: str | None) -> str | None:
    """The text of a seccomp profile: the daemon takes no path."""
    if seccomp in (None, "unconfined"):
        return seccomp
    try:
        with open(str(seccomp), encoding="utf-8") as file:
            return file.read()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigurationError(
            Problem(f"cannot read the seccomp profile {seccomp!r}: {reason.lower()}", code="file")
        ) from error
