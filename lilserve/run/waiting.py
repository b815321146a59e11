"""Signals as a readable descriptor: blocked, queued by the kernel, read when the loop is ready for them."""

from __future__ import annotations

import ctypes
import os
import signal
import struct
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable

STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
HEARD = (*STOPS, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCHLD)
_RECORD = 128  # bytes of one signalfd_siginfo; its first four are the number
_FLAGS = os.O_NONBLOCK | os.O_CLOEXEC  # SFD_NONBLOCK and SFD_CLOEXEC are the same bits


class Signals:
    """Blocks what it hears from the moment it is made until it is closed; `fileno` is readable when one came."""

    def __init__(self) -> None:
        # Under nohup SIGHUP is ignored, and stays so; a shell's ignored SIGINT of a background job is not a wish.
        nohup = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
        heard = [number for number in HEARD if not (nohup and number == signal.SIGHUP)]
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ignored, it would reap our children before we can
        self._before = signal.pthread_sigmask(signal.SIG_BLOCK, heard)
        self._fd = _signalfd(heard)

    def fileno(self) -> int:
        return self._fd

    def read(self) -> list[int]:
        """The numbers that came since, without SIGCHLD, which says only that there is something to reap."""
        numbers: list[int] = []
        while True:
            try:
                record = os.read(self._fd, _RECORD)
            except BlockingIOError:
                return numbers
            number = struct.unpack_from("=I", record)[0]
            if number != signal.SIGCHLD:
                numbers.append(number)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._before)


def _signalfd(numbers: Iterable[int]) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    bits = sum(1 << (number - 1) for number in numbers)
    mask = ctypes.create_string_buffer(struct.pack("=Q", bits), 128)  # a sigset_t of either C library
    fd: int = libc.signalfd(-1, mask, _FLAGS)
    if fd < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"signalfd: {os.strerror(number)}")
    return fd
