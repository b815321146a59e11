"""A block of a document in, the layer it writes out."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from lilserve.engine.canonical import option_name, unknown_flag
from lilserve.errors import Problem
from lilserve.keypath import flatten
from lilserve.layers.layer import Assignment, Layer
from lilserve.origin import REMOVED, Written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lilserve.documents.model import Document
    from lilserve.engine.catalog import Catalog
    from lilserve.keypath import Path
    from lilserve.layers.layer import Rank


class Block(NamedTuple):
    """A part of a document that writes at one rank under one origin."""

    document: Document
    keys: Path
    origin: str
    rank: Rank

    @property
    def data(self) -> Mapping[str, Any]:
        """What the block says; empty where the document has none."""
        data: Any = self.document.data
        for key in self.keys:
            data = data.get(key) or {}
        found: Mapping[str, Any] = data
        return found


@lru_cache(maxsize=4096)
def block_layer(block: Block, catalog: Catalog) -> tuple[Layer, tuple[Problem, ...]]:
    """What a block assigns, and the problems of its option names. Cached: documents do not change."""
    problems: list[Problem] = []
    options = tuple(_options(block, catalog, problems))
    environment = tuple(
        Assignment(name, (), _written(block, text, ("environment", name), name))
        for name, text in (block.data.get("environment") or {}).items()
    )
    return Layer(options, environment), tuple(problems)


def _options(block: Block, catalog: Catalog, problems: list[Problem]) -> Iterator[Assignment]:
    first: dict[str, tuple[str, Any]] = {}
    for spelled, value, place in _rows(block.data):
        at = block.document.at(*block.keys, *place)
        name = option_name(spelled, catalog)
        if name is None:
            problems.append(unknown_flag(spelled, catalog, at))
            continue
        if first.setdefault(name, (spelled, value))[1] != value:
            problems.append(two_spellings(name, (first[name][0], spelled), at))
        for path, leaf in flatten(value):
            yield Assignment(name, path, _written(block, leaf, (*place, *path), spelled))


def _rows(data: Mapping[str, Any]) -> Iterable[tuple[str, Any, Path]]:
    """Option, value and where it stands: a mode's `config` is the speculative config, its draft tokens a control."""
    for key, name in (("draft-tokens", "draft-tokens"), ("config", "speculative-config"), ("checkpoint", "checkpoint")):
        if data.get(key):
            yield name, data[key], (key,)
    for name, value in (data.get("options") or {}).items():
        yield name, value, ("options", name)


def _written(block: Block, value: Any, place: Path, spelled: str) -> Written:
    why = (block.data.get("why") or {}).get(spelled)
    at = block.document.at(*block.keys, *place)
    return Written(REMOVED if value is None else value, block.origin, at, block.rank, why=why)


def two_spellings(name: str, spellings: Iterable[str], at: str | None = None) -> Problem:
    """The problem of one option written twice at one level with different values."""
    what = f"{name} is written twice with different values, as {' and '.join(spellings)}"
    return Problem(what, at, "one spelling", "keep one of them", code="two-spellings")
