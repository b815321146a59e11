"""The cache server's shared memory: who has it, what a crash left of it, and a lock that dies with its owners."""

from __future__ import annotations

import fcntl
import os
import stat
from dataclasses import dataclass

from lilserve.errors import Problem
from lilserve.run.processes import holders_of

SHM = "/dev/shm"  # noqa: S108 -- the kernel's shared memory, where the server makes its pool
OFFLOADED = ("vllm_offload_", ".mmap")  # how the engine's own host offloading names its file
_FIRST_PID_NAMESPACE = "pid:[4026531836]"  # PROC_PID_INIT_INO: from here every process is seen


@dataclass(frozen=True, slots=True)
class Arena:
    """A claimed arena: `descriptor` holds the lock, `stale` are the bytes of a predecessor's, 0 for none."""

    path: str
    descriptor: int
    stale: int

    def clear(self) -> None:
        """Remove what lies there; only the lock's holder may."""
        _unlink(self.path)

    def release(self) -> None:
        """Remove arena and lock file, then let go: whoever opened the lock file meanwhile sees that it is gone."""
        self.clear()
        _unlink(lock_path(self.path))
        os.close(self.descriptor)


def lock_path(path: str) -> str:
    return path + ".lock"


def claim(name: str, root: str = SHM) -> Arena | Problem:
    """Lock the arena of this name, or say who has it. Nothing is removed yet.

    The server inherits the lock, so it is held as long as either process lives, and the kernel frees it after that.
    """
    path = os.path.join(root, name)
    known = os.path.lexists(lock_path(path))
    try:
        descriptor = _lock(lock_path(path))
    except OSError as error:
        return _refused(path, f"cannot be locked: {(error.strerror or '').lower()}", f"rm {lock_path(path)}")
    if descriptor is None:
        holders = ", ".join(holders_of(lock_path(path))) or "another lil-serve"
        return _refused(path, f"is in use by {holders}", "end it, or pass another --port")
    problem, size = _stale(path, known=known)
    if problem is None:
        return Arena(path, descriptor, size)
    if not known:
        _unlink(lock_path(path))
    os.close(descriptor)
    return problem


def _lock(path: str) -> int | None:
    """The locked descriptor of a lock file that is still in its place, or None when another has it."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        try:
            if os.stat(path).st_ino == os.fstat(descriptor).st_ino:
                return descriptor
        except FileNotFoundError:
            pass
        os.close(descriptor)  # its owner removed it between our opening and our lock


def _stale(path: str, *, known: bool) -> tuple[Problem | None, int]:
    """What lies at the path: a reason to refuse, or the bytes that a predecessor left."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None, 0
    holders = list(holders_of(path))
    if holders:
        return _refused(path, f"is in use by {', '.join(holders)}", "end that process, or pass another --port"), 0
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
        return _refused(path, f"is not ours: it belongs to user {found.st_uid}", f"sudo rm {path}"), 0
    if not known and may_be_shared():
        why = "was not left by lil-serve, and processes that cannot be seen from here may share /dev/shm"
        return _refused(path, why, f"if nothing uses it: rm {path}"), 0
    return None, found.st_size


def _refused(path: str, why: str, hint: str) -> Problem:
    return Problem(f"the shared memory {path} {why}", hint=hint, code="arena")


def may_be_shared(root: str = SHM) -> bool:
    """Whether processes outside our sight may use /dev/shm: not so at the top, nor on a container's private one."""
    try:
        if os.readlink("/proc/self/ns/pid") == _FIRST_PID_NAMESPACE:
            return False
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            mounts = [line.split() for line in file]
    except OSError:
        return True
    own = [row for row in mounts if row[4] == root]
    return not own or own[-1][own[-1].index("-") + 2] != "shm"  # what container runtimes name a private one


def offloaded(root: str = SHM) -> list[str]:
    """What a crashed engine's own offloading left in shared memory: ours by user, and nobody has it open."""
    try:
        names = [name for name in os.listdir(root) if name.startswith(OFFLOADED[0]) and name.endswith(OFFLOADED[1])]
        paths = [os.path.join(root, name) for name in sorted(names)]
        mine = [path for path in paths if os.lstat(path).st_uid == os.geteuid()]
    except OSError:
        return []
    return [] if mine and may_be_shared(root) else [path for path in mine if not any(holders_of(path))]


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
