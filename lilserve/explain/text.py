"""Records of `explain` in, words for a person out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


def explanation(records: Sequence[Mapping[str, Any]]) -> str:
    """A paragraph per leaf: the value and who said so, then everything it beat, the strongest first."""
    return "\n\n".join("\n".join(_paragraph(record)) for record in records)


def _paragraph(record: Mapping[str, Any]) -> Iterator[str]:
    *beaten, last = record["trail"]
    yield f"{record['name']} = {_value(last)}"
    yield f"  {_source('set by' if not last.get('removed') else 'removed by', last)}"
    if "inputs" in last:
        yield "  from     " + ", ".join(f"{name} = {_text(value)}" for name, value in last["inputs"].items())
    if "why" in last:
        yield f"  why      {last['why']}"
    for row in record["evidence"]:
        yield f"  evidence {row['source']} ({row['state']})"
    for one in reversed(beaten):
        yield f"  {_source('over', one)}: {_value(one)}"


def _source(verb: str, written: Mapping[str, Any]) -> str:
    at = f" at {written['at']}" if written["at"] else ""
    return f"{verb:<8} {written['origin']}{at}"


def _value(written: Mapping[str, Any]) -> str:
    return "nothing" if written.get("removed") else _text(written["value"])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
