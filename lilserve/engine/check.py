"""The final values in; every way in which this engine would not take them out. Judges the result, never a layer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lilserve.engine.removed import gone
from lilserve.engine.values import judge, looks_like_a_flag
from lilserve.errors import Problem, nearest
from lilserve.keypath import pointer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from lilserve.engine.catalog import Catalog, Spec
    from lilserve.keypath import Path


SLIP, ALIKE = 2, 0.92  # letters by which a misspelt name differs in length, and how alike it still is

_FIELD_TYPES: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "float": (int, float),
    "str": (str,),
    "list": (list,),
    "map": (dict,),
}


def check_option(spec: Spec, value: Any, at: Callable[[Path], str]) -> Iterator[Problem]:
    """What is wrong with the final value of one option; `at` tells where a leaf of it was written."""
    wrong = judge(spec, value)
    if wrong is not None:
        yield wrong.problem(spec.name, at(()))
    elif value is False and not spec.control and not spec.negative:
        what = f"{spec.name} is false, but this engine has no way to say so"
        yield Problem(what, at(()), "leaving it out", f"{spec.name}: null", code="no-negative")
    elif value == [] and spec.many:
        yield Problem(
            f"{spec.name} is an empty list, which a command line cannot say",
            at(()),
            hint=f"{spec.name}: null",
            code="empty-list",
        )
    elif spec.many and isinstance(value, list) and any(looks_like_a_flag(str(item)) for item in value):
        what = f"{spec.name} has an item that begins with a dash, which the engine takes for a flag"
        yield Problem(what, at(()), "items without a dash in front", code="item-like-flag")
    elif isinstance(value, dict) and spec.fields:
        yield from _fields(spec.name, spec.fields, value, (), at)
    items = value if isinstance(value, list) and spec.many else [value]
    texts = (item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in items)
    if reason := next(filter(None, map(unpassable, texts)), None):
        yield Problem(f"{spec.name} {reason}", at(()), code="unpassable")


def unpassable(text: str) -> str | None:
    """Why no process can be given this text, or None when it can."""
    if "\0" in text:
        return "holds a NUL byte, which no process can be given"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "is not UTF-8 text"
    return None


def _fields(
    name: str, fields: Mapping[str, Any], value: Mapping[str, Any], path: Path, at: Callable[[Path], str]
) -> Iterator[Problem]:
    for key, inner in value.items():
        here = (*path, key)
        field = fields.get(key) or fields.get(key.replace("-", "_"))  # the engine takes dashes in field names
        shown = name + pointer(here)
        if field is None:
            near = nearest(key, fields)
            yield Problem(
                f"{name} has no field {'/'.join(here)!r}",
                at(here),
                hint=f"did you mean {near}?" if near else None,
                code="unknown-field",
            )
        elif isinstance(inner, dict) and field.get("fields"):
            yield from _fields(name, field["fields"], inner, here, at)
        elif inner is not None and not _fits(field, inner):
            allowed = ", ".join(map(str, field.get("choices") or ())) or field["type"]
            near = nearest(str(inner), [str(choice) for choice in field.get("choices") or ()])
            yield Problem(
                f"{shown} cannot be {inner!r}",
                at(here),
                allowed,
                f"did you mean {near}?" if near else None,
                code="wrong-field",
            )


def _fits(field: Mapping[str, Any], value: Any) -> bool:
    if value in (field.get("choices_also") or ()):
        return True
    if field.get("choices"):
        return value in field["choices"]
    types = _FIELD_TYPES.get(field["type"])
    return types is None or (isinstance(value, types) and (not isinstance(value, bool) or bool in types))


def check_variable(name: str, catalog: Catalog, at: str | None, *, inherited: bool) -> Problem | None:
    """What is wrong with a `VLLM_` name that this engine does not read; None for every other name."""
    if not name.startswith("VLLM_") or name in catalog.environment:
        return None
    removed = gone("environment", name, catalog)
    if removed is not None:
        return Problem(
            f"{name} is no longer read by this engine ({catalog.id}): {removed.text}",
            at,
            hint=removed.hint,
            code="removed-variable",
        )
    near = nearest(name, catalog.environment)
    what = f"{name} is no variable of this engine ({catalog.id})"
    return Problem(
        what,
        at,
        hint=f"did you mean {near}?" if near else None,
        code="inherited-variable" if inherited else "unknown-variable",
    )


def near_misses(names: Iterable[str], known: Iterable[str], families: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Names of free families that look like a misspelling of one that a document uses: (name, what was meant)."""
    used = [name for name in known if name.startswith(families)]
    for name in names:
        if name.startswith(families) and name not in used and (near := nearest_variable(name, used)) is not None:
            yield name, near


def nearest_variable(name: str, used: Iterable[str]) -> str | None:
    """A used name that differs from `name` by a slip of the keyboard, not by meaning."""
    from difflib import SequenceMatcher  # noqa: PLC0415 -- only a name of these families needs it

    close = [
        other
        for other in used
        if abs(len(other) - len(name)) <= SLIP and SequenceMatcher(None, name, other).ratio() > ALIKE
    ]
    return close[0] if close else None
