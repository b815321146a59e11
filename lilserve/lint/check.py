"""The library in, every finding out: rules of documents, then the launches they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from lilserve.engine.catalog import catalog_of, catalogs_of
from lilserve.errors import Problem
from lilserve.lint.launches import Launch, launches, plain_launch
from lilserve.lint.names import lint_names
from lilserve.lint.rules import lint_rules
from lilserve.resolution.selection import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from lilserve.documents.library import Library


SHOWN = 3  # reasons that a person still reads


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
    documents = [document for document in library.documents.values() if within(document.path, own)]
    catalogs = catalogs_of(library) if engine is None else [catalog_of(library.chain("engine", engine))]
    problems = [one for document in documents for one in (*lint_rules(document, catalogs), *lint_names(document))]
    profiles = _concerned(library, documents) if own else listed(library, "profile")
    made: dict[str, list[Launch]] = {profile: [] for profile in profiles}
    for launch in launches(library, facts, engine, profiles):
        problems += launch.faults
        made[launch.parts[0]].append(launch)
        if progress is not None:
            progress(launch)
    problems += [problem for profile in made for problem in plain_launch(library, facts, engine, profile).faults]
    if engine is None:
        problems += [
            problem for name, some in made.items() if (problem := _unreachable(library, name, some)) is not None
        ]
    distinct = {(problem.at, problem.what): problem for problem in problems}
    every = [launch for some in made.values() for launch in some]
    refused = [launch for launch in every if launch.plan is None]
    ordered = sorted(distinct.values(), key=lambda problem: _place(problem.at))
    return Report(ordered, len(every) - len(refused), refused)


def within(path: str, folders: Sequence[str]) -> bool:
    """Whether a document is one of these files or lies in one of these folders; without any it counts."""
    return not folders or any((path + "/").startswith(folder.rstrip("/") + "/") for folder in folders)


def _unreachable(library: Library, name: str, made: Sequence[Launch]) -> Problem | None:
    """The problem of a profile of which no launch resolves, although no single one is a fault."""
    if any(launch.plan is not None or launch.faults for launch in made):
        return None
    reasons = dict.fromkeys(problem.what for launch in made for problem in launch.refused)
    what = f"no launch of profile {name!r} resolves: {'; '.join(list(reasons)[:SHOWN])}"
    return Problem(what, library.get("profile", name).at("id"), code="never-resolves")


def _concerned(library: Library, documents: Sequence[Any]) -> list[str]:
    """The profiles whose launches the documents can change: their own, or all when one is not a profile."""
    if any(document.kind != "profile" for document in documents):
        return listed(library, "profile")
    return [document.id for document in documents if not document.data.get("abstract")]


def _place(at: str | None) -> tuple[str, int, int]:
    path, line, column = (*(at or "").rsplit(":", 2), "0", "0")[:3]
    return path, int(line) if line.isdigit() else 0, int(column) if column.isdigit() else 0
