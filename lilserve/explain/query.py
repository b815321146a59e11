"""A plan and a name in, what the resolver recorded of it out: trail, inputs, why and evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lilserve.engine.canonical import option_name
from lilserve.engine.controls import CONTROLS
from lilserve.errors import ConfigurationError, Problem, nearest
from lilserve.explain.data import name_of, written_data
from lilserve.keypath import pointer

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from lilserve.documents.model import Document
    from lilserve.engine.catalog import Catalog
    from lilserve.origin import Written
    from lilserve.plan.model import Leaf, Plan
    from lilserve.resolution.selection import Chosen


def explain(
    plan: Plan, name: str, chosen: Chosen, documents: Sequence[Document], inherited: Container[str] = ()
) -> list[dict[str, Any]]:
    """One record per leaf that `name` means: a variable, an option in any spelling or by its variable, a dotted leaf.

    Each has `name`, `trail` (weakest first, the last one won) and `evidence`. `inherited` are the names of the process
    environment. Raises ConfigurationError where the plan has nothing of that name, with what becomes of it.
    """
    option = chosen.names.option_of.get(name, name)
    found = [*_variable(plan, name), *_option(plan, option, chosen.catalog)]
    if not found:
        raise ConfigurationError(_nothing(plan, name, chosen, inherited))
    return [
        {
            "name": shown,
            "trail": [written_data(one, judged) for one in trail],
            "evidence": _evidence(trail, top, documents),
        }
        for shown, judged, top, trail in found
    ]


def _variable(plan: Plan, name: str) -> Iterator[tuple[str, str, str, tuple[Written, ...]]]:
    for leaves in (plan.environment, plan.removed):
        if name in leaves:
            yield name, name, name, leaves[name].trail


def _option(plan: Plan, name: str, catalog: Catalog) -> Iterator[tuple[str, str, str, tuple[Written, ...]]]:
    spelled, *fields = (name.partition("/")[0], *name.split("/")[1:]) if "/" in name else name.lstrip("-").split(".")
    canonical = option_name(spelled.lstrip("-"), catalog)
    option = plan.options.get(canonical) if canonical else None
    if option is None:
        return
    wanted = pointer(fields)
    leaves: list[tuple[str, Leaf]] = [*option.leaves.items(), *option.displaced.items()]
    for at, leaf in leaves:
        if not wanted or at == wanted or at.startswith(wanted + "/"):
            yield option.name + at, name_of(option.name, at), option.name, leaf.trail


def _nothing(plan: Plan, name: str, chosen: Chosen, inherited: Container[str]) -> Problem:
    """Why the plan has no value of that name. What a variable holds is never said: it may be a secret."""
    option, *fields = chosen.names.option_of.get(name, name.lstrip("-")).split(".")
    canonical = option_name(option, chosen.catalog)
    if canonical in CONTROLS:
        return Problem(f"nothing sets the control {canonical} in this launch, which does not use it", code="not-set")
    if canonical is not None:
        shown = ".".join((canonical, *fields))
        return Problem(f"nothing sets {shown} in this launch: the engine's own default holds", code="not-set")
    if name in plan.dropped:
        return Problem(f"{name} is in the environment and does not reach the engine", code="dropped")
    if name in inherited:
        return Problem(f"{name} is in the environment and passes through, unlisted", code="unlisted")
    near = nearest(name, [*plan.options, *plan.environment])
    return Problem(
        f"this launch has no option or variable {name!r}",
        hint=f"did you mean {near}?" if near else None,
        code="unknown-name",
    )


def _evidence(trail: tuple[Written, ...], name: str, documents: Sequence[Document]) -> list[dict[str, Any]]:
    """What the document that won says of where the figure comes from."""
    at = trail[-1].at or ""
    for document in documents:
        if at.startswith(document.path + ":"):
            rows = document.data.get("evidence") or ()
            return [
                {"source": row["source"], "state": row["state"]} for row in rows if name in row.get("covers", (name,))
            ]
    return []
