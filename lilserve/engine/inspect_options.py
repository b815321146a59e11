"""An argparse parser in; every option with its spellings, type, arity and choices out. Standard library only."""

from __future__ import annotations

import argparse
import enum
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from lilserve.engine.inspect_fields import accepted, fields_of, loosely, members

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_HUMAN = {"human_readable_int": False, "human_readable_int_or_auto": True}  # vLLM's names: is `auto` taken
_SIMPLE = {str: "str", int: "int", float: "float", bool: "bool", json.loads: "json"}


class Hints(NamedTuple):
    """What an engine's classes say beyond its parser.

    `annotations` by the destination of an option, `sections` by the name of a field of the whole configuration,
    `classes` by class name; a group of options is titled with the name of the class that it fills.
    """

    annotations: Mapping[str, Any]
    sections: Mapping[str, Any]
    classes: Mapping[str, type]


def options(parser: argparse.ArgumentParser, hints: Hints) -> dict[str, dict[str, Any]]:
    """Canonical name to specification, for every option but help and version; a positional is folded into `model`."""
    table: dict[str, dict[str, Any]] = {}
    deprecated = getattr(parser, "_deprecated", ())
    for group in parser._action_groups:  # noqa: SLF001 -- argparse has no public way to list what it parses
        for action in group._group_actions:  # noqa: SLF001
            if not action.option_strings or action.nargs == argparse.PARSER or _ends(action):
                continue
            spec = _option(parser, action, group.title or "", hints)
            if action in deprecated or getattr(action, "deprecated", False) or "Deprecated" in type(action).__name__:
                spec["deprecated"] = True
            table[spec["flags"][0].lstrip("-")] = {
                key: value for key, value in spec.items() if value not in ([], {}, None, False)
            }
    return dict(sorted(table.items()))


def _ends(action: argparse.Action) -> bool:
    return isinstance(action, argparse._HelpAction | argparse._VersionAction)  # noqa: SLF001


def _option(parser: argparse.ArgumentParser, action: argparse.Action, group: str, hints: Hints) -> dict[str, Any]:
    shown = [] if action.help == argparse.SUPPRESS else list(action.option_strings)
    taken = [flag for flag, other in parser._option_string_actions.items() if other is action]  # noqa: SLF001
    negative = [flag for flag in taken if _says_false(parser, action, flag)]
    positive = sorted((flag for flag in taken if flag not in negative), key=lambda flag: _rank(flag, action.dest))
    flagged = action.nargs == 0
    return {
        "flags": positive or taken,
        "negative": sorted(negative, key=lambda flag: flag not in shown) if positive else [],
        "hidden": [flag for flag in taken if flag not in shown],
        **({"type": "bool"} if flagged else _value(action, group, hints)),
        "arity": "1" if action.nargs is None else str(action.nargs),
        "append": isinstance(action, argparse._AppendAction),  # noqa: SLF001
        "group": group,
    }


def _rank(flag: str, dest: str) -> tuple[bool, bool]:
    """The spelling that says where its value goes first, then other long ones, then short ones."""
    return not flag.startswith("--"), flag.lstrip("-").replace("-", "_") != dest


def _says_false(parser: argparse.ArgumentParser, action: argparse.Action, flag: str) -> bool:
    """Whether this spelling sets the option to false: asked of the action itself, since spellings follow no rule."""
    if action.nargs != 0:
        return False
    space = argparse.Namespace()
    action(parser, space, [], flag)
    return getattr(space, action.dest, None) is False


def _value(action: argparse.Action, group: str, hints: Hints) -> dict[str, Any]:
    """Type, choices and fields of an option that takes a value."""
    convert, nullable = _innermost(action.type)
    annotation = hints.annotations.get(action.dest)
    choices = [choice for choice in action.choices or () if choice is not None and not (nullable and choice == "None")]
    nullable = nullable and (not action.choices or None in action.choices)  # a converted None must be a choice as well
    name = getattr(convert, "__name__", "")
    spec: dict[str, Any] = {"type": _SIMPLE.get(convert, "str"), "nullable": nullable}
    if name in _HUMAN:
        return {**spec, "type": "human-int", "auto": _HUMAN[name]}
    if name == "union_dict_and_str":  # vLLM's name for: a JSON object, or any other text as it stands
        return {**spec, "type": "json", "text": True}
    fields = fields_of(convert) or (
        fields_of(_class_in(hints.sections.get(action.dest))) if spec["type"] == "json" else {}
    )
    if fields or name == "parse_dataclass":
        return {**spec, "type": "json", "fields": fields}
    if choices and all(isinstance(choice, int) for choice in choices):
        spec["type"] = "int"
    kind = next((member for member in members(annotation) if _is_enum(member)), None)
    if not choices and kind is not None and str not in members(annotation):
        return {**spec, **_of_enum(kind, hints.classes.get(group))}
    loose = bool(choices) and convert not in _SIMPLE and _folds(convert, choices)
    return {**spec, "choices": sorted(choices), "loose": loose, "known": [] if choices else _known(action.metavar)}


def _folds(convert: Any, choices: list[Any]) -> bool:
    return callable(convert) and all(isinstance(item, str) and convert(loosely(item)) == item for item in choices)


def _innermost(convert: Any) -> tuple[Any, bool]:
    """The converter inside vLLM's wrappers, and whether one of them takes `None`; a dataclass for its JSON reader."""
    nullable = False
    while inner := [cell.cell_contents for cell in getattr(convert, "__closure__", None) or ()]:
        callables = [value for value in inner if callable(value)]
        if not callables:
            break
        nullable = nullable or "optional" in convert.__qualname__
        convert = callables[0]
    classes = [value for value in getattr(convert, "__defaults__", None) or () if isinstance(value, type)]
    return (classes[0] if classes else convert), nullable


def _class_in(annotation: Any) -> Any:
    return next((member for member in members(annotation) if fields_of(member)), None)


def _is_enum(member: Any) -> bool:
    return isinstance(member, type) and issubclass(member, enum.Enum)


def _of_enum(kind: type[enum.Enum], section: Any) -> dict[str, Any]:
    """The choices of an option whose text the engine turns into an enumeration after parsing."""
    if issubclass(kind, int):
        return {"type": "int", "choices": sorted(int(member.value) for member in kind)}
    return accepted(kind, section)


def _known(metavar: Any) -> list[str]:
    """The values that the help lists of an option that takes others too."""
    if isinstance(metavar, str):
        listed = re.search(r"\{([^{}]+)\}", metavar)
        metavar = listed[1].split(",") if listed else ()
    return sorted(str(value) for value in metavar or ())


def spellings(table: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Every flag of every option, once for each option that has it."""
    for spec in table.values():
        yield from spec["flags"]
        yield from spec.get("negative", ())
