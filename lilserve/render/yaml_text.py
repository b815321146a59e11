"""Plain data in, YAML out that every parser reads alike, of 1.1 or 1.2: no folding, quotes wherever in doubt."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

# A text that no YAML version takes for a number, a boolean, a date or null, and that holds no character with a meaning.
_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9/._-]*(?:[A-Za-z0-9]|(?<=/))|[A-Za-z]")
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"})
# What JSON leaves as it is and a YAML 1.1 reader takes for a line break or refuses.
_HIDDEN = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def yaml_text(*documents: Any) -> str:
    """The documents as one stream. Mappings and lists are blocks, texts stay on one line."""
    return "---\n".join("\n".join(_block(document, 0)) + "\n" for document in documents)


def _block(value: Any, depth: int) -> Iterator[str]:
    pad = "  " * depth
    if isinstance(value, dict):
        for key, inner in value.items():
            if _is_block(inner):
                yield f"{pad}{_scalar(key)}:"
                yield from _block(inner, depth + 1)
            else:
                yield f"{pad}{_scalar(key)}: {_scalar(inner)}".rstrip()
    else:
        for inner in value:
            if _is_block(inner):
                first, *rest = _block(inner, depth + 1)
                yield f"{pad}- {first.lstrip()}"
                yield from rest
            else:
                yield f"{pad}- {_scalar(inner)}"


def _is_block(value: Any) -> bool:
    return isinstance(value, dict | list | tuple) and bool(value)


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) and value.lower() not in _WORDS else _quoted(value)
    if isinstance(value, dict):
        return "{}"
    if isinstance(value, list | tuple):
        return "[]"
    return json.dumps(value)


def _quoted(text: str) -> str:
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))
