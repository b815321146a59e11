"""A block of a document in, the layer it writes out."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from lilserve.engine.canonical import option_name, unknown_flag
from lilserve.errors import Problem
from lilserve.keypath import flatten
from lilserve.layers.layer import Assignment, Layer
from lilserve.origin import REMOVED, Written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lilserve.documents.model import Document
    from lilserve.engine.catalog import Catalog
    from lilserve.keypath import Path

Reading = tuple[Layer, tuple[Problem, ...]]


@lru_cache(maxsize=4096)
def block_layer(document: Document, keys: Path, origin: str, rank: int, catalog: Catalog) -> Reading:
    """What the block at `keys` assigns, and the problems of its option names. Cached: documents do not change."""
    block: Any = document.data
    for key in keys:
        block = block.get(key) or {}
    problems: list[Problem] = []
    options = list(_options(document, keys, block, catalog, problems, origin, rank))
    reasons = block.get("why") or {}
    environment = tuple(
        Assignment(name, (), _written(text, origin, document.at(*keys, "environment", name), rank, reasons.get(name)))
        for name, text in (block.get("environment") or {}).items()
    )
    return Layer(tuple(options), environment), tuple(problems)


def _options(document: Document, keys: Path, block: Any, catalog: Catalog, problems: list[Problem], origin: str, rank: int) -> Iterator[Assignment]:
    reasons = block.get("why") or {}
    first: dict[str, tuple[str, Any]] = {}
    for spelled, value, place in _rows(keys, block):
        at = document.at(*place)
        name = option_name(spelled, catalog)
        if name is None:
            problems.append(unknown_flag(spelled, catalog, at))
            continue
        if first.setdefault(name, (spelled, value))[1] != value:
            problems.append(two_spellings(name, (first[name][0], spelled), at))
        for path, leaf in flatten(value):
            yield Assignment(name, path, _written(leaf, origin, document.at(*place, *path), rank, reasons.get(spelled)))


def _rows(keys: Path, block: Any) -> Iterable[tuple[str, Any, Path]]:
    """Option, value and where it stands: a mode's `config` is the speculative config, its draft tokens a control."""
    if "draft-tokens" in block:
        yield "draft-tokens", block["draft-tokens"], (*keys, "draft-tokens")
    if block.get("config"):
        yield "speculative-config", block["config"], (*keys, "config")
    if "checkpoint" in block:
        yield "checkpoint", block["checkpoint"], (*keys, "checkpoint")
    for name, value in (block.get("options") or {}).items():
        yield name, value, (*keys, "options", name)


def _written(value: Any, origin: str, at: str | None, rank: int, why: str | None) -> Written:
    return Written(REMOVED if value is None else value, origin, at, rank, why=why)


def two_spellings(name: str, spellings: Iterable[str], at: str | None = None) -> Problem:
    """The problem of one option written twice at one level with different values."""
    return Problem(f"{name} is written twice with different values, as {' and '.join(spellings)}", at,
                   "one spelling", "keep one of them", code="two-spellings")
