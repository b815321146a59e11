"""Whether io_uring works here: it is tried, and what the kernel answers is told in the words of its cure."""

from __future__ import annotations

import ctypes
import errno
import os
from typing import NamedTuple

from lilserve.errors import Problem

IO_URING_SETUP = 425  # the number on every architecture
ENTRIES = 4096
PARAMS = 120  # bytes of struct io_uring_params
LOCKED = 8 << 20  # bytes that a ring of this size may take of the memlock limit on kernels before 5.12


class Reason(NamedTuple):
    """What stood in the way, and its cure."""

    what: str
    hint: str


REASONS: dict[int, Reason] = {
    errno.EPERM: Reason(
        "a seccomp profile or kernel.io_uring_disabled forbids it (EPERM)",
        "docker run --security-opt seccomp=unconfined, or a profile that allows io_uring_setup, _enter and _register; "
        "sysctl kernel.io_uring_disabled must print 0",
    ),
    errno.ENOMEM: Reason(
        "the limit on locked memory is too small (ENOMEM)",
        f"docker run --ulimit memlock={LOCKED}:{LOCKED}; under systemd LimitMEMLOCK={LOCKED}",
    ),
    errno.ENOSYS: Reason("this kernel has none (ENOSYS)", "a kernel of 5.1 or later, built with CONFIG_IO_URING"),
}


def try_uring() -> Problem | None:
    """Set a ring up and close it again. None when that works."""
    libc = ctypes.CDLL(None, use_errno=True)
    ring = libc.syscall(IO_URING_SETUP, ENTRIES, ctypes.create_string_buffer(PARAMS))
    if ring >= 0:
        os.close(ring)
        return None
    return uring_problem(ctypes.get_errno())


def uring_problem(number: int) -> Problem:
    """The problem that an error number of io_uring_setup stands for."""
    reason = REASONS.get(number) or Reason(f"{os.strerror(number).lower()} ({errno.errorcode.get(number, number)})", "")
    return Problem(f"io_uring cannot be used: {reason.what}", hint=reason.hint or None, code="io-uring")
