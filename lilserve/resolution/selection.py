"""What a person selects, and the documents that this chooses."""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from lilserve.engine.catalog import Catalog, catalog_of
from lilserve.errors import ConfigurationError, Problem
from lilserve.layers.environment import Names
from lilserve.resolution.detect import detect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lilserve.documents.library import Library
    from lilserve.documents.model import Document

COMMON = "common"
NO_MACHINE = "native"
DETECT = "auto"


class Selection(NamedTuple):
    """Everything that decides a launch besides the library. The world is in here: nothing else is looked at.

    `environ` is the process environment, `assigned` the `--env` pairs, `tokens` what stands after `--` with the
    controls that stood before it, `facts` what is known of the host.
    """

    profile: str | None = None
    hardware: str | None = None
    preset: str | None = None
    overlays: tuple[str, ...] = ()
    settings: Document | None = None
    assigned: tuple[tuple[str, str], ...] = ()
    tokens: tuple[str, ...] = ()
    environ: Mapping[str, str] = MappingProxyType({})
    facts: Mapping[str, Any] = MappingProxyType({})
    engine: str | None = None
    allow_unknown: bool = False


class Chosen(NamedTuple):
    """The documents of one launch, each chain with its most general document first."""

    common: Document
    profile: tuple[Document, ...]
    hardware: tuple[Document, ...]
    preset: tuple[Document, ...]
    engine: tuple[Document, ...]
    catalog: Catalog
    names: Names

    @property
    def profiles(self) -> tuple[Document, ...]:
        """The common document and the profile chain: what a block is looked up in."""
        return (self.common, *self.profile)


def choose(library: Library, selection: Selection) -> Chosen:
    """The documents that a selection names, directly or through its preset. Raises ConfigurationError."""
    preset = tuple(library.chain("preset", selection.preset)) if selection.preset else ()
    profile_name, profile_at = _named("profile", selection.profile, preset)
    hardware_name, hardware_at = _named("hardware", selection.hardware, preset)
    if hardware_name == DETECT:
        hardware_name = detect(library, selection.facts)
    problems: list[Problem] = []
    if profile_name is None:
        problems.append(
            Problem(
                "no profile is selected",
                None,
                ", ".join(listed(library, "profile")),
                "--profile NAME",
                code="no-profile",
            )
        )
    chains = {}
    for kind, name, at in (
        ("profile", profile_name, profile_at),
        ("hardware", hardware_name or NO_MACHINE, hardware_at),
    ):
        try:
            chains[kind] = tuple(library.chain(kind, name, at)) if name is not None else ()
            if chains[kind] and chains[kind][-1].data.get("abstract"):
                problems.append(
                    Problem(
                        f"{kind} {name!r} is a class of others", at, ", ".join(listed(library, kind)), code="abstract"
                    )
                )
        except ConfigurationError as error:
            problems.extend(error.problems)
    if problems:
        raise ConfigurationError(*problems)
    common = library.get("profile", COMMON)
    engine_name, engine_at = selection.engine, None
    for document in (common, *chains["profile"]):
        if selection.engine is None and "engine" in document.data:
            engine_name, engine_at = document.data["engine"], document.at("engine")
    if engine_name is None:
        raise ConfigurationError(
            Problem(f"profile {profile_name!r} names no engine", chains["profile"][-1].at("id"), hint="engine: vllm")
        )
    engine = tuple(library.chain("engine", engine_name, engine_at))
    catalog = _catalog(engine)
    return Chosen(
        common,
        chains["profile"],
        chains["hardware"],
        preset,
        engine,
        catalog,
        _names(common, chains["profile"], catalog),
    )


def listed(library: Library, kind: str) -> list[str]:
    """The ids of a kind that a person may select."""
    return [document.id for document in library.all(kind) if not document.data.get("abstract")]


@lru_cache(maxsize=64)
def _catalog(chain: tuple[Document, ...]) -> Catalog:
    return catalog_of(chain)


@lru_cache(maxsize=256)
def _names(common: Document, profile: tuple[Document, ...], catalog: Catalog) -> Names:
    return Names.of((common, *profile), catalog)


def _named(kind: str, selected: str | None, preset: Sequence[Document]) -> tuple[str | None, str | None]:
    """The id of a kind and where it was said; what a person selects beside a preset must not contradict it."""
    for document in reversed(preset):
        named = document.data.get(kind)
        if named is None:
            continue
        if kind == "profile" and selected not in (None, named):
            raise ConfigurationError(
                Problem(
                    f"preset {preset[-1].id!r} is for the profile {named!r}, not {selected!r}",
                    document.at(kind),
                    hint=f"--profile {named}",
                    code="preset-profile",
                )
            )
        return (named, document.at(kind)) if selected is None else (selected, None)
    return selected, None
