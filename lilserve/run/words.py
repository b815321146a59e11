"""How a process ended in, one sentence with the usual cause out."""

from __future__ import annotations

import signal

USUAL: dict[int, str] = {
    signal.SIGKILL: "the kernel's OOM killer is the usual sender",
    signal.SIGBUS: "a full /dev/shm is the usual cause",
    signal.SIGSEGV: "a crash in native code",
    signal.SIGILL: "a library built for another processor is the usual cause",
    signal.SIGABRT: "native code gave up; its own last lines say why",
    signal.SIGTERM: "somebody sent it to this process alone",
    signal.SIGINT: "somebody sent it to this process alone",
    signal.SIGHUP: "somebody sent it to this process alone",
}
STATUSES: dict[int, str] = {
    126: "its program may not be executed",
    127: "its program was not found",
}


def signal_name(number: int) -> str:
    """SIGKILL for 9; a number that has no name keeps it."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def how_it_ended(who: str, code: int) -> str:
    """`code` is a status, or minus the signal that ended it."""
    if code < 0:
        how, usual = f"{who} ended by {signal_name(-code)}", USUAL.get(-code)
    else:
        how, usual = f"{who} ended with status {code}", STATUSES.get(code)
    return f"{how}; {usual}" if usual else how
