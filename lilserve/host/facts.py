"""What is true of this host, as data: collected once, printable, and replaceable by a file from another machine.

A fact nobody can tell is absent, never zero. Sizes are bytes or GiB as the names say.
"""

from __future__ import annotations

import os
import resource
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

GIB = 1 << 30
SHM = "/dev/shm"  # noqa: S108 -- the kernel's shared memory, not a place for temporary files


def cheap_facts() -> dict[str, Any]:
    """The facts that cost microseconds and start nothing: kernel, page size, processor, memory, /dev/shm, limits."""
    uname = os.uname()
    return {
        "kernel": {"release": uname.release, "wsl2": wsl2(uname.release), "page_size": os.sysconf("SC_PAGE_SIZE")},
        "cpu": {"arch": uname.machine},
        "memory": _memory(),
        "shm": _shm(),
        "limits": _limits(),
    }


def wsl2(release: str) -> bool:
    """Whether a kernel release is WSL2's: `5.15.167.4-microsoft-standard-WSL2`, formerly `...-microsoft-standard`."""
    return "microsoft-standard" in release.lower() or release.lower().endswith("wsl2")


def _memory() -> dict[str, float]:
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            rows = dict(line.split(":", 1) for line in file if ":" in line)
    except (OSError, ValueError):
        return {}
    kib = {"total_gib": rows.get("MemTotal"), "available_gib": rows.get("MemAvailable")}
    return {name: round(int(text.split()[0]) * 1024 / GIB, 3) for name, text in kib.items() if text}


def _shm() -> dict[str, int]:
    try:
        stat = os.statvfs(SHM)
    except OSError:
        return {}
    return {"total_bytes": stat.f_blocks * stat.f_frsize, "free_bytes": stat.f_bavail * stat.f_frsize}


def _limits() -> dict[str, int]:
    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    return {"memlock_bytes": soft if soft != resource.RLIM_INFINITY else (1 << 63) - 1}


def all_facts(environ: Mapping[str, str]) -> dict[str, Any]:
    """The cheap facts and the GPUs, which a tool of the driver tells."""
    from lilserve.host.gpus import gpus  # noqa: PLC0415 -- starts a process, which a printed plan never does

    found = gpus(environ)
    return cheap_facts() | ({} if found is None else {"gpus": found})
