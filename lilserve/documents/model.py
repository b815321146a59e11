"""A document as the program uses it: validated data with the place of every key, frozen by convention."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from lilserve.keypath import pointer

if TYPE_CHECKING:
    from collections.abc import Mapping


# What the cache server of a cache mode is known by; each is an expression of its document.
SERVICE_FIGURES = ("health-url", "shm-name", "shm-bytes", "l1-bytes", "disk-path", "disk-bytes", "transfer-mode")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Document:
    """One validated YAML file. `path` is how messages name it, `digest` the SHA-256 of its bytes."""

    kind: str
    id: str
    path: str
    digest: str
    data: Mapping[str, Any]
    places: Mapping[str, str]

    def at(self, *keys: object) -> str:
        """`path:line:column` of a key, or of the nearest block around it that was written."""
        return _at(self, keys)


@lru_cache(maxsize=1 << 14)
def _at(document: Document, keys: tuple[object, ...]) -> str:
    """The place of a key. Cached: documents do not change, and every rule asks for its place though few tell it."""
    while keys:
        place = document.places.get(pointer(keys))
        if place is not None:
            return f"{document.path}:{place}"
        keys = keys[:-1]
    return f"{document.path}:1:1"
