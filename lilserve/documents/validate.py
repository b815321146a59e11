"""A parsed source in; its problems out, each at the line that caused it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from lilserve.documents.models import KINDS
from lilserve.documents.parts import Model
from lilserve.documents.schema import schema
from lilserve.errors import Problem, nearest, unknown
from lilserve.keypath import pointer

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from lilserve.documents.source import Source

VERSION = 1
_WANTED = {
    "string_type": "text; quote it",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "list_type": "a list",
}

_SHAPES = {
    "id": "small letters, digits, dots, dashes and underscores, at most 64, a letter or digit first",
    "set": "OPTION, OPTION/KEY or env:NAME",
    "flag": "--NAME in small letters, digits and dashes",
}
_ALPHABETS = {"environment": "letters, digits and underscores", "files": "the path of a Python module"}


def validate(source: Source) -> list[Problem]:
    """Every way in which the data of `source` is not a document, empty when it is one."""
    data = source.data
    if not isinstance(data, dict):
        return [Problem("a document is a mapping", f"{source.path}:1:1", "version, kind, id, ...", code="document")]
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        at = _place(source, ("kind",))
        if "kind" not in data:
            return [Problem("the document has no kind", at, ", ".join(KINDS), "kind: profile", code="document")]
        return [unknown("kind", str(kind), KINDS, at, code="document")]
    if "version" in data and data["version"] != VERSION:
        what = f"version {data['version']!r} of the document format is not known"
        return [Problem(what, _place(source, ("version",)), f"{VERSION}", f"version: {VERSION}", code="document")]
    try:
        _forget_nulls(KINDS[kind].model_validate(data), data)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=True)
        problems = [_problem(item, kind, source) for item in found]
        distinct = {(problem.at, problem.what): problem for problem in problems}
        return sorted(distinct.values(), key=_line_column)
    return []


def _forget_nulls(model: Any, data: Any) -> None:
    """Take out of `data` the keys of blocks that are null, for these are not written: an emptied `options:` is none.

    What a person names is kept: a null option or variable removes what a weaker layer wrote.
    """
    if isinstance(model, Model):
        for name, field in type(model).model_fields.items():
            key, value = field.alias or name, getattr(model, name)
            if value is not None:
                _forget_nulls(value, data.get(key))
            elif not field.is_required():
                data.pop(key, None)
    elif isinstance(model, dict):
        for key, inner in model.items():
            _forget_nulls(inner, data[key])
    elif isinstance(model, list):
        for inner, item in zip(model, data, strict=True):
            _forget_nulls(inner, item)


def _line_column(problem: Problem) -> tuple[int, ...]:
    return tuple(int(part) for part in (problem.at or "").rsplit(":", 2)[1:])


def _place(source: Source, path: tuple[Any, ...]) -> str:
    while path and pointer(path) not in source.places:
        path = path[:-1]
    return f"{source.path}:{source.places.get(pointer(path), '1:1')}"


def _problem(error: ErrorDetails, kind: str, source: Source) -> Problem:
    path = _real(error["loc"], source.data)
    name = ".".join(str(key) for key in path) or kind
    at = _place(source, path)
    match error["type"]:
        case "extra_forbidden":
            near = nearest(str(path[-1]), _allowed(kind, path[:-1]))
            where = f" in {'.'.join(map(str, path[:-1]))}" if path[:-1] else ""
            return Problem(
                f"unknown key {path[-1]!r}{where}",
                at,
                hint=f"did you mean {near}?" if near else None,
                code="unknown-key",
            )
        case "missing":
            missing = str(error["loc"][-1])
            return Problem(f"the key {missing!r} is missing", at, hint=f"{missing}: ...", code="missing-key")
        case "dict_type" if isinstance(error["input"], list) and path[-1:] == ("options",):
            return _flags(error["input"], at)
        case "string_pattern_mismatch" if error["loc"][-1] == "[key]":
            return _key(
                str(path[-1]), at, _ALPHABETS.get(str(path[-2]) if path[1:] else "", "letters, digits and dashes")
            )
        case kind_of if kind_of in _WANTED:
            shown = error["input"]
            text = str(shown).lower() if isinstance(shown, bool) else str(shown)
            hint = (
                f'{path[-1]}: "{text}"' if kind_of == "string_type" and isinstance(shown, bool | int | float) else None
            )
            return Problem(f"{name} must be {_WANTED[kind_of]}", at, hint=hint, code="wrong-type")
    what, allowed = f"{name}: {error['msg'][:1].lower()}{error['msg'][1:]}", None
    if error["type"] == "string_pattern_mismatch":
        what, allowed = f"{name} cannot be {error['input']!r}", _SHAPES.get(str(path[-1]), error["ctx"]["pattern"])
    return Problem(what, at, allowed, code="wrong-value")


def _flags(items: list[Any], at: str) -> Problem:
    """Options written as a command line: a mapping has a name and a value, and no token holds both."""
    first = str(items[0]) if items else ""
    flag, _, value = first.partition(" ")
    follows = str(items[1]) if len(items) > 1 and not str(items[1]).startswith("-") else "true"
    what = f"options are a mapping, not a list of flags: {first!r}" + (
        " is one token with a flag and a value" if value else ""
    )
    return Problem(what, at, "option: value", f"{flag.lstrip('-') or 'option'}: {value or follows}", code="one-token")


def _key(key: str, at: str, alphabet: str) -> Problem:
    """A key that is no name: most often a flag as a command line has it."""
    flag, _, value = key.partition(" ")
    name = flag.lstrip("-")
    if value and name.isprintable():
        what = f"{key!r} is one token with a flag and a value"
        return Problem(what, at, alphabet, f"{name}: {value}", code="one-token")
    hint = f"{name}: ..." if flag.startswith("--") else None
    return Problem(f"{key!r} is no name", at, alphabet, hint, code="wrong-key")


def _real(loc: tuple[int | str, ...], data: Any) -> tuple[int | str, ...]:
    """The part of pydantic's location that stands in the data: names of unions and of types do not."""
    path: list[int | str] = []
    for key in loc:
        try:
            data = data[key]
        except (KeyError, IndexError, TypeError):
            continue
        path.append(key)
    return tuple(path)


def _allowed(kind: str, path: tuple[int | str, ...]) -> list[str]:
    """The keys that the schema of `kind` allows in the block at `path`."""
    whole = schema(kind)
    blocks = [whole]
    for key in path:
        blocks = [inner for block in blocks for inner in _inside(block, str(key), whole["definitions"])]
    return [key for block in blocks for key in block.get("properties", ())]


def _inside(block: dict[str, Any], key: str, definitions: dict[str, Any]) -> list[dict[str, Any]]:
    """The schemas that the value at `key` of a block may have, references followed."""
    inner = block.get("properties", {}).get(key) or block.get("additionalProperties") or block.get("items")
    inner = inner or next(iter(block.get("patternProperties", {}).values()), None)
    found = list(inner.get("anyOf", [inner])) if isinstance(inner, dict) else []
    return [definitions[one["$ref"].rsplit("/", 1)[1]] if "$ref" in one else one for one in found]
