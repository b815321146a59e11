"""The only place that starts, signals and reaps processes."""

from __future__ import annotations

import ctypes
import os
import signal
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from lilserve.run.events import Ended, Gone
from lilserve.run.processes import descendants

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lilserve.run.events import Event, Side

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
NOT_FOUND = 127
NOT_EXECUTABLE = 126
# What Python ignores, and what a shell ignores for a program that it puts into the background.
RESET = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGCHLD)

_libc = ctypes.CDLL(None, use_errno=True)


def become_subreaper() -> bool:
    """Have orphaned descendants handed to this process. False where the kernel knows no such thing."""
    return bool(_libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


class Hands(NamedTuple):
    """Descriptors that a child has: `kept` as they are, `given` under the number that it knows them by."""

    kept: tuple[int, ...] = ()
    given: Mapping[int, int] = MappingProxyType({})


class Children:
    """The leaders by side, and whether anything of their groups is left."""

    def __init__(self) -> None:
        self._leaders: dict[int, Side] = {}
        self._groups: dict[Side, int] = {}
        self.any_left = False

    def start(self, side: Side, program: str, argv: tuple[str, ...], environ: Mapping[str, str], hands: Hands) -> int:
        """Start a side in a session of its own and return its process id.

        Its signals are as at boot, its input is empty, and it is asked to end when this process dies of SIGKILL.
        """
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            _become(parent, program, argv, environ, hands)
        self._leaders[pid] = side
        self._groups[side] = pid
        self.any_left = True
        return pid

    def reap(self) -> list[Event]:
        """Take in everything that ended, orphans included, and say which leaders ended and which groups are empty."""
        events: list[Event] = []
        self.any_left = True
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self.any_left = False
                break
            if pid == 0:
                break
            if pid in self._leaders:
                events.append(Ended(self._leaders.pop(pid), os.waitstatus_to_exitcode(status)))
        return events + self._empty() + ([] if self.any_left else [Gone(None)])

    def _empty(self) -> list[Event]:
        gone = [side for side, group in self._groups.items() if group not in self._leaders and not _lives(group)]
        for side in gone:
            del self._groups[side]
        return [Gone(side) for side in gone]

    def send(self, side: Side, number: int) -> None:
        """Signal the whole group of a side, stopped processes too; an empty group is no error."""
        if side in self._groups:
            _ignore_gone(os.killpg, self._groups[side], number)
            _ignore_gone(os.killpg, self._groups[side], signal.SIGCONT)

    def send_leader(self, side: Side, number: int) -> None:
        """Signal the leader of a side alone, be it stopped or not."""
        if self._groups.get(side) in self._leaders:
            _ignore_gone(os.kill, self._groups[side], number)
            _ignore_gone(os.kill, self._groups[side], signal.SIGCONT)

    def send_all(self, number: int) -> None:
        """Signal every descendant, wherever it moved: groups and sessions hold nobody back."""
        for pid in descendants(os.getpid()):
            _ignore_gone(os.kill, pid, number)
            _ignore_gone(os.kill, pid, signal.SIGCONT)


def _become(parent: int, program: str, argv: tuple[str, ...], environ: Mapping[str, str], hands: Hands) -> NoReturn:
    """The child's side of a start."""
    status = NOT_EXECUTABLE
    try:
        os.setsid()
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(128 + signal.SIGTERM)
        for number in RESET:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for descriptor in hands.kept:
            os.set_inheritable(descriptor, True)
        for known, descriptor in hands.given.items():
            os.dup2(descriptor, known)
        os.execve(program, argv, environ)  # noqa: S606 -- no shell: the plan's argv is what runs
    except FileNotFoundError:
        status = NOT_FOUND
    except BaseException as error:  # noqa: BLE001 -- a forked child must never return into the parent's code
        os.write(2, f"lil-serve: {program}: {error}\n".encode())
    os._exit(status)


def _ignore_gone(call: Callable[[int, int], None], target: int, number: int) -> None:
    try:
        call(target, number)
    except (ProcessLookupError, PermissionError):
        return  # it ended by itself, or changed its user and is the kernel's to end


def _lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
