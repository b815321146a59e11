"""All that supervision remembers, and the shape of a decision."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from lilserve.run.events import Action, Phase

if TYPE_CHECKING:
    from lilserve.run.events import Side
    from lilserve.run.limits import Limits


class Pressed(IntEnum):
    """How hard: the leader was asked, its whole group was, or it was killed."""

    ASKED = 0
    ALL_ASKED = 1
    KILLED = 2


@dataclass(frozen=True, slots=True)
class State:
    """All that supervision remembers. `deadline` is when it wants a Tick; `status` is what the run will return.

    `running` are the sides with anything alive, `headless` those of them whose leader has ended; `pressed` is how
    hard the present step of a stop has been pressed.
    """

    limits: Limits
    phase: Phase = Phase.STARTING_CACHE
    running: frozenset[Side] = frozenset()
    headless: frozenset[Side] = frozenset()
    observed: bool = True
    since: float = 0.0
    deadline: float | None = None
    misses: int = 0
    why: str = ""
    interrupts: int = 0
    pressed: Pressed = Pressed.ASKED
    cause: str = ""
    status: int | None = None


Decision = tuple[State, tuple[Action, ...]]
