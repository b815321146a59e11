"""One source of assignments with its rank; the order of ranks is the precedence (DESIGN.md section 4)."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lilserve.keypath import Path
    from lilserve.origin import Written


class Rank(IntEnum):
    """Precedence, weakest first. From PRESET on a value is explicit: no derivation replaces it."""

    COMMON = 1
    PROFILE = 2
    CACHE = 3
    HARDWARE = 4
    OVERLAY = 5
    PRESET = 6
    ENVIRONMENT = 7
    SETTINGS = 8
    CLI_ENVIRONMENT = 9
    CLI = 10


EXPLICIT = int(Rank.PRESET)


class Assignment(NamedTuple):
    """One leaf that one layer writes; `whole` marks a root that replaces everything weaker under its name."""

    name: str
    path: Path
    written: Written
    whole: bool = False


class Layer(NamedTuple):
    """The assignments of one source, in the order they were written."""

    options: tuple[Assignment, ...] = ()
    environment: tuple[Assignment, ...] = ()
