"""The facts that rules may read, group by group, and the judgement of a file that claims some."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lilserve.errors import Problem, unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NUMBER = (int, float)
Kinds = dict[str, tuple[type, ...]]

# GiB are numbers, bytes whole numbers. A host that cannot tell a fact leaves it out.
FACTS: dict[str, Kinds] = {
    "kernel": {"release": (str,), "wsl2": (bool,), "page_size": (int,)},
    "cpu": {"arch": (str,)},
    "memory": {"total_gib": NUMBER, "available_gib": NUMBER},
    "shm": {"total_bytes": (int,), "free_bytes": (int,)},
    "limits": {"memlock_bytes": (int,)},
    "gpus": {},
}
# `f.gpus` is a list, one entry per GPU, read inside a macro, as in `f.gpus.all(g, g.memory_gib > 90.0)`.
GPUS = "gpus"
GPU: Kinds = {
    "name": (str,),
    "memory_gib": NUMBER,
    "free_gib": NUMBER,
    "compute_capability": (str,),
    "driver": (str,),
    "uuid": (str,),
}
_SAID = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}


def known_facts(claimed: Mapping[str, Any], problems: list[Problem]) -> dict[str, Any]:
    """The facts among what a file claims; a null is a fact that is not known. Adds what is wrong to `problems`."""
    facts: dict[str, Any] = {}
    for group, value in claimed.items():
        if group not in FACTS:
            problems.append(unknown("group of facts", group, FACTS, code="facts"))
        elif value is None:
            continue
        elif group == GPUS and isinstance(value, list):
            facts[group] = [dict(_fields(f"{GPUS}[{index}]", GPU, gpu, problems)) for index, gpu in enumerate(value)]
        else:
            facts[group] = dict(_fields(group, FACTS[group], value, problems))
    return facts


def _fields(group: str, kinds: Kinds, value: Any, problems: list[Problem]) -> Iterator[tuple[str, Any]]:
    """Each known field of a group with its value; a number of GiB is a CEL double, so it is a float."""
    if not isinstance(value, dict) or group == GPUS:
        wanted = "a list" if group == GPUS else "an object"
        problems.append(Problem(f"the facts {group} are {wanted}, not {value!r}", code="facts"))
        return
    for name, fact in value.items():
        kind = kinds.get(name)
        if kind is None:
            problems.append(unknown("fact", f"{group}.{name}", [f"{group}.{known}" for known in kinds], code="facts"))
        elif fact is None:
            continue
        elif not isinstance(fact, kind) or (isinstance(fact, bool) and bool not in kind):
            problems.append(Problem(f"the fact {group}.{name} is {_SAID[kind[-1]]}, not {fact!r}", code="facts"))
        else:
            said: Any = fact
            yield name, float(said) if kind == NUMBER else said
