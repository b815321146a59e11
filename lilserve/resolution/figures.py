"""What is true of machine, engine and model, as the variables `h`, `engine` and `profile` of rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lilserve.resolution.blocks import speaking

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lilserve.documents.model import Document
    from lilserve.resolution.selection import Chosen
    from lilserve.resolution.settle import Settled

GPU = ("name", "count", "memory_gib", "bandwidth_gb_s", "compute_capability", "unified", "coherent_host_memory")
PARTICULAR = ("graph_fraction", "pool_gib", "pool_tokens")
NEEDED = ("page_size", "image_arch", "io_uring", "memlock_bytes")


def figures(chosen: Chosen, settled: Settled, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The variables by name; a figure that no document gives reads as null. GiB, GB/s and fractions as written."""
    return {"f": dict(facts), "h": _hardware(chosen), "engine": _engine(chosen), "profile": _profile(chosen, settled)}


def _hardware(chosen: Chosen) -> dict[str, Any]:
    gpu: dict[str, Any] = dict.fromkeys(GPU)
    result: dict[str, Any] = {
        "id": chosen.hardware[-1].id,
        "cpu": None,
        **dict.fromkeys(NEEDED),
        "ceiling": {},
        **dict.fromkeys(PARTICULAR),
    }
    for document in chosen.hardware:
        data = document.data
        gpu |= {key.replace("-", "_"): value for key, value in (data.get("gpu") or {}).items()}
        result["cpu"] = data.get("cpu", result["cpu"])
        result["ceiling"] |= data.get("ceiling") or {}
        result |= needs(document)
        for profile in chosen.profile:
            block = (data.get("per-profile") or {}).get(profile.id) or {}
            result |= {key: block[key.replace("_", "-")] for key in PARTICULAR if key.replace("_", "-") in block}
    return {**result, "gpu": gpu}


def needs(document: Document) -> dict[str, Any]:
    """What a document asks of the host, by the names in `h`; the page size in bytes."""
    host = document.data.get("host") or {}
    found = {key: host[key.replace("_", "-")] for key in NEEDED if key.replace("_", "-") in host}
    return found | ({"page_size": found["page_size"]["bytes"]} if "page_size" in found else {})


def _engine(chosen: Chosen) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for document in chosen.engine:
        facts |= document.data.get("facts") or {}
    return {"id": chosen.engine[-1].id, "catalog": chosen.catalog.id, "release": chosen.catalog.release, "facts": facts}


def _profile(chosen: Chosen, settled: Settled) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    cache: dict[str, Any] = {}
    for document in chosen.profiles:
        facts |= document.data.get("facts") or {}
    for document in (chosen.common, *speaking(chosen.profile, "cache")):
        contract = (document.data.get("cache") or {}).get(settled.cache_mode) or {}
        cache |= contract.get("facts") or {}
    return {"id": chosen.profile[-1].id, "facts": facts, "cache": cache}
