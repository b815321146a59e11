"""What one engine build accepts: every option with its spellings, type and arity, and the environment names.

A catalog is generated from a real build (`engine/inspect.py`); an engine document may declare what its fork adds.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from lilserve.documents.shipped import package_file
from lilserve.engine.controls import CONTROLS
from lilserve.errors import ConfigurationError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lilserve.documents.library import Library
    from lilserve.documents.model import Document


class Spec(NamedTuple):
    """One option. `type` is bool, int, float, str, json, human-int or number; `arity` as argparse counts values.

    `negative` are the spellings of false, the first one emitted; `text` says that a JSON option takes plain text too,
    `loose` that case and dashes of a choice do not matter; `declared` that a person vouches for it, no parser.
    """

    name: str
    type: str
    arity: str
    flags: tuple[str, ...]
    negative: tuple[str, ...]
    choices: tuple[Any, ...]
    choices_also: tuple[Any, ...]
    nullable: bool
    fields: Mapping[str, Any]
    append: bool
    text: bool
    loose: bool
    control: bool
    declared: bool

    @property
    def many(self) -> bool:
        """Whether the flag takes a list of values, each a token of its own."""
        return self.append or self.arity in ("*", "+") or (self.arity.isdigit() and int(self.arity) > 1)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Catalog:
    """The options and environment names of one engine, with our controls among them."""

    id: str
    release: str
    positional: str
    raw: Mapping[str, Mapping[str, Any]]
    spellings: Mapping[str, tuple[str, bool]]
    environment: frozenset[str]
    cache: dict[str, Spec]

    def __contains__(self, name: str) -> bool:
        return name in self.raw or name in CONTROLS

    def spec(self, name: str) -> Spec:
        """The option of that canonical name. Raises KeyError when neither engine nor wrapper has it."""
        found = self.cache.get(name)
        if found is None:
            control = name in CONTROLS
            raw = CONTROLS[name] if control else self.raw[name]
            kind = raw["type"]
            found = self.cache[name] = Spec(
                name,
                kind,
                str(raw.get("arity", "0" if kind == "bool" else "1")),
                tuple(raw.get("flags") or ("--" + name,)),
                tuple(raw.get("negative") or (("--no-" + name,) if control and kind == "bool" else ())),
                tuple(raw.get("choices") or ()),
                (*(raw.get("choices_also") or ()), *(("auto",) if raw.get("auto") else ())),
                bool(raw.get("nullable")),
                raw.get("fields") or {},
                bool(raw.get("append")),
                bool(raw.get("text")),
                bool(raw.get("loose")),
                control,
                bool(raw.get("declared")),
            )
        return found

    def names(self) -> list[str]:
        """Every canonical name, controls first."""
        return [*CONTROLS, *self.raw]


@cache
def _observed(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(package_file(f"engine/catalogs/{name}.json"))
    return loaded


def catalog_of(chain: Sequence[Document]) -> Catalog:
    """The catalog of an engine: the observed build its chain names, and what the chain declares over it.

    Raises ConfigurationError where the chain names no catalog, or one that does not exist.
    """
    name, at = None, None
    declared: dict[str, dict[str, Any]] = {}
    variables: list[str] = []
    for document in chain:
        data = document.data
        if "catalog" in data:
            name, at = data["catalog"], document.at("catalog")
        declared |= {option: {**spec, "declared": True} for option, spec in (data.get("options") or {}).items()}
        variables += data.get("environment") or ()
    if name is None:
        what = f"engine {chain[-1].id!r} names no catalog"
        raise ConfigurationError(Problem(what, chain[-1].at("id"), hint="catalog: vllm-0.33.0"))
    try:
        return observed_catalog(name, declared, variables)
    except OSError as error:
        raise ConfigurationError(Problem(f"no catalog {name!r} is shipped", at)) from error


def catalogs_of(library: Library) -> list[Catalog]:
    """What every engine of a library accepts; a class of engines without a catalog of its own is left out."""
    found = []
    for document in library.all("engine"):
        with suppress(ConfigurationError):
            found.append(catalog_of(library.chain("engine", document.id)))
    return found


def observed_catalog(
    name: str, declared: Mapping[str, Mapping[str, Any]] = MappingProxyType({}), variables: Iterable[str] = ()
) -> Catalog:
    """A shipped catalog with options and variables that somebody declares over it. Raises OSError for no such name."""
    observed = _observed(name)
    options = observed["options"]
    raw = options | {option: _over(options.get(option, {}), spec) for option, spec in declared.items()}
    environment = frozenset([*observed["environment"], *variables])
    return Catalog(name, observed["release"], observed["positional"], raw, _spellings(raw), environment, {})


def _over(observed: Mapping[str, Any], declared: Mapping[str, Any]) -> dict[str, Any]:
    """What a fork declares of an option over what was observed of it; choices and fields are added to, not replaced."""
    result = {**observed, **declared}
    if declared.get("choices_also"):
        result["choices_also"] = [*(observed.get("choices_also") or ()), *declared["choices_also"]]
    if declared.get("fields"):
        known = observed.get("fields") or {}
        result["fields"] = known | {
            name: _over(known.get(name) or {"type": "any"}, spec) for name, spec in declared["fields"].items()
        }
    return result


def _spellings(raw: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[str, bool]]:
    """Every flag as a person may type it to (canonical name, whether it says false)."""
    table: dict[str, tuple[str, bool]] = {}
    for name, spec in raw.items():
        for flag in spec.get("flags") or ("--" + name,):
            table[flag] = (name, False)
        for flag in spec.get("negative") or ():
            table[flag] = (name, True)
    for name, spec in CONTROLS.items():
        table["--" + name] = (name, False)
        if spec["type"] == "bool":
            table["--no-" + name] = (name, True)
    return table
