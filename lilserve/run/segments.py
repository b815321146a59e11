"""Shared memory of the engine's own in, gone after it: Python leaves it behind when a whole process group is killed."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from lilserve.run.processes import descendants, holders_of, mapped

if TYPE_CHECKING:
    from collections.abc import Iterable

# Message rings and semaphores of multiprocessing, and the engine's own offloading; nothing else is touched.
_OWN = re.compile(r"/dev/shm/(psm_|sem\.mp-|vllm_offload_)[^/]*")  # noqa: S108 -- the kernel's shared memory


def segments() -> set[str]:
    """The shared memory that descendants of this process have mapped now."""
    return {path for pid in descendants(os.getpid()) for path in mapped(pid) if _OWN.fullmatch(path)}


def remove(paths: Iterable[str]) -> list[str]:
    """Remove what is left of these and nobody uses; the paths removed."""
    removed = []
    for path in sorted(paths):
        if os.path.exists(path) and not any(holders_of(path)):
            with suppress(OSError):
                os.unlink(path)
                removed.append(path)
    return removed
