"""Which overlays apply, in which order, and why; two that disagree about a leaf must say who goes after whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lilserve.errors import ConfigurationError, Problem
from lilserve.layers.layer import Assignment
from lilserve.notice import Notice
from lilserve.origin import Written
from lilserve.resolution.expressions import Unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
        condition = document.data.get("when")
        if condition is None or document.id in asked:
            continue
        at = document.at("when")
        outcome = scope.evaluate(condition, at)
        if outcome is True:
            found.append(Applying(document, scope.fill(document.data.get("because") or condition, at)))
        elif isinstance(outcome, Unknown) and outcome.fact:
            title = document.data.get("title", document.id)
            text = f"overlay {document.id} is not applied ({title}): {outcome.fact} of this host is not known"
            notices.append(Notice("unknown-fact", text, level="information"))
    for name in dict.fromkeys(asked):
        try:
            document = library.get("overlay", name)
        except ConfigurationError as error:
            scope.problems.extend(error.problems)
            continue
        if "cache-mode" in document.data:
            hint = f"--cache-mode {document.data['cache-mode']}"
            scope.problems.append(Problem(f"overlay {name!r} is a cache mode", None, hint=hint, code="overlay"))
        else:
            found.append(Applying(document, f"asked for by --overlay {name}"))
    return _ordered(found, scope)


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
    seen: dict[tuple[str, ...], tuple[Document, object, str | None]] = {}
    for document, layer in layers:
        files = (document.data.get("files") or {}).items()
        placed = (Assignment(path, (), Written(text, document.id, document.at("files", path))) for path, text in files)
        for assignment in (*layer.options, *layer.environment, *placed):
            key = (assignment.name, *assignment.path)
            value, at = assignment.written.value, assignment.written.at
            other = seen.get(key)
            if other is not None and other[1] != value and other[0].id not in (document.data.get("after") or ()):
                name = ".".join(key)
                rows = ((f"{other[0].id}/{name}", other[1], other[2] or ""), (f"{document.id}/{name}", value, at or ""))
                what = f"overlays {other[0].id} and {document.id} set {name} differently"
                problems.append(
                    Problem(what, at, "an order between them", f"after: [{other[0].id}]", rows, code="overlay-conflict")
                )
            seen[key] = (document, value, at)
    return problems
