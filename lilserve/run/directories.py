"""The cache's directory on disk in, what makes it unsafe out; and how much of the planned size its disk can hold."""

from __future__ import annotations

import fcntl
import json
import os
import re
import stat
from typing import TYPE_CHECKING, Any

from lilserve.errors import Problem
from lilserve.run.room import GIB, gib

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lilserve.cache.model import Service

PRIVATE = 0o700
KEPT_FREE = 0.05  # of a disk: below that, file systems slow down and others' writes fail
# Directories that others use too; one below is what is wanted.
SHARED = re.compile(r"/|/(var/)?tmp|/var(/cache)?|/home|/root|/opt|/mnt|/srv|/dev/shm")
CAPACITY = "max_capacity_gb"  # the field of a disk tier in the server's --l2-adapter


def directory_problems(path: str, environ_home: str | None = None) -> Iterator[Problem]:
    """Why a directory cannot be the cache's own: it must be absolute, dedicated, no link, of mode 0700 and ours."""
    if not os.path.isabs(path):
        yield _problem(f"{path} is not absolute", f"--cache-disk-path {os.path.abspath(path)}")
        return
    real = os.path.realpath(path)
    if real != os.path.normpath(path):
        yield _problem(f"{path} leads through a symbolic link", f"--cache-disk-path {real}")
    if SHARED.fullmatch(real) or real == environ_home or os.path.ismount(real):
        yield _problem(f"{path} is not dedicated to the cache", f"--cache-disk-path {os.path.join(real, 'lmcache')}")
        return
    try:
        found = os.lstat(real)
    except FileNotFoundError:
        if not os.access(os.path.dirname(real), os.W_OK | os.X_OK):
            yield _problem(f"{path} is not there and cannot be made", f"sudo install -d -m 0700 -o $USER {path}")
        return
    except OSError as error:
        yield _problem(f"{path} cannot be used: {(error.strerror or '').lower()}", None)
        return
    yield from _modes(path, found)


def _modes(path: str, found: os.stat_result) -> Iterator[Problem]:
    if not stat.S_ISDIR(found.st_mode):
        yield _problem(f"{path} is not a directory", None)
    elif found.st_uid != os.geteuid():
        yield _problem(f"{path} belongs to user {found.st_uid}", f"sudo chown $USER {path}")
    elif stat.S_IMODE(found.st_mode) != PRIVATE:
        yield _problem(f"{path} has mode {stat.S_IMODE(found.st_mode):04o}, not 0700", f"chmod 0700 {path}")


def _problem(what: str, hint: str | None) -> Problem:
    return Problem(f"the cache directory {what}", hint=hint, code="cache-directory")


def take(path: str) -> int | Problem:
    """Make the directory where it is missing and lock it; the descriptor holds the lock until it is closed."""
    try:
        os.makedirs(path, PRIVATE, exist_ok=True)
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        return _problem(f"{path} cannot be used: {(error.strerror or '').lower()}", None)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return _problem(f"{path} is in use by another cache", "give each server its own --cache-disk-path")
    return descriptor


def fitted(service: Service) -> tuple[Service, str | None]:
    """The server with its disk tier no larger than what its disk can hold, and the sentence that says so."""
    if service.disk_path is None or not service.disk_bytes:
        return service, None
    holds = _holds(service.disk_path)
    if holds is None or service.disk_bytes <= holds:
        return service, None
    argv = tuple(_capped(token, holds / GIB) for token in service.argv)
    told = f"the disk of {service.disk_path} holds {gib(holds)}, so the cache's disk tier is cut to that"
    return service._replace(argv=argv, disk_bytes=holds), f"{told} from {gib(service.disk_bytes)}"


def _holds(path: str) -> int | None:
    """What is free on the disk of a directory, with what the cache already has there, without the kept share."""
    try:
        above = path
        while not os.path.exists(above):
            above = os.path.dirname(above)
        found = os.statvfs(above)
    except OSError:
        return None
    total, free = found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize
    return max(0, free + _used(path) - int(total * KEPT_FREE))


def _used(path: str) -> int:
    sizes = 0
    for folder, _, names in os.walk(path):
        for name in names:
            try:
                sizes += os.lstat(os.path.join(folder, name)).st_blocks * 512
            except OSError:
                continue
    return sizes


def _capped(token: str, limit: float) -> str:
    """An adapter's JSON with its capacity at most `limit` GiB; any other token as it is."""
    try:
        found = json.loads(token) if token.startswith("{") else None
    except ValueError:
        return token
    if not isinstance(found, dict):
        return token
    capacity: Any = found.get(CAPACITY)
    if not isinstance(capacity, int | float) or capacity <= limit:
        return token
    return json.dumps(found | {CAPACITY: round(limit, 3)}, separators=(",", ":"))
