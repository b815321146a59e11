"""The library in, every finding out: rules of documents, then the launches they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from lilserve.engine.catalog import Catalog, catalog_of
from lilserve.errors import ConfigurationError, Problem
from lilserve.lint.launches import Launch, launches
from lilserve.lint.rules import lint_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from lilserve.documents.library import Library


class Report(NamedTuple):
    """What a check found: distinct problems in the order of their places, and what became of every launch."""

    problems: list[Problem]
    resolved: int
    refused: list[Launch]


def check(
    library: Library,
    facts: Mapping[str, Any],
    *,
    engine: str | None = None,
    own: Sequence[str] = (),
    progress: Callable[[Launch], None] | None = None,
) -> Report:
    """Lint every document and resolve every launch. `own` are policy directories: then only their documents count.

    `engine` resolves all profiles against another build instead of their own.
    """
    documents = [document for document in library.documents.values() if not own or document.path.startswith(tuple(own))]
    catalogs = _catalogs(library, engine)
    problems = [problem for document in documents for problem in lint_rules(document, catalogs)]
    resolved, refused = 0, []
    for launch in launches(library, facts, engine, _concerned(library, documents) if own else None):
        problems += launch.faults
        resolved += launch.plan is not None
        if launch.plan is None:
            refused.append(launch)
        if progress is not None:
            progress(launch)
    distinct = {(problem.at, problem.what): problem for problem in problems}
    return Report(sorted(distinct.values(), key=lambda problem: _place(problem.at)), resolved, refused)


def _catalogs(library: Library, engine: str | None) -> list[Catalog]:
    if engine is not None:
        return [catalog_of(library.chain("engine", engine))]
    found = []
    for document in library.all("engine"):
        try:
            found.append(catalog_of(library.chain("engine", document.id)))
        except ConfigurationError:
            continue  # a class of engines without a catalog of its own
    return found


def _concerned(library: Library, documents: Sequence[Any]) -> list[str]:
    """The profiles whose launches the documents can change: their own, or all when one is not a profile."""
    if any(document.kind != "profile" for document in documents):
        return [document.id for document in library.all("profile") if not document.data.get("abstract")]
    return [document.id for document in documents if not document.data.get("abstract")]


def _place(at: str | None) -> tuple[str, int, int]:
    path, line, column = (*(at or "").rsplit(":", 2), "0", "0")[:3]
    return path, int(line) if line.isdigit() else 0, int(column) if column.isdigit() else 0
