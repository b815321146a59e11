"""The plan: the frozen result of a resolution, and all that explain, render and run ever see."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from lilserve.cache.model import Service
from lilserve.notice import Notice

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lilserve.origin import Written

__all__ = ["Applied", "Leaf", "Notice", "Option", "Plan", "Service"]


class Leaf(NamedTuple):
    """One resolved value with its history: `trail` is every writing of it, weakest first, and the last one won."""

    trail: tuple[Written, ...]

    @property
    def written(self) -> Written:
        """The writing that won."""
        return self.trail[-1]


class Option(NamedTuple):
    """One resolved option. A mapping has a leaf per JSON pointer; anything else has one leaf at the empty pointer.

    `displaced` are leaves that a stronger layer removed or replaced as a whole, by pointer.
    """

    name: str
    value: Any
    leaves: Mapping[str, Leaf]
    displaced: Mapping[str, Leaf] = MappingProxyType({})
    control: bool = False


class Applied(NamedTuple):
    """An overlay that takes part, and the sentence that says why."""

    id: str
    because: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Plan:
    """What will run, and who said so.

    `argv` is the engine's whole command. `environment` are the listed names: those a layer wrote and the inherited
    families; everything else passes through. `dropped` are names that the engine must not see (selection variables,
    aliases, service links). `stop_grace` is in seconds, `stop_grace_set` whether somebody asked for it; `files` are the
    modules of overlays, path to source. Secrets are in the clear here and redacted by every output.
    """

    profile: str
    hardware: str
    cache_mode: str
    engine: str
    catalog: str
    release: str
    argv: tuple[str, ...]
    options: Mapping[str, Option]
    environment: Mapping[str, Leaf]
    removed: Mapping[str, Leaf]
    dropped: tuple[str, ...]
    cache_service: Service | None
    overlays: tuple[Applied, ...]
    notices: tuple[Notice, ...]
    stop_grace: float
    stop_grace_set: bool
    digest: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    hardware_figures: Mapping[str, Any] = field(default_factory=dict)
    documents: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)

    def texts(self) -> dict[str, str]:
        """The listed environment as the engine gets it: name to text."""
        return {name: leaf.written.value for name, leaf in self.environment.items()}
