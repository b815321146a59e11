"""Who wrote a value: a name and a place, small and frozen, carried on every leaf."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lilserve.errors import Problem


class Removed:
    """The value of a leaf that a document's `null` took away; `REMOVED` is the only one."""

    def __repr__(self) -> str:
        return "removed"


REMOVED = Removed()


@dataclass(frozen=True, slots=True)
class Written:
    """One value of one leaf, as one layer wrote it; equality ignores the place.

    `rank` is the precedence of the layer (DESIGN.md section 4), `problem` what is wrong with a text that could not
    be read as the option's type: it counts only if the value wins. `inputs` are what a derivation read.
    """

    value: Any
    origin: str
    at: str | None = field(default=None, compare=False)
    rank: int = 0
    problem: Problem | None = field(default=None, compare=False)
    inputs: Mapping[str, Any] | None = None
    why: str | None = field(default=None, compare=False)
