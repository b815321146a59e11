"""A resolution in, the cache server beside the engine out: its argv in the document's order, its variables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lilserve.cache.model import Service
from lilserve.documents.model import SERVICE_FIGURES
from lilserve.errors import Problem
from lilserve.resolution.blocks import speaking
from lilserve.resolution.expressions import Unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lilserve.documents.model import Document
    from lilserve.keypath import Path
    from lilserve.resolution.resolve import Resolution
    from lilserve.resolution.scope import Scope

Row = tuple["Mapping[str, Any]", "Document", "Path"]


def cache_service(resolution: Resolution, command: Sequence[str]) -> Service | None:
    """The server of the settled cache mode, or None where it has none. Problems go to the resolution's scope."""
    document = resolution.settled.cache
    service = document.data.get("service") if document is not None else None
    if document is None or service is None:
        return None
    scope = resolution.scope
    own = service["arguments"]
    arguments = [*_rows(document, ("service", "arguments"), own), *_added(resolution, {row["flag"] for row in own})]
    argv = [
        token
        for flag, text in _filled(arguments, "flag", scope)
        for token in ((flag,) if text is None else (flag, text))
    ]
    variables = _rows(document, ("service", "environment"), service.get("environment") or ())
    environment = {name: text or "" for name, text in _filled(variables, "name", scope)}
    scope.use(*(service[name] for name in SERVICE_FIGURES if name in service))
    found = {
        name: scope.evaluate(service[name], document.at("service", name)) for name in SERVICE_FIGURES if name in service
    }
    known: dict[str, Any] = {
        name.replace("-", "_"): None if isinstance(value, Unknown) else value for name, value in found.items()
    }
    return Service((*command, *argv), environment, **known)


def _added(resolution: Resolution, owned: set[str]) -> Iterator[Row]:
    """The arguments that a contract with the cache mode adds; a flag of the cache mode itself is refused."""
    mode = resolution.settled.cache_mode
    for document in (resolution.chosen.common, *speaking(resolution.chosen.profile, "cache")):
        block = (document.data.get("cache") or {}).get(mode) or {}
        for row, where, keys in _rows(document, ("cache", mode, "arguments"), block.get("arguments") or ()):
            if row["flag"] in owned:
                what = f"{row['flag']} belongs to the cache mode {mode}, which alone decides when and how it is given"
                resolution.scope.problems.append(Problem(what, where.at(*keys, "flag"), code="owned-argument"))
            yield row, where, keys


def _rows(document: Document, keys: Path, rows: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    for index, row in enumerate(rows):
        yield row, document, (*keys, str(index))


def _filled(rows: Iterable[Row], key: str, scope: Scope) -> Iterator[tuple[str, str | None]]:
    """Name and text of each row whose condition holds; a written text stays as it was written."""
    for row, document, keys in rows:
        if "when" in row and scope.holds(row["when"], document.at(*keys, "when")) is not True:
            continue
        scope.use(row.get("when"))
        if "to" not in row:
            yield row[key], row.get("value")
            continue
        value = _value(row["to"], (*keys, "to"), document, scope)
        if not isinstance(value, Unknown) and value is not None:
            yield row[key], json.dumps(value, separators=(",", ":")) if isinstance(value, dict) else str(value)


def _value(to: Any, keys: Path, document: Document, scope: Scope) -> Any:
    """The value of an expression, or of each in a mapping; a field whose value is null or unknown is left out."""
    if not isinstance(to, dict):
        scope.use(to)
        return scope.evaluate(to, document.at(*keys)) if isinstance(to, str) else to
    found = {name: _value(inner, (*keys, name), document, scope) for name, inner in to.items()}
    return {name: value for name, value in found.items() if value is not None and not isinstance(value, Unknown)}
