"""What no document says: process environment, settings, `--env` and command line, as layers 7 to 10."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from lilserve.layers.documents import Block, block_layer
from lilserve.layers.environment import Variables, read_variables
from lilserve.layers.flags import read_flags
from lilserve.layers.layer import Layer, Rank
from lilserve.notice import Notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lilserve.documents.model import Document
    from lilserve.errors import Problem
    from lilserve.resolution.selection import Chosen, Selection


@dataclass(slots=True, eq=False, repr=False)
class Outside:
    """The layers, weakest first, and what reading them found."""

    layers: list[Layer] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    unknown: list[tuple[str, ...]] = field(default_factory=list)

    def take(self, read: Variables) -> None:
        self.layers.append(read.layer)
        self.problems += read.problems
        self.notices += [Notice(code, text, about) for code, text, about in read.notices]
        self.dropped += read.dropped


def outside(chosen: Chosen, selection: Selection) -> Outside:
    """Read layers 7 to 10; every problem is collected, none raised."""
    result = Outside()
    names, catalog = chosen.names, chosen.catalog
    documents = (*chosen.profiles, *chosen.hardware, *chosen.preset)
    result.take(
        read_variables(selection.environ, names, catalog, Rank.ENVIRONMENT, None, listed=written_variables(documents))
    )
    if selection.settings is not None:
        document = selection.settings
        variables = document.data.get("environment") or {}
        places = {name: document.at("environment", name) for name in variables}
        result.take(read_variables(variables, names, catalog, Rank.SETTINGS, "settings:environment", places=places))
        layer, problems = block_layer(Block(document, (), "settings:options", Rank.SETTINGS), catalog)
        result.layers.append(Layer(layer.options))
        result.problems += problems
    result.take(read_variables(dict(selection.assigned), names, catalog, Rank.CLI_ENVIRONMENT, "cli:environment"))
    line = read_flags(selection.tokens, catalog, allow_unknown=selection.allow_unknown)
    result.layers.append(line.layer)
    result.problems += line.problems
    result.unknown = line.unknown
    return result


@lru_cache(maxsize=256)
def written_variables(documents: tuple[Document, ...]) -> frozenset[str]:
    """Every variable that some block of these documents may write."""
    return frozenset(name for document in documents for name in _variables(document.data))


def _variables(data: Any) -> Iterator[str]:
    if isinstance(data, dict):
        for key, value in data.items():
            if key == "environment" and isinstance(value, dict):
                yield from value
            elif key != "options":
                yield from _variables(value)
