"""YAML bytes in; plain data and the place of every key out, with every problem of the file at once.

The scalars are those of the YAML 1.2 core schema: `true` and `false` are the only booleans, so `off` stays text.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from lilserve.errors import Problem
from lilserve.keypath import Path, pointer

MAX_BYTES = 1 << 20
MAX_NODES = 50_000
MAX_DEPTH = 64
_INT64 = 1 << 63

_CONSTANTS = {
    text: value
    for texts, value in (
        (("true", "True", "TRUE"), True),
        (("false", "False", "FALSE"), False),
        (("", "~", "null", "Null", "NULL"), None),
    )
    for text in texts
}
_INTEGERS = ((re.compile(r"[-+]?[0-9]+\Z"), 10), (re.compile(r"0o[0-7]+\Z"), 8), (re.compile(r"0x[0-9a-fA-F]+\Z"), 16))
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)\Z|\.(nan|NaN|NAN)\Z")


class _Loader(yaml.CBaseLoader if hasattr(yaml, "CBaseLoader") else yaml.BaseLoader):  # type: ignore[misc]
    """Composes nodes and resolves nothing: a plain scalar is told from a quoted one, and any other tag was written."""

    def resolve(self, kind: type, _value: object, implicit: Any) -> str:
        return "plain" if kind is yaml.ScalarNode and implicit[0] else "quoted"


@dataclass
class Source:
    """One parsed file: `data`, `places` (JSON pointer to `line:column`, counted from 1) and `problems`."""

    path: str
    data: Any = None
    places: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    nodes: int = 0

    def say(self, what: str, mark: Any, hint: str | None = None, code: str = "yaml") -> None:
        self.problems.append(Problem(what, f"{self.path}:{mark.line + 1}:{mark.column + 1}", hint=hint, code=code))


def parse(raw: bytes, path: str) -> Source:
    """Read one document of at most 1 MiB; `path` is how messages name it. Never raises for what the file says."""
    source = Source(path)
    text = _decode(raw, source)
    if text is None:
        return source
    try:
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        source.say(f"not YAML: {error.problem or error.context}", mark)
    except yaml.YAMLError as error:
        source.problems.append(Problem(f"not YAML: {str(error).splitlines()[0]}", f"{path}:1:1", code="yaml"))
    except RecursionError:
        source.problems.append(Problem("nested too deeply", f"{path}:1:1", f"at most {MAX_DEPTH} levels", code="yaml"))
    else:
        if node is None:
            source.problems.append(Problem("the document is empty", f"{path}:1:1", code="yaml"))
        else:
            source.data = _build(node, (), (), source)
    return source


def _decode(raw: bytes, source: Source) -> str | None:
    at = f"{source.path}:1:1"
    if len(raw) > MAX_BYTES:
        source.problems.append(Problem(f"{len(raw)} bytes is too large", at, f"at most {MAX_BYTES} bytes", code="yaml"))
        return None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        before = raw[: error.start]
        line, column = before.count(b"\n") + 1, error.start - (before.rfind(b"\n") + 1) + 1
        source.problems.append(Problem("not UTF-8 text", f"{source.path}:{line}:{column}", code="yaml"))
        return None


def _build(node: yaml.Node, path: Path, above: tuple[int, ...], source: Source) -> Any:
    source.nodes += 1
    if source.nodes > MAX_NODES:
        if source.nodes == MAX_NODES + 1:
            source.say(f"aliases expand to more than {MAX_NODES} nodes", node.start_mark)
        return None
    if len(above) > MAX_DEPTH or id(node) in above:
        source.say(
            "an alias contains itself" if id(node) in above else f"nested deeper than {MAX_DEPTH} levels",
            node.start_mark,
        )
        return None
    if node.tag not in ("plain", "quoted"):
        source.say(f"the tag {node.tag!r} is not allowed", node.start_mark)
        return None
    above = (*above, id(node))
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, path, above, source)
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node, source)
    items = []
    for index, item in enumerate(node.value):
        here = (*path, str(index))
        source.places[pointer(here)] = _line_column(item)
        items.append(_build(item, here, above, source))
    return items


def _mapping(node: yaml.MappingNode, path: Path, above: tuple[int, ...], source: Source) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key = _scalar(key_node, source) if isinstance(key_node, yaml.ScalarNode) else None
        if not isinstance(key, str):
            shown = getattr(key_node, "value", None)
            source.say("a key must be text", key_node.start_mark, f'"{shown}":' if isinstance(shown, str) else None)
            continue
        here = (*path, key)
        if key in result:
            source.say(
                f"the key {key!r} stands twice; first at {source.path}:{source.places[pointer(here)]}",
                key_node.start_mark,
                code="duplicate-key",
            )
            continue
        source.places[pointer(here)] = _line_column(key_node)
        result[key] = _build(value_node, here, above, source)
    return result


def _scalar(node: yaml.ScalarNode, source: Source) -> Any:
    text: str = node.value
    if node.tag != "plain":
        if "\0" in text:
            source.say("a NUL byte cannot be passed to a process", node.start_mark)
        return text
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    for pattern, base in _INTEGERS:
        if pattern.match(text):
            return _integer(text, base, node, source)
    if _FLOAT.match(text) or _NOT_FINITE.match(text):
        value = float(text.replace(".inf", "inf").replace(".nan", "nan")) if _FLOAT.match(text) else math.inf
        if math.isfinite(value):
            return value
        source.say(f"{text} is not a finite number", node.start_mark, f'quote it if it is text: "{text}"')
        return None
    return text


def _integer(text: str, base: int, node: yaml.ScalarNode, source: Source) -> int | None:
    value = int(text, base) if len(text) < 70 else _INT64  # noqa: PLR2004 -- 64 binary digits, a sign and a prefix
    if -_INT64 <= value < _INT64:
        return value
    source.say("the number does not fit 64 bits", node.start_mark, "quote it if it is text")
    return None


def _line_column(node: yaml.Node) -> str:
    return f"{node.start_mark.line + 1}:{node.start_mark.column + 1}"
