"""The compiled form of the shipped documents: what parsing gave, by the digest of what was parsed.

An entry is found only by the SHA-256 of a file's bytes, and the whole form counts only for the very code that made it
(the digest of this package's sources): a stale one is never found, so it needs no care. It is made when the package is
built (hatch_build.py) and a checkout without it works, slower.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lilserve.documents.load import parsed
from lilserve.sha256 import sha256

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

SOURCES = tuple(f"documents/{name}.py" for name in ("source", "parts", "models", "validate", "load", "compiled"))
FILE = "compiled.json"


def read(data: Callable[[str], bytes]) -> Mapping[str, Any]:
    """Entries by digest; empty when there is no compiled form or other code made it. `data` reads a package file."""
    try:
        form = json.loads(data(FILE))
        return form["entries"] if form["code"] == code(data, SOURCES) else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def code(data: Callable[[str], bytes], sources: Iterable[str]) -> str:
    """The digest of the sources that decide what a compiled form holds."""
    digest = sha256()
    for name in sources:
        digest.update(data(name))
    return digest.hexdigest()


def build(files: Iterable[tuple[str, bytes]], data: Callable[[str], bytes]) -> str:
    """The compiled form of every valid file, as text."""
    entries = {}
    for path, raw in files:
        entry = parsed(raw, path)
        if isinstance(entry, dict):
            entries[sha256(raw).hexdigest()] = entry
    return json.dumps({"code": code(data, SOURCES), "entries": entries}, separators=(",", ":"))
