"""Two catalogs in, what changed between the builds out: options and variables added, removed, retyped, respelled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lilserve.engine.catalog import Catalog

TYPE = ("type", "arity", "choices", "choices_also", "nullable", "auto", "append")
SPELLING = ("flags", "negative")


def compare(one: Catalog, other: Catalog) -> dict[str, Any]:
    """What a launch meets on its way from one build to the other."""
    shared = sorted(one.raw.keys() & other.raw.keys())
    return {
        "from": one.id,
        "to": other.id,
        "added": sorted(other.raw.keys() - one.raw.keys()),
        "removed": sorted(one.raw.keys() - other.raw.keys()),
        "retyped": {name: change for name in shared if (change := _change(one.raw[name], other.raw[name], TYPE))},
        "respelled": {name: change for name in shared if (change := _change(one.raw[name], other.raw[name], SPELLING))},
        "fields": {name: change for name in shared if (change := _fields(one.raw[name], other.raw[name]))},
        "environment": {
            "added": sorted(other.environment - one.environment),
            "removed": sorted(one.environment - other.environment),
        },
    }


def _change(one: Mapping[str, Any], other: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: {"from": one.get(key), "to": other.get(key)} for key in keys if one.get(key) != other.get(key)}


def _fields(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, list[str]]:
    before, after = set(one.get("fields") or ()), set(other.get("fields") or ())
    changes = {"added": sorted(after - before), "removed": sorted(before - after)}
    return {key: names for key, names in changes.items() if names}


def comparison_text(data: Mapping[str, Any]) -> str:
    """The same as lines that begin with +, - or ~."""
    lines = [f"--- {data['from']}", f"+++ {data['to']}"]
    lines += [f"- --{name}" for name in data["removed"]] + [f"+ --{name}" for name in data["added"]]
    for section in ("retyped", "respelled"):
        for name, change in data[section].items():
            lines += [
                f"~ --{name} {key}: {_shown(both['from'])} -> {_shown(both['to'])}" for key, both in change.items()
            ]
    for name, change in data["fields"].items():
        lines += [
            f"{sign} --{name}.{field}"
            for key, sign in (("removed", "-"), ("added", "+"))
            for field in change.get(key, ())
        ]
    lines += [f"{sign} {name}" for key, sign in (("removed", "-"), ("added", "+")) for name in data["environment"][key]]
    return "\n".join(lines)


def _shown(value: Any) -> str:
    return "none" if value is None else ", ".join(map(str, value)) if isinstance(value, list) else str(value)
