"""The library in, Markdown tables of what one can name out; run as a module it rewrites those of a README.

A table stands between `<!-- table:NAME -->` and `<!-- /table -->`.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from lilserve.documents.library import open_library
from lilserve.resolution.selection import COMMON, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lilserve.documents.library import Library
    from lilserve.documents.model import Document

NOTHING = ""
_MARKED = re.compile(r"(<!-- table:([a-z]+) -->\n).*?(<!-- /table -->)", re.DOTALL)


class Table(NamedTuple):
    """The kind of document a table lists, the head of each column, and what stands in a row."""

    kind: str
    heads: tuple[str, ...]
    row: Callable[[Library, list[Document]], Iterable[str]]


def table(name: str, library: Library) -> str:
    """The Markdown of one table. Raises KeyError when there is no such table."""
    kind, heads, row = TABLES[name]
    lines = [heads, ["---"] * len(heads)]
    lines += [tuple(row(library, library.chain(kind, one))) for one in listed(library, kind)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def refreshed(text: str, library: Library) -> str:
    """A text with every marked table as the library has it now."""
    return _MARKED.sub(lambda found: found[1] + table(found[2], library) + found[3], text)


def _profile(library: Library, chain: list[Document]) -> Iterator[str]:
    documents = [library.get("profile", COMMON), *chain]
    yield f"`{chain[-1].id}`"
    yield _last(chain, "title")
    yield _last(chain, "engine")
    yield _names(_section(chain, "checkpoints"))
    yield ", ".join(_section(chain, "modes"))
    yield from (_option(documents, name) for name in ("tensor-parallel-size", "max-num-seqs"))
    context = _option(documents, "max-model-len")
    yield "what fits" if context == "-1" else context
    yield ", ".join(dict.fromkeys(["vram", *_section(chain, "cache")]))


def _hardware(_: Library, chain: list[Document]) -> Iterator[str]:
    gpu = _section(chain, "gpu")
    yield f"`{chain[-1].id}`"
    yield _last(chain, "title")
    yield from (_cell(gpu.get(name)) for name in ("memory-gib", "bandwidth-gb-s", "compute-capability"))
    yield NOTHING if gpu.get("unified") is None else "shared with the host" if gpu["unified"] else "its own"
    yield _cell(_section(chain, "ceiling").get("gpu-memory-utilization"))


def _preset(_: Library, chain: list[Document]) -> Iterator[str]:
    yield f"`{chain[-1].id}`"
    yield _last(chain, "title")
    yield from (f"`{_last(chain, name)}`" for name in ("profile", "hardware"))


def _overlay(_: Library, chain: list[Document]) -> Iterator[str]:
    data = chain[-1].data
    yield f"`{chain[-1].id}`"
    yield _last(chain, "title")
    if "cache-mode" in data:
        yield f"`--cache-mode {data['cache-mode']}`"
    else:
        yield "by its condition" if "when" in data else f"`--overlay {chain[-1].id}`"


def _last(chain: Sequence[Document], key: str) -> str:
    return next((_cell(one.data[key]) for one in reversed(chain) if key in one.data), NOTHING)


def _section(chain: Sequence[Document], name: str) -> dict[str, Any]:
    """A mapping of the chain as a launch sees it: names merge, unless a document replaces what it extends."""
    found: dict[str, Any] = {}
    for document in chain:
        replaces = document.data.get("replaces")
        found = {} if isinstance(replaces, list) and name in replaces else found
        found |= document.data.get(name) or {}
    return found


def _names(checkpoints: dict[str, Any]) -> str:
    """The default first, in bold."""
    ordered = sorted(checkpoints, key=lambda name: not checkpoints[name].get("default"))
    return ", ".join(f"**{name}**" if checkpoints[name].get("default") else name for name in ordered)


def _option(chain: Sequence[Document], name: str) -> str:
    return _cell(_section(chain, "options").get(name))


def _cell(value: Any) -> str:
    return NOTHING if value is None else str(value).replace("|", "\\|")


TABLES = {
    "profiles": Table(
        "profile",
        ("profile", "model", "engine", "checkpoints", "modes", "GPUs", "seats", "context", "cache modes"),
        _profile,
    ),
    "hardware": Table(
        "hardware", ("machine", "what", "GiB", "GB/s", "compute capability", "memory", "ceiling"), _hardware
    ),
    "presets": Table("preset", ("preset", "what", "profile", "machine"), _preset),
    "overlays": Table("overlay", ("overlay", "what", "applies"), _overlay),
}

if __name__ == "__main__":
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            old = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(refreshed(old, open_library()))
