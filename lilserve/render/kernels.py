"""A plan in, the key of its compiled kernels out: the engine's build and what of the policy a compiler sees."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from lilserve.plan.redact import redact

if TYPE_CHECKING:
    from lilserve.plan.model import Plan

# Options that decide which kernels and graphs are compiled. Addresses, names, budgets and parsers do not.
OPTIONS = (
    "model",
    "revision",
    "dtype",
    "quantization",
    "kv-cache-dtype",
    "block-size",
    "compilation-config",
    "attention-backend",
    "attention-config",
    "linear-backend",
    "moe-backend",
    "kernel-config",
    "gdn-decode-kernel",
    "mamba-ssm-cache-dtype",
    "swa-block-size",
    "speculative-config",
    "tensor-parallel-size",
    "pipeline-parallel-size",
    "data-parallel-size",
    "decode-context-parallel-size",
    "enable-expert-parallel",
    "max-num-batched-tokens",
)
VARIABLES = ("B12X_", "CUTE_", "TORCH_", "VLLM_")
SHORT = 16


def kernel_key(plan: Plan, image: str) -> str:
    """Sixteen hexadecimal digits, the same for launches that compile the same."""
    compiled = {
        "engine": [plan.engine, plan.catalog, plan.release, image],
        "files": dict(plan.files),
        "options": {name: plan.options[name].value for name in OPTIONS if name in plan.options},
        "environment": {name: redact(text, name) for name, text in plan.texts().items() if name.startswith(VARIABLES)},
    }
    text = json.dumps(compiled, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:SHORT]
