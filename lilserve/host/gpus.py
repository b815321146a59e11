"""The GPUs of this host as `nvidia-smi` tells them; what it answers with [N/A] is unknown and left out."""

from __future__ import annotations

import csv
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TIMEOUT = 20.0
_MIB_TO_GIB = 1024


def _gib(text: str) -> float:
    return round(float(text) / _MIB_TO_GIB, 3)


# Column of the tool to (fact, how to read it): memory is MiB there and GiB here.
COLUMNS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "name": ("name", str),
    "memory.total": ("memory_gib", _gib),
    "memory.free": ("free_gib", _gib),
    "compute_cap": ("compute_capability", str),
    "driver_version": ("driver", str),
    "uuid": ("uuid", str),
}


def gpus(environ: Mapping[str, str]) -> list[dict[str, Any]] | None:
    """One mapping per GPU in the driver's order, or None where no tool can tell."""
    tool = shutil.which("nvidia-smi", path=environ.get("PATH"))
    if tool is None:
        return None
    command = [tool, "--query-gpu=" + ",".join(COLUMNS), "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)  # noqa: S603 -- no shell, fixed arguments
    except (OSError, subprocess.TimeoutExpired):
        return None
    return (
        [_gpu(row) for row in csv.reader(done.stdout.splitlines(), skipinitialspace=True)]
        if done.returncode == 0
        else None
    )


def _gpu(row: list[str]) -> dict[str, Any]:
    found = {}
    for (name, read), text in zip(COLUMNS.values(), row, strict=False):
        try:
            if text and not text.startswith("["):
                found[name] = read(text)
        except ValueError:
            continue  # a text where a number was expected is as unknown as [N/A]
    return found
