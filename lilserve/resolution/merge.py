"""Layers in, weakest first; one value per leaf with its trail out. No assignment is lost on the way.

Scalars and lists replace, mappings merge leaf by leaf, a whole root replaces what stood under its name, `null` removes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lilserve.keypath import nest, related
from lilserve.layers.layer import EXPLICIT
from lilserve.origin import REMOVED, Written

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lilserve.keypath import Path
    from lilserve.layers.layer import Assignment

Trail = tuple[Written, ...]


@dataclass(slots=True, eq=False, repr=False)
class Merged:
    """The leaves of one name: the `live` ones in order of first appearance, and those that something `displaced`.

    The trail of a displaced leaf ends in what took it away. `owned` says that an explicit layer wrote the whole.
    """

    live: dict[Path, Trail] = field(default_factory=dict)
    displaced: dict[Path, Trail] = field(default_factory=dict)
    owned: bool = False

    @property
    def value(self) -> Any:
        """The value as a whole, or None when nothing is left of it."""
        return nest({path: trail[-1].value for path, trail in self.live.items()}) if self.live else None

    def explicit(self, path: Path = ()) -> bool:
        """Whether an explicit layer decided `path`: the leaf itself, one under it, one above it, or the whole."""
        return self.owned or any(
            trail[-1].rank >= EXPLICIT and related(at, path)
            for leaves in (self.live, self.displaced)
            for at, trail in leaves.items()
        )

    def put(self, path: Path, written: Written) -> None:
        """Write one leaf over whatever stands at, above or under it."""
        live = self.live
        gone: list[Path] = []
        if written.value is REMOVED or len(live) > 1 or path not in live:
            gone = [at for at in live if related(at, path) and (at != path or written.value is REMOVED)]
            for at in gone:
                self._displace(at, live.pop(at), written)
        if written.value is not REMOVED:
            live[path] = (*(live.get(path) or self.displaced.pop(path, ())), written)
        elif path not in gone:
            self._displace(path, (), written)

    def put_below(self, path: Path, written: Written) -> None:
        """Record a writing that an explicit one beats, without changing any value."""
        leaves = self.live if path in self.live else self.displaced
        trail = leaves.get(path, ())
        index = next((i for i, other in enumerate(trail) if other.rank >= EXPLICIT), len(trail))
        leaves[path] = (*trail[:index], written, *trail[index:])

    def replace(self, paths: set[Path], by: Written) -> None:
        """Make room for a whole root: leaves that it writes again keep their trail, the others are displaced."""
        for at in list(self.live):
            trail = self.live.pop(at)
            if at in paths:
                self.displaced[at] = trail
            else:
                self._displace(at, trail, by)
        self.owned = self.owned or by.rank >= EXPLICIT

    def _displace(self, at: Path, trail: Trail, by: Written) -> None:
        mark = Written(REMOVED, by.origin, by.at, by.rank, why=by.why)
        self.displaced[at] = (*self.displaced.get(at, ()), *trail, mark)


def merge(layers: Iterable[Iterable[Assignment]]) -> dict[str, Merged]:
    """One `Merged` per name that any layer wrote."""
    result: dict[str, Merged] = {}
    for layer in layers:
        wholes: dict[str, set[Path]] = {}
        for assignment in layer:
            if assignment.whole:
                wholes.setdefault(assignment.name, set()).add(assignment.path)
        for name, path, written, _ in layer:
            merged = result.get(name)
            if merged is None:
                merged = result[name] = Merged()
            if name in wholes:
                merged.replace(wholes.pop(name), written)
            merged.put(path, written)
    return result
