"""All that supervision remembers, and the shape of a decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lilserve.run.events import Action, Phase

if TYPE_CHECKING:
    from lilserve.run.events import Side
    from lilserve.run.limits import Limits


@dataclass(frozen=True, slots=True)
class State:
    """All that supervision remembers. `deadline` is when it wants a Tick; `status` is what the run will return."""

    limits: Limits
    phase: Phase = Phase.STARTING_CACHE
    running: frozenset[Side] = frozenset()
    observed: bool = True
    since: float = 0.0
    deadline: float | None = None
    misses: int = 0
    why: str = ""
    interrupts: int = 0
    killed: bool = False
    cause: str = ""
    status: int | None = None


Decision = tuple[State, tuple[Action, ...]]
