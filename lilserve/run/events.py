"""What supervision hears of and what it has done: sides, phases, events and actions, as data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Side(Enum):
    """One of the pair; the value is what a person calls it."""

    ENGINE = "the engine"
    CACHE = "LMCache"


class Phase(Enum):
    STARTING_CACHE = "starting-cache"
    STARTING_ENGINE = "starting-engine"
    SERVING = "serving"
    STOPPING_ENGINE = "stopping-engine"
    STOPPING_CACHE = "stopping-cache"
    SWEEPING = "sweeping"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Begin:
    """Preflight is over."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The leader of a side ended: `code` is its status, or minus a signal. Others of its group may live on."""

    side: Side
    code: int


@dataclass(frozen=True, slots=True)
class Gone:
    """Nothing is left of a side's process group; without a side, no descendant of ours is left at all."""

    side: Side | None


@dataclass(frozen=True, slots=True)
class Signalled:
    number: int


@dataclass(frozen=True, slots=True)
class Answered:
    side: Side


@dataclass(frozen=True, slots=True)
class Missed:
    side: Side
    why: str


@dataclass(frozen=True, slots=True)
class Wrong:
    """A side answered, and what it said rules it out."""

    side: Side
    why: str


@dataclass(frozen=True, slots=True)
class Tick:
    """The state's deadline has passed."""


Event = Begin | Ended | Gone | Signalled | Answered | Missed | Wrong | Tick


@dataclass(frozen=True, slots=True)
class Start:
    side: Side


@dataclass(frozen=True, slots=True)
class Send:
    """A signal for a side's process group; without a side, for every descendant."""

    side: Side | None
    number: int


@dataclass(frozen=True, slots=True)
class Pass:
    """A signal for the leader of a side alone."""

    side: Side
    number: int


@dataclass(frozen=True, slots=True)
class Probe:
    """Ask a side how it is, `after` seconds from now."""

    side: Side
    after: float


@dataclass(frozen=True, slots=True)
class Tell:
    text: str


Action = Start | Send | Pass | Probe | Tell
