"""What /proc tells of other processes, as far as this user may see it; what vanishes while we look is not there."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def processes() -> list[int]:
    """Every process id that is visible from here."""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def named(pid: int) -> str:
    """`vllm (process 71)`: the short name and the id, for a person."""
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            name = file.read().strip()
    except OSError:
        name = "a process"
    return f"{name} (process {pid})"


def opened(pid: int) -> Iterator[str]:
    """What each descriptor of a process leads to: a path, or `socket:[INODE]`."""
    folder = f"/proc/{pid}/fd"
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        try:
            yield os.readlink(f"{folder}/{name}")
        except OSError:
            continue  # closed meanwhile


def mapped(pid: int) -> Iterator[str]:
    """The path of each file that a process has in its memory, once a mapping."""
    try:
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                fields = line.rstrip("\n").split(None, 5)
                if len(fields) == 6:  # noqa: PLR2004 -- the sixth is the path; memory of no file has none
                    yield fields[5]
    except OSError:
        return


def holders_of(path: str) -> Iterator[str]:
    """Everything visible that maps a file or has it open, named."""
    yield from (named(pid) for pid in processes() if path in opened(pid) or path in mapped(pid))


def descendants(root: int) -> list[int]:
    """Every process under `root`, nearest first; zombies included."""
    parents = {pid: parent for pid in processes() if (parent := _parent(pid)) is not None}
    found = [root]
    for known in found:
        found += [pid for pid, parent in parents.items() if parent == known]
    return found[1:]


def _parent(pid: int) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None
