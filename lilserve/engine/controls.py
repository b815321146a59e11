"""The options that never reach the engine, each a row in the catalog's own words (DESIGN.md section 4)."""

from __future__ import annotations

from typing import Any

AUTO = {"choices_also": ["auto"]}

CONTROLS: dict[str, dict[str, Any]] = {
    "mode": {"type": "str"},
    "checkpoint": {"type": "str"},
    "cache-mode": {"type": "str"},
    "draft-tokens": {"type": "int"},
    "draft-model": {"type": "str"},
    "draft-revision": {"type": "str"},
    "capture-ladder": {"type": "str", "choices": ["engine", "quarters", "dense"]},
    "table-placement": {"type": "str", "choices": ["ram", "disk", "auto"]},
    "stop-grace": {"type": "number"},
    "target-page-size": {"type": "int", **AUTO},
    "recurrent-page-size": {"type": "int", **AUTO},
    "dcp-ckv-gather": {"type": "str", "choices": ["auto", "on", "off"]},
    "engram-table-memory": {"type": "str", "choices": ["ram", "disk"]},
    "engram-disk-resident-scales": {"type": "bool"},
    "engram-projection-tp": {"type": "bool"},
    "adaptive-verification": {"type": "bool"},
    "adaptive-verification-cost-scale": {"type": "float"},
    "cache-l1-gib": {"type": "float"},
    "cache-l1-init-gib": {"type": "number"},
    "cache-object-tokens": {"type": "int"},
    "cache-transfer-mode": {"type": "str", "choices": ["engine_driven", "lmcache_driven"]},
    "cache-disk-path": {"type": "str"},
    "cache-disk-gib": {"type": "number"},
    "cache-native-gib": {"type": "number"},
}

# These choose documents, so they are settled before any document they choose is read.
SELECTING = ("checkpoint", "mode", "cache-mode")
