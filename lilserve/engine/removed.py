"""Flags and variables that engines dropped or moved, and what to do instead; the table is data."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from lilserve.documents.shipped import package_file

if TYPE_CHECKING:
    from lilserve.engine.catalog import Catalog


class Gone(NamedTuple):
    """What to say of a name that is gone, and the name or the action to paste."""

    text: str
    hint: str | None


@cache
def _table() -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = json.loads(package_file("engine/removed.json"))
    return table


def gone(section: str, name: str, catalog: Catalog) -> Gone | None:
    """The row of `name` in the section `options` or `environment`, or None when nobody recorded it as gone."""
    row = _table()[section].get(name)
    if row is None:
        return None
    last = f" (last in {row['last']})" if row.get("last") else ""
    replacement = row.get("replacement")
    hint = "drop it" if replacement is None else f"--{replacement}" if replacement in catalog else None
    return Gone(row["text"] + last, hint)


def known_gone(section: str) -> list[str]:
    """Every name of the section that somebody recorded as gone."""
    return list(_table()[section])
