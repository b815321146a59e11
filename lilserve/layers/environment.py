"""Variables in (of the process, a settings file or `--env`); the options and the environment they write out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from lilserve.engine.values import WrongValueError, read_variable
from lilserve.errors import Problem, nearest
from lilserve.keypath import flatten
from lilserve.layers.documents import two_spellings
from lilserve.layers.layer import Assignment, Layer, Rank
from lilserve.origin import REMOVED, Written

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lilserve.documents.model import Document
    from lilserve.engine.catalog import Catalog

PREFIX = "LIL_SERVE_"
SELECTION = ("LIL_SERVE_PROFILE", "LIL_SERVE_HARDWARE", "LIL_SERVE_PRESET", "LIL_SERVE_POLICY")
FAMILIES = ("VLLM_", "NCCL_", "B12X_", "CUTE_", "LMCACHE_", "TORCH_", "PYTORCH_", "CUDA_", "OMP_")
# What Kubernetes and old Docker links inject: NAME_PORT=tcp://..., NAME_SERVICE_HOST, NAME_PORT_80_TCP_ADDR.
SERVICE_LINK = r"\w+_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?)\Z"
_LINK_VALUE = r"(tcp|udp|sctp)://"


class Names(NamedTuple):
    """Which variable selects which option: `aliases` are the short names, `prefixed` those too common to be ours."""

    option_of: Mapping[str, str]

    @classmethod
    def of(cls, documents: Iterable[Document], catalog: Catalog) -> Names:
        """The names that the catalog's options and the documents' `aliases` and `prefixed` give."""
        data = [document.data for document in documents]
        prefixed = {name for one in data for name in one.get("prefixed") or ()}
        table = {}
        for option in catalog.names():
            name = option.upper().replace("-", "_")
            table[PREFIX + name] = option
            if name not in prefixed:
                table[name] = option
        for one in data:
            table |= {alias: option for option, aliases in (one.get("aliases") or {}).items() for alias in aliases}
        return cls(table)


@dataclass(slots=True, eq=False, repr=False)
class Variables:
    """What reading a set of variables gave: its layer, what to tell a person, and the names the engine must not see."""

    layer: Layer
    problems: list[Problem]
    notices: list[tuple[str, str, str]]
    dropped: list[str]


def read_variables(
    variables: Mapping[str, str | None],
    names: Names,
    catalog: Catalog,
    rank: Rank,
    origin: str | None,
    *,
    listed: frozenset[str] | None = None,
    places: Mapping[str, str] | None = None,
) -> Variables:
    """The layer that `variables` write.

    `origin` None means the process environment: each name is its own origin, an empty value counts as unset, and only
    names in `listed` (those a document wrote) or of the inherited families are kept. Elsewhere every name is written.
    """
    process = origin is None
    options: dict[str, list[tuple[str, str | None]]] = {}
    environment: list[Assignment] = []
    result = Variables(Layer(), [], [], [])
    for name, text in variables.items():
        source = origin or f"environment:{name}"
        at = (places or {}).get(name)
        option = names.option_of.get(name)
        if option is not None or (process and name in SELECTION):
            result.dropped.append(name)
        if process and not _wanted(name, option, listed or frozenset()):
            if name.startswith(PREFIX) and name not in SELECTION:
                _misspelt(name, names, result)
            continue
        link = bool(text) and name.endswith("_PORT") and re.match(_LINK_VALUE, text or "") is not None
        if link and (option is not None or name in catalog.environment or not process):
            result.problems.append(_injected(name, text or "", at))
        elif process and (link or re.match(SERVICE_LINK, name)):
            result.notices.append(("service-link", f"{name} was injected by a service link and is dropped", name))
            result.dropped.append(name)
        elif process and not text:
            result.notices.append(
                ("empty-variable", f"{name} is empty in the environment, which counts as unset", name)
            )
            result.dropped.append(name)
        elif option is not None:
            options.setdefault(option, []).append((name, text))
        else:
            environment.append(Assignment(name, (), Written(REMOVED if text is None else text, source, at, rank)))
    written = tuple(
        a for option, pairs in options.items() for a in _option(option, pairs, catalog, rank, origin, places or {})
    )
    result.layer = Layer(written, tuple(environment))
    return result


def _wanted(name: str, option: str | None, listed: frozenset[str]) -> bool:
    return option is not None or name in listed or name.startswith(FAMILIES)


def _misspelt(name: str, names: Names, result: Variables) -> None:
    near = nearest(name, [*SELECTION, *(known for known in names.option_of if known.startswith(PREFIX))])
    result.dropped.append(name)
    result.notices.append(
        ("unknown-variable", f"{name} is none of ours" + (f"; did you mean {near}?" if near else ""), name)
    )


def _injected(name: str, text: str, at: str | None) -> Problem:
    service = name.removesuffix("_PORT").lower().replace("_", "-")
    return Problem(
        f"{name} is {text!r}: Kubernetes injects it for a service named {service!r}",
        at,
        "a port number",
        "set enableServiceLinks: false in the pod, or rename the service",
        code="service-link",
    )


def _option(
    option: str,
    pairs: list[tuple[str, str | None]],
    catalog: Catalog,
    rank: Rank,
    origin: str | None,
    places: Mapping[str, str],
) -> Iterable[Assignment]:
    """The leaves of one option that one or more variables name; None removes.

    A text that cannot be read is carried as a problem.
    """
    spec = catalog.spec(option)
    read: list[tuple[str, Any, Problem | None]] = []
    for name, text in pairs:
        try:
            read.append((name, REMOVED if text is None else read_variable(spec, text), None))
        except WrongValueError as error:
            read.append((name, text, error.problem(f"{name} ({option})", places.get(name))))
    name, value, problem = read[-1]
    if any(other != value for _, other, _ in read):
        problem = two_spellings(option, [f"{one}={text}" for one, text in pairs], places.get(name))
    source = origin or f"environment:{name}"
    for path, leaf in flatten(value):
        written = Written(leaf, source, places.get(name), rank, problem)
        yield Assignment(option, path, written, whole=not path and leaf is not REMOVED)
