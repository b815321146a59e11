"""A started container in; a line a phase out, until it serves, ends or takes too long."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lilserve.container.phases import new_phases
from lilserve.errors import NotReadyError, Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from lilserve.container.daemon import Daemon
    from lilserve.container.state import State

PAUSE = 1.0  # seconds between two looks
LINES = 400  # of log at each look
LAST = 20  # lines that are shown of one that ended


class Clock(NamedTuple):
    """Time as a parameter: now in seconds, and waiting."""

    now: Callable[[], float]
    wait: Callable[[float], None]


def await_ready(daemon: Daemon, state: State, budget: float, clock: Clock, say: Callable[[str], None]) -> int:
    """0 once it serves, or its own status when it ended first. Raises NotReadyError when the budget is over.

    A container that is not ready in time is left running: it may still be loading, and its log says where it is.
    """
    begun, told = clock.now(), set[str]()
    while True:
        since = clock.now() - begun
        for phase in new_phases(daemon.recent(state.id, LINES), told):
            say(f"{since:5.0f} s  {phase}")
        current = daemon.find(state.id)
        if current is None:
            raise NotReadyError(Problem(f"{state.name} was removed while it started", code="gone"))
        if current.ready:
            say(f"{since:5.0f} s  ready: {state.name}")
            return 0
        if not current.running and current.status != "created":
            for line in daemon.recent(state.id, LAST):
                say(f"  {line}")
            say(f"{state.name} ended with status {current.exit}")
            return current.exit or 1
        if since > budget:
            raise NotReadyError(
                Problem(
                    f"{state.name} is not ready after {since:.0f} s; it is left running",
                    hint=f"lil-serve logs --follow {state.name}; --load-budget waits longer",
                    code="not-ready",
                )
            )
        clock.wait(PAUSE)
