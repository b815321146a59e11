"""The three controls that choose documents, settled over every layer before any document they choose is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lilserve.engine.controls import SELECTING
from lilserve.errors import Problem, unknown
from lilserve.layers.layer import Assignment, Rank
from lilserve.origin import Written
from lilserve.resolution.blocks import speaking
from lilserve.resolution.merge import merge

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lilserve.documents.library import Library
    from lilserve.documents.model import Document
    from lilserve.layers.layer import Layer
    from lilserve.resolution.selection import Chosen

NO_CACHE = "vram"


class Settled(NamedTuple):
    """The winning checkpoint, mode and cache mode, and the document of the cache mode."""

    checkpoint: str | None
    mode: str | None
    cache_mode: str
    cache: Document | None


def default_checkpoint(chosen: Chosen) -> tuple[Assignment, ...]:
    """The checkpoint that the profile marks as its default, as an assignment of the profile."""
    found: tuple[Assignment, ...] = ()
    for document in speaking(chosen.profile, "checkpoints"):
        for name, block in (document.data.get("checkpoints") or {}).items():
            if block.get("default"):
                at = document.at("checkpoints", name, "default")
                found = (
                    Assignment("checkpoint", (), Written(name, f"model:{chosen.profile[-1].id}", at, Rank.PROFILE)),
                )
    return found


def settle(layers: Sequence[Layer], chosen: Chosen, library: Library, problems: list[Problem]) -> Settled:
    """Who wins the three controls, with a problem for each value that names nothing or is refused by the profile."""
    merged = merge([assignment for assignment in layer.options if assignment.name in SELECTING] for layer in layers)
    known = {
        "checkpoint": _names(chosen, "checkpoints"),
        "mode": _names(chosen, "modes"),
        "cache-mode": {doc.data["cache-mode"]: doc for doc in library.all("overlay") if "cache-mode" in doc.data},
    }
    values: dict[str, str | None] = {}
    for name in SELECTING:
        values[name] = None
        if name not in merged or not merged[name].live:
            continue
        written = merged[name].live.get((), next(iter(merged[name].live.values())))[-1]
        if written.problem is not None:
            problems.append(written.problem)
        elif not isinstance(written.value, str) or written.value not in known[name]:
            problems.append(unknown(name, str(written.value), known[name], written.at or written.origin))
        else:
            values[name] = written.value
    cache_mode = values["cache-mode"] or NO_CACHE
    refused = _refusal(cache_mode, chosen)
    if refused is not None:
        problems.append(refused)
    # The rules of a refused cache mode have nothing to say: the profile promised them no figures.
    cache = known["cache-mode"].get(cache_mode) if refused is None else None
    return Settled(values["checkpoint"], values["mode"], cache_mode, cache)


def _names(chosen: Chosen, section: str) -> dict[str, Document]:
    return {
        name: document for document in speaking(chosen.profile, section) for name in document.data.get(section) or {}
    }


def _refusal(cache_mode: str, chosen: Chosen) -> Problem | None:
    """Why the profile does not take a cache mode, in its own words or for want of a contract; None when it does."""
    if cache_mode == NO_CACHE:
        return None
    profile = chosen.profile[-1]
    blocks = _names(chosen, "cache")
    document = blocks.get(cache_mode)
    hint = f"--cache-mode {NO_CACHE}"
    if document is None:
        what = (
            f"profile {profile.id!r} has no contract for the cache mode {cache_mode!r}: nobody has shown that it works"
        )
        return Problem(what, profile.at("cache"), ", ".join([NO_CACHE, *blocks]), hint, code="cache-mode-refused")
    reason = document.data["cache"][cache_mode].get("refused")
    if reason is None:
        return None
    what = f"profile {profile.id!r} refuses the cache mode {cache_mode!r}: {reason}"
    return Problem(what, document.at("cache", cache_mode, "refused"), hint=hint, code="cache-mode-refused")


def selecting_only(problems: list[Problem], assignments: Iterable[Assignment]) -> None:
    """Refuse a chosen sub-document that itself writes one of the three controls: it would choose itself."""
    problems.extend(
        Problem(
            f"{a.name} is settled before this block is read, so it cannot be written here",
            a.written.at,
            code="selecting",
        )
        for a in assignments
        if a.name in SELECTING
    )
