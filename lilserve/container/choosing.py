"""Names that a person gave in, the containers of ours that are meant out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lilserve.errors import ConfigurationError, Problem, refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lilserve.container.daemon import Daemon
    from lilserve.container.state import State


def named(daemon: Daemon, names: Sequence[str]) -> list[State]:
    """Those of the names that are there. Raises ConfigurationError for one that is not ours."""
    found = [state for name in names if (state := daemon.find(name)) is not None]
    refuse(
        Problem(
            f"the container {state.name} is not ours, so it is left alone",
            hint=f"docker stop {state.name}",
            code="name",
        )
        for state in found
        if not state.ours
    )
    return found


def the_only(daemon: Daemon) -> State | None:
    """The only container of ours, or None. Raises ConfigurationError when a name would have to be guessed."""
    ours = daemon.ours()
    if len(ours) > 1:
        names = ", ".join(state.name for state in ours)
        raise ConfigurationError(
            Problem(f"{len(ours)} containers are ours", None, names, f"name one: {ours[0].name}", code="name")
        )
    return ours[0] if ours else None
