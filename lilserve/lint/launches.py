"""The library in, every launch it can make out: profile x hardware x cache mode x mode, resolved or refused."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from lilserve.errors import ConfigurationError
from lilserve.lint.rules import lint_order
from lilserve.plan.build import build_plan
from lilserve.resolution.resolve import resolve
from lilserve.resolution.selection import Selection, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lilserve.documents.library import Library
    from lilserve.errors import Problem
    from lilserve.plan.model import Plan


class Launch(NamedTuple):
    """One combination and what became of it: a plan, or the problems for which it is refused."""

    parts: tuple[str, ...]
    plan: Plan | None
    refused: tuple[Problem, ...]
    faults: tuple[Problem, ...]

    @property
    def name(self) -> str:
        """`profile.hardware.cache.mode` or `profile.preset.cache`, fit for a file name."""
        return ".".join(self.parts)


# A refusal of these kinds is meant: a document says so. Any other problem is a fault of the documents.
MEANT = ("requirement", "cache-mode-refused", "ceiling")


def launches(
    library: Library, facts: Mapping[str, Any], engine: str | None = None, profiles: Sequence[str] | None = None
) -> Iterator[Launch]:
    """Resolve every combination and every preset against `facts`; examples fill what has no default."""
    wanted = listed(library, "profile") if profiles is None else profiles
    caches = sorted(document.data["cache-mode"] for document in library.all("overlay") if "cache-mode" in document.data)
    for profile, hardware in product(wanted, listed(library, "hardware")):
        for cache, mode in product(caches, _modes(library, profile)):
            tokens = ("--cache-mode", cache, *(("--mode", mode) if mode else ()), *_examples(library, profile, cache))
            selection = Selection(profile, hardware, tokens=tokens, facts=facts, engine=engine)
            yield _launch(library, selection, (profile, hardware, cache, *((mode,) if mode else ())))
    for preset, cache in product(listed(library, "preset"), caches):
        profile = next(
            one.data["profile"] for one in reversed(library.chain("preset", preset)) if "profile" in one.data
        )
        if profile in wanted:
            tokens = ("--cache-mode", cache, *_examples(library, profile, cache))
            selection = Selection(preset=preset, tokens=tokens, facts=facts, engine=engine)
            yield _launch(library, selection, (profile, preset, cache))


def plain_launch(library: Library, facts: Mapping[str, Any], engine: str | None, profile: str) -> Launch:
    """The launch of a profile as it is, with its own checkpoint, mode and cache mode, on no particular machine."""
    selection = Selection(profile, tokens=tuple(_examples(library, profile, "")), facts=facts, engine=engine)
    return _launch(library, selection, (profile,))


def _modes(library: Library, profile: str) -> list[str | None]:
    modes = {mode for document in library.chain("profile", profile) for mode in document.data.get("modes") or ()}
    return [*sorted(modes)] or [None]


def _launch(library: Library, selection: Selection, parts: tuple[str, ...]) -> Launch:
    try:
        resolution = resolve(library, selection)
        return Launch(parts, build_plan(resolution, library), (), tuple(lint_order(resolution.blocks)))
    except ConfigurationError as error:
        meant = tuple(problem for problem in error.problems if problem.code in MEANT)
        return Launch(parts, None, meant, tuple(problem for problem in error.problems if problem.code not in MEANT))


def _examples(library: Library, profile: str, cache_mode: str) -> list[str]:
    overlays = (one for one in library.all("overlay") if one.data.get("cache-mode") == cache_mode)
    documents = [*library.chain("profile", profile), *overlays]
    pairs = {name: value for document in documents for name, value in (document.data.get("example") or {}).items()}
    return [token for name, value in pairs.items() for token in (f"--{name}", str(value))]
