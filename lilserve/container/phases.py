"""Lines of a container's log in, the phase of its start out, each told once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# What is said, in the order in which it usually happens, and what it means.
PHASES = (
    (re.compile(r"lil-serve: .* digest [0-9a-f]{8}"), "launching"),
    (re.compile(r"lil-serve: LMCache is ready"), "cache server ready"),
    (re.compile(r"Initializing a V1 LLM engine|Starting vLLM API server"), "engine starting"),
    (re.compile(r"[Ll]oading (safetensors|model|weights(?! took))|Starting to load model"), "loading weights"),
    (re.compile(r"Model loading took|Loading weights took"), "weights loaded"),
    (re.compile(r"Dynamo bytecode|[Cc]ompiling a graph|torch\.compile"), "compiling kernels"),
    (re.compile(r"GPU KV cache size|CPU KV cache size"), "memory measured"),
    (re.compile(r"[Cc]apturing (CUDA )?graph"), "capturing graphs"),
    (re.compile(r"Application startup complete|Uvicorn running"), "answering"),
)


def new_phases(lines: Iterable[str], told: set[str]) -> Iterator[str]:
    """The phases that these lines show for the first time; they are added to `told`."""
    for line in lines:
        for pattern, phase in PHASES:
            if phase not in told and pattern.search(line):
                told.add(phase)
                yield phase
