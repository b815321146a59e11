"""Sizes of the cache in, what this host cannot hold of them out. Bytes throughout."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

from lilserve.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

GIB = 1 << 30
CGROUP = "/sys/fs/cgroup"
SPARE = 1  # GiB of shared memory beside the cache's own, for the engine's rings and NCCL


def gib(size: float) -> str:
    """1.5 GiB; below a tenth of one in MiB, where a container's 64 MB belongs."""
    return f"{size / GIB:.1f} GiB" if size >= GIB / 10 else f"{size / (1 << 20):.0f} MiB"


def shared_memory(needed: int, stale: int, root: str) -> Iterator[Problem]:
    """Whether /dev/shm holds the pool; `stale` bytes come free before the server starts."""
    try:
        found = os.statvfs(root)
    except OSError as error:
        yield Problem(f"{root} cannot be used: {(error.strerror or '').lower()}", code="shared-memory")
        return
    total, free = found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize + stale
    size = f"{math.ceil(needed / GIB) + SPARE}g"
    if needed > total:
        yield Problem(
            f"{root} has {gib(total)}, and the cache's shared memory takes {gib(needed)}",
            hint=f"docker run --shm-size={size}; in Compose shm_size: {size}; "
            f"on a bare host: mount -o remount,size={size} {root}; or pass a smaller --cache-l1-gib",
            code="shared-memory",
        )
    elif needed > free:
        yield Problem(
            f"{root} has {gib(free)} free of {gib(total)}, and the cache's shared memory takes {gib(needed)}",
            hint=f"see what fills it with ls -l {root}, or pass a smaller --cache-l1-gib",
            code="shared-memory",
        )


def memory(needed: int, stale: int) -> Iterator[Problem]:
    """Whether the L1 pool fits into the memory that this host and this container leave."""
    found = [size for size in (_available(), _within_cgroup()) if size is not None]
    free = min(found, default=None)
    if free is not None and needed > free + stale:
        yield Problem(
            f"the cache's L1 takes {gib(needed)} of memory, and {gib(free + stale)} are available",
            hint=f"--cache-l1-gib {max(1, math.floor((free + stale) / GIB * 0.9))}",
            code="memory",
        )


def _available() -> int | None:
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            row = next((line for line in file if line.startswith("MemAvailable:")), None)
    except OSError:
        return None
    return int(row.split()[1]) * 1024 if row else None


def _within_cgroup() -> int | None:
    """What this container's limit leaves; reclaimable file pages count as free."""
    limit, used = _number("memory.max"), _number("memory.current")
    if limit is None or used is None:
        return None
    try:
        with open(os.path.join(CGROUP, "memory.stat"), encoding="ascii") as file:
            rows = dict(line.split() for line in file)
    except (OSError, ValueError):
        rows = {}
    return limit - used + int(rows.get("inactive_file", 0))


def _number(name: str) -> int | None:
    try:
        with open(os.path.join(CGROUP, name), encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return None  # "max" is no limit
