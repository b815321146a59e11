"""A document in, every expression in it out, with the path of its place: what linters check and builds compile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from lilserve.documents.model import SERVICE_FIGURES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lilserve.keypath import Path


class RuleText(NamedTuple):
    """One expression; a template's figures are expressions of the same place."""

    text: str
    keys: Path
    condition: bool


CONDITIONS = ("when", "that", "detect")
TEMPLATES = ("else", "hint", "text", "because", "why")
VALUES = ("to", *SERVICE_FIGURES)
DATA = ("options", "environment", "facts", "config", "evidence", "files", "aliases")


def rule_texts(data: Mapping[str, Any], keys: Path = ()) -> Iterator[RuleText]:
    """Every expression under `data`, in the order it is written."""
    for key, value in data.items():
        here = (*keys, key)
        if key in CONDITIONS and isinstance(value, str):
            yield RuleText(value, here, condition=True)
        elif key in TEMPLATES and isinstance(value, str):
            yield from (
                RuleText(part, here, condition=False)
                for part in value.split("${")[1:]
                for part in [part.partition("}")[0]]
            )
        elif key in VALUES:
            yield from _tree(value, here)
        elif key not in DATA or _rows_of_variables(value):
            yield from _inside(value, here)


def _inside(value: Any, here: Path) -> Iterator[RuleText]:
    if isinstance(value, dict):
        yield from rule_texts(value, here)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _inside(item, (*here, str(index)))


def _tree(value: Any, here: Path) -> Iterator[RuleText]:
    """The leaves of a computed value: every text is an expression."""
    if isinstance(value, str):
        yield RuleText(value, here, condition=False)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _tree(inner, (*here, key))


def _rows_of_variables(value: Any) -> bool:
    """Whether this is the cache server's `environment`: its rows have expressions, elsewhere it maps names to texts."""
    return isinstance(value, list)
