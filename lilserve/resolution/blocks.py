"""The chosen documents in, their blocks in layer order out: which part of which document speaks, and as whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lilserve.layers.documents import Block
from lilserve.layers.layer import Rank

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lilserve.documents.model import Document
    from lilserve.resolution.selection import Chosen
    from lilserve.resolution.settle import Settled


def speaking(chain: Iterable[Document], section: str) -> list[Document]:
    """The documents of a chain whose `section` counts: all of them, or those from the last that replaces it on."""
    documents = list(chain)
    for index in range(len(documents) - 1, 0, -1):
        replaces = documents[index].data.get("replaces")
        if isinstance(replaces, list) and section in replaces:
            return documents[index:]
    return documents


def before_settling(chosen: Chosen) -> list[Block]:
    """The blocks that speak whatever is chosen, in layer order: common, profile, machine."""
    common = Block(chosen.common, (), "common:defaults", Rank.COMMON)
    origin = f"model:{chosen.profile[-1].id}"
    return [common, *(Block(document, (), origin, Rank.PROFILE) for document in chosen.profile), *_machine(chosen)]


def after_settling(chosen: Chosen, settled: Settled) -> list[Block]:
    """The sub-documents that the settled controls choose, and the cache mode, in layer order."""
    model = f"model:{chosen.profile[-1].id}"
    choices = (("checkpoints", settled.checkpoint), ("modes", settled.mode), ("cache", settled.cache_mode))
    return [
        *_sub((chosen.common,), "cache", settled.cache_mode, f"common:{settled.cache_mode}", Rank.COMMON),
        *(
            block
            for section, name in choices
            for block in _sub(chosen.profile, section, name, f"{model}/{name}", Rank.PROFILE)
        ),
        *([Block(settled.cache, (), f"cache:{settled.cache_mode}", Rank.CACHE)] if settled.cache else []),
    ]


def preset_blocks(chosen: Chosen) -> list[Block]:
    """The preset and what it extends."""
    return [Block(document, (), f"preset:{chosen.preset[-1].id}", Rank.PRESET) for document in chosen.preset]


def _machine(chosen: Chosen) -> list[Block]:
    """The class chain and the machine, then what these say of this engine and of this profile, and what they extend."""
    origin = f"hardware:{chosen.hardware[-1].id}"
    return [
        *(Block(document, (), origin, Rank.HARDWARE) for document in chosen.hardware),
        *(
            Block(document, (section, one.id), origin, Rank.HARDWARE)
            for section, chain in (("per-engine", chosen.engine), ("per-profile", chosen.profile))
            for document in chosen.hardware
            for one in chain
            if one.id in (document.data.get(section) or {})
        ),
    ]


def _sub(chain: Iterable[Document], section: str, name: str | None, origin: str, rank: Rank) -> Iterator[Block]:
    for document in speaking(chain, section):
        block: Any = document.data.get(section) or {}
        if name is not None and name in block:
            yield Block(document, (section, name), origin, rank)
