"""A configuration class in; the fields of its JSON form, with types and choices to any depth, out.

Standard library only. The classes are pydantic dataclasses in the engine, plain ones in tests: what pydantic adds is
used where it is there.
"""

from __future__ import annotations

import dataclasses
import enum
import sys
import types
import typing
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Shape = Callable[[Any], Any]

_SCALARS = {bool: "bool", int: "int", float: "float", str: "str"}
_LISTS = (list, tuple, set, frozenset)


def annotations_of(cls: Any) -> dict[str, Any]:
    """Field name to resolved annotation; one that cannot be resolved reads as Any."""
    try:
        return typing.get_type_hints(cls, include_extras=True)
    except (NameError, TypeError):
        return {name: value for base in reversed(cls.__mro__) for name, value in _one_by_one(base).items()}


def _one_by_one(cls: type) -> dict[str, Any]:
    names = {**vars(typing), **vars(sys.modules[cls.__module__])}
    resolved: dict[str, Any] = {}
    for name, value in vars(cls).get("__annotations__", {}).items():
        holder = type(cls.__name__, (), {"__annotations__": {name: value}})
        try:
            resolved[name] = typing.get_type_hints(holder, names, include_extras=True)[name]
        except (NameError, TypeError):
            resolved[name] = Any
    return resolved


def members(annotation: Any) -> list[Any]:
    """The alternatives of an annotation, its unions flattened and its decorations taken off."""
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return members(typing.get_args(annotation)[0])
    if origin in (typing.Union, types.UnionType):
        return [member for part in typing.get_args(annotation) for member in members(part)]
    if hasattr(annotation, "__value__"):  # a `type X = ...` alias
        return members(annotation.__value__)
    return [annotation]


def fields_of(cls: Any, above: tuple[type, ...] = ()) -> dict[str, Any]:
    """The fields that JSON may give a configuration class; empty for anything else, and for a class inside itself."""
    if not isinstance(cls, type) or not dataclasses.is_dataclass(cls) or cls in above:
        return {}
    annotations = annotations_of(cls)
    found = {
        field.name: described(annotations.get(field.name, Any), cls, field.name, (*above, cls))
        for field in dataclasses.fields(cls)
        if field.init and not _filled_by_engine(annotations.get(field.name))
    }
    return dict(sorted(found.items()))


def _filled_by_engine(annotation: Any) -> bool:
    """Whether a field takes a ready object which is not even validated, so that no JSON can write it."""
    marks = typing.get_args(annotation)[1:] if typing.get_origin(annotation) is typing.Annotated else ()
    nested = any(dataclasses.is_dataclass(member) for member in members(annotation))
    return nested and any(type(mark).__name__ == "SkipValidation" for mark in marks)


def described(annotation: Any, owner: Any = None, name: str = "", above: tuple[type, ...] = ()) -> dict[str, Any]:
    """The type, choices and inner fields of one annotation; attributes that say nothing are left out."""
    alternatives = members(annotation)
    rest = [member for member in alternatives if member is not type(None)]
    literals = _sorted(value for member in rest for value in _literals(member))
    plain = [member for member in rest if typing.get_origin(member) is not typing.Literal]
    spec: dict[str, Any] = _plain(plain, owner, name, above) if plain else {"type": _type_of(literals)}
    if literals:
        spec["choices" if not plain else "known" if str in plain else "choices_also"] = literals
    if not plain and spec["type"] == "str" and all(_takes(owner, name, loosely(value)) for value in literals):
        spec["loose"] = True
    if spec["type"] in ("list", "map") and _reshaped(owner, name):
        spec["type"] = "any"
    if len(rest) != len(alternatives):
        spec["nullable"] = True
    return spec


def _plain(plain: list[Any], owner: Any, name: str, above: tuple[type, ...]) -> dict[str, Any]:
    if set(plain) == {int, float}:
        return {"type": "float"}
    if len(plain) > 1:
        kinds = {_single(member, owner, name, above)["type"] for member in plain}
        return {"type": kinds.pop() if len(kinds) == 1 else "any"}
    return _single(plain[0], owner, name, above)


def _single(member: Any, owner: Any, name: str, above: tuple[type, ...]) -> dict[str, Any]:
    """The description of one alternative that is neither a literal nor a union."""
    if member in _SCALARS:
        return {"type": _SCALARS[member]}
    origin, arguments = typing.get_origin(member) or member, typing.get_args(member)
    if not isinstance(origin, type):
        return {"type": "any"}
    if issubclass(origin, enum.Enum):
        return accepted(origin, owner, name)
    if dataclasses.is_dataclass(origin):
        inner = fields_of(origin, above)
        return {"type": "map", "fields": inner} if inner else {"type": "map"}
    return _container(origin, arguments, owner, name)


def _container(origin: type, arguments: tuple[Any, ...], owner: Any, name: str) -> dict[str, Any]:
    if issubclass(origin, _LISTS):
        alike = arguments[:1] if Ellipsis in arguments or len(set(arguments)) == 1 else ()
        return {"type": "list"} | _items(alike, owner, name, lambda value: [value])
    if issubclass(origin, dict):
        return {"type": "map"} | _items(arguments[1:], owner, name, lambda value: {"probe": value})
    return {"type": "str" if origin.__module__.startswith("pathlib") else "any"}


def _items(arguments: tuple[Any, ...], owner: Any, name: str, shape: Shape) -> dict[str, Any]:
    if len(arguments) == 1 and isinstance(arguments[0], type) and issubclass(arguments[0], enum.Enum):
        items = accepted(arguments[0], owner, name, shape)
        return {"items": items} if any(_takes(owner, name, shape(choice)) for choice in items["choices"]) else {}
    items = described(arguments[0]) if arguments else {"type": "any"}
    return {} if items == {"type": "any"} else {"items": items}


def _literals(member: Any) -> list[Any]:
    values = typing.get_args(member) if typing.get_origin(member) is typing.Literal else ()
    return [value for value in values if value is not None]


def _sorted(values: Iterable[Any]) -> list[Any]:
    return sorted(dict.fromkeys(values), key=lambda value: (type(value).__name__, value))


def loosely(choice: str) -> str:
    """Another spelling of a choice, which an engine that cares for neither case nor dashes takes as well."""
    return choice.swapcase().replace("_", "-")


def _type_of(literals: list[Any]) -> str:
    kinds = {_SCALARS.get(type(value), "any") for value in literals}
    return kinds.pop() if len(kinds) == 1 else "any"


def accepted(kind: type[enum.Enum], owner: Any, name: str = "", shape: Shape = lambda value: value) -> dict[str, Any]:
    """The choices of an enumeration in JSON: of its names, in either case, and its values, those that `owner` takes.

    Classes differ in whether names or values are read, so the class is asked; without pydantic the values count.
    `shape` puts a value where the field has it, such as in a list.
    """
    field = name or _field_of(kind, owner)
    values = [member.value for member in kind if isinstance(member.value, str | int)]
    spellings = dict.fromkeys([*kind.__members__, *(label.lower() for label in kind.__members__), *values])
    taken = [value for value in spellings if _takes(owner, field, shape(value))] or values
    first = [value for value in taken if value in kind.__members__] or [value for value in taken if value in values]
    also = _sorted(value for value in taken if value not in first)
    return {"type": _type_of(first), "choices": _sorted(first)} | ({"choices_also": also} if also else {})


def _field_of(kind: type[enum.Enum], owner: Any) -> str:
    found = annotations_of(owner) if isinstance(owner, type) else {}
    return next((name for name, annotation in found.items() if kind in members(annotation)), "")


def _reshaped(owner: Any, name: str) -> bool:
    """Whether a validator of the class sees the value before its type is judged, so that other shapes may do."""
    decorators = getattr(getattr(owner, "__pydantic_decorators__", None), "field_validators", {})
    return any(
        entry.info.mode != "after" and (name in entry.info.fields or "*" in entry.info.fields)
        for entry in decorators.values()
    )


def _takes(owner: Any, name: str, value: Any) -> bool:
    """Whether the class reads `value` for that field, whatever else it misses; never without pydantic."""
    validator = getattr(owner, "__pydantic_validator__", None)
    if validator is None or not name:
        return False
    try:
        validator.validate_python({name: value})
    except Exception as error:  # noqa: BLE001 -- the class may check what it was not given, and that is no answer
        problems = error.errors() if hasattr(error, "errors") else []
        return not any(name in problem["loc"] for problem in problems)
    return True
