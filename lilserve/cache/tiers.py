"""Everything that configures a cache server in, the disk tiers in it that would grow without end out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lilserve.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# A tier of this type fills its capacity and then fails every store unless an eviction block says what to drop.
TYPE, CAPACITY, EVICTION = "fs_native", "max_capacity_gb", "eviction"


def endless_tiers(sources: Iterable[tuple[str, Any, str | None]]) -> Iterator[Problem]:
    """A problem for each (name, value, place) that holds a tier with a capacity and no eviction, as JSON or as data."""
    for name, value, at in sources:
        if any(_endless(tier) for tier in _mappings(_data(value))):
            what = f"{name} holds a disk tier ({TYPE}) with a capacity and no eviction block: it stays full"
            hint = "--cache-disk-path DIR --cache-disk-gib N, which brings one"
            yield Problem(what, at, f"an {EVICTION} block", hint, code="endless-tier")


def _endless(tier: dict[str, Any]) -> bool:
    return tier.get("type") == TYPE and CAPACITY in tier and not tier.get(EVICTION)


def _data(value: Any) -> Any:
    if not isinstance(value, str) or TYPE not in value:
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _mappings(value: Any) -> Iterator[dict[str, Any]]:
    """Every mapping inside a value, JSON texts inside it included."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _mappings(_data(inner))
