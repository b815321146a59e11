"""Which overlays apply, in which order, and why; two that disagree about a leaf must say who goes after whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lilserve.errors import Problem, unknown
from lilserve.keypath import related
from lilserve.layers.layer import Assignment
from lilserve.notice import Notice
from lilserve.origin import Written
from lilserve.resolution.expressions import Unknown
from lilserve.resolution.rules import Target

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lilserve.documents.library import Library
    from lilserve.documents.model import Document
    from lilserve.layers.layer import Layer
    from lilserve.resolution.scope import Scope


class Applying(NamedTuple):
    """An overlay that takes part and the sentence that says why."""

    document: Document
    because: str


def applying(library: Library, asked: Sequence[str], scope: Scope, notices: list[Notice]) -> list[Applying]:
    """Overlays whose condition holds, then those asked for. An unknown condition is a notice and does not apply."""
    found: list[Applying] = []
    for document in library.all("overlay"):
        if "when" not in document.data or document.id in asked:
            continue
        at = document.at("when")
        outcome = scope.holds(document.data["when"], at)
        if outcome is True:
            scope.use(document.data["when"])
            found.append(Applying(document, scope.fill(document.data.get("because") or document.data["when"], at)))
        elif isinstance(outcome, Unknown) and outcome.fact:
            title = document.data.get("title", document.id)
            text = f"overlay {document.id} is not applied ({title}): {outcome.fact} of this host is not known"
            notices.append(Notice("unknown-fact", text, level="information"))
    for name in dict.fromkeys(asked):
        named = library.documents.get(("overlay", name))
        if named is None:
            known = [one.id for one in library.all("overlay") if "cache-mode" not in one.data]
            scope.problems.append(unknown("overlay", name, known))
        elif (refused := _refused(named, scope)) is not None:
            scope.problems.append(refused)
        else:
            found.append(Applying(named, f"asked for by --overlay {name}"))
    return _ordered(found, scope)


def _refused(document: Document, scope: Scope) -> Problem | None:
    """Why an overlay cannot be asked for. Asking settles a condition that is unknown, never one that does not hold."""
    if "cache-mode" in document.data:
        hint = f"--cache-mode {document.data['cache-mode']}"
        return Problem(f"overlay {document.id!r} is a cache mode", None, hint=hint, code="overlay")
    if "when" in document.data and scope.holds(document.data["when"], document.at("when")) is False:
        what = f"overlay {document.id!r} applies by itself, when {document.data['when']}; that does not hold here"
        return Problem(
            " ".join(what.split()), document.at("when"), hint=f"leave out --overlay {document.id}", code="overlay"
        )
    return None


def _ordered(overlays: list[Applying], scope: Scope) -> list[Applying]:
    """The same with every overlay behind those it names in `after`; otherwise the order stays."""
    rest = list(overlays)
    result: list[Applying] = []
    while rest:
        waiting = {one.document.id for one in rest}
        ready = next((one for one in rest if not waiting.intersection(one.document.data.get("after") or ())), None)
        if ready is None:
            first = rest[0].document
            scope.problems.append(Problem(f"overlay {first.id!r} waits for itself", first.at("after"), code="cycle"))
            return result + rest
        rest.remove(ready)
        result.append(ready)
    return result


def conflicts(layers: Iterable[tuple[Document, Layer]]) -> list[Problem]:
    """A problem for each leaf that two overlays set differently without an order between them."""
    problems: list[Problem] = []
    seen: dict[str, list[tuple[Document, Assignment]]] = {}
    for document, layer in layers:
        for one in (*layer.options, *layer.environment, *_beside(document)):
            others = seen.setdefault(one.name, [])
            problems += [
                _conflict(before, other, document, one)
                for before, other in others
                if before is not document
                and before.id not in (document.data.get("after") or ())
                and related(other.path, one.path)
                and (other.path, other.written.value) != (one.path, one.written.value)
            ]
            others.append((document, one))
    return problems


def _beside(document: Document) -> Iterator[Assignment]:
    """What an overlay sets besides its options and environment: modules, and what its derivations fill."""
    for path, text in (document.data.get("files") or {}).items():
        yield Assignment(path, (), Written(text, document.id, document.at("files", path)))
    for index, row in enumerate(document.data.get("derive") or ()):
        target = Target.parse(row["set"])
        written = Written([row.get("when"), row["to"]], document.id, document.at("derive", str(index), "set"))
        yield Assignment(target.name, target.path, written)


def _conflict(before: Document, other: Assignment, document: Document, one: Assignment) -> Problem:
    names = [".".join((assignment.name, *assignment.path)) for assignment in (other, one)]
    rows = tuple(
        (f"{where.id}/{name}", assignment.written.value, assignment.written.at or "")
        for where, name, assignment in zip((before, document), names, (other, one), strict=True)
    )
    what = f"overlays {before.id} and {document.id} set {min(names, key=len)} differently"
    hint = f"after: [{before.id}]"
    return Problem(what, one.written.at, "an order between them", hint, rows, code="overlay-conflict")
