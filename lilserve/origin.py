"""Who wrote a value: a name and a place, small and frozen, carried on every leaf."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lilserve.errors import Problem


class Removed:
    """The value of a leaf that a document's `null` took away; `REMOVED` is the only one."""

    def __repr__(self) -> str:
        return "removed"


REMOVED = Removed()


class Written(NamedTuple):
    """One value of one leaf, as one layer wrote it; equality ignores the place and the reason.

    `rank` is the precedence of the layer `problem` what is wrong with a text that could not
    be read as the option's type: it counts only if the value wins. `inputs` are what a derivation read.
    """

    value: Any
    origin: str
    at: str | None = None
    rank: int = 0
    problem: Problem | None = None
    inputs: Mapping[str, Any] | None = None
    why: str | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Written) and self._said() == other._said()

    def __hash__(self) -> int:
        return hash((self.origin, self.rank))

    def _said(self) -> tuple[Any, ...]:
        return self.value, self.origin, self.rank, self.inputs
