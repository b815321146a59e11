"""The engine's output passed on byte for byte, so that its phases can be read on the way. It never blocks."""

from __future__ import annotations

import os
import select
from typing import TYPE_CHECKING

from lilserve.run.phases import Phases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_READ = 65536
_WRITE = select.PIPE_BUF  # a sink that polls writable takes this much at once


class Stream:
    """One output: a pipe that the engine writes, the descriptor of ours that it goes to, and what is under way.

    While our reader does not read, nothing is taken from the engine either: it meets the same full pipe that it would
    meet without us. A reader that is gone costs the bytes, never the engine.
    """

    def __init__(self, sink: int) -> None:
        self._source, self.given = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._source, False)
        self.sink = sink
        self.waiting = b""
        self.ended = False

    def interest(self) -> tuple[int, int]:
        """What to poll: the sink while something waits for it, the engine's pipe otherwise."""
        return (self.sink, select.POLLOUT) if self.waiting else (self._source, select.POLLIN)

    def pump(self) -> bytes:
        """Do one step of what `interest` polled for, and return what was read by it."""
        if self.waiting:
            self._write()
            return b""
        try:
            self.waiting = os.read(self._source, _READ)
        except BlockingIOError:
            return b""
        self.ended = not self.waiting
        return self.waiting

    def _write(self) -> None:
        try:
            self.waiting = self.waiting[os.write(self.sink, self.waiting[:_WRITE]) :]
        except BlockingIOError:
            return
        except OSError:
            self.waiting = b""

    def close(self) -> None:
        os.close(self._source)


class Relay:
    """Both outputs of the engine, where they are no terminal: at one, a person sees the log itself, and in colour."""

    def __init__(self, told: Callable[[str], None]) -> None:
        self._streams: dict[int, Stream] = {}
        self._told = told
        self._phases: Phases | None = Phases()

    def given(self) -> dict[int, int]:
        """Make what the engine gets as descriptors 1 and 2, by number; what is missing it inherits.

        Where both go to one place they stay one, so that their lines keep their order.
        """
        self._streams = {number: Stream(number) for number in _passing()}
        given = {number: stream.given for number, stream in self._streams.items()}
        return given | ({2: given[1]} if 1 in given and _one() else {})

    def handed_over(self) -> None:
        """The engine has its ends: close ours, so that theirs are the last."""
        for stream in self._streams.values():
            os.close(stream.given)

    def interests(self) -> Iterator[tuple[int, int]]:
        return (stream.interest() for stream in self._streams.values() if not stream.ended)

    def pump(self, ready: set[int]) -> None:
        """Pass on what can be passed on at once."""
        for stream in self._streams.values():
            if not stream.ended and stream.interest()[0] in ready:
                read = stream.pump()
                for said in self._phases.read(read) if read and self._phases else ():
                    self._told(f"the engine {said}")

    def served(self) -> None:
        """The start is over: nothing is read any more, only passed on."""
        self._phases = None

    def drain(self, seconds: float) -> None:
        """Pass on what is left when every writer is gone; a reader that takes none of it for so long loses it."""
        poll = select.poll()
        while interests := dict(self.interests()):
            for descriptor, events in interests.items():
                poll.register(descriptor, events)
            ready = {descriptor for descriptor, _ in poll.poll(seconds * 1000)}
            for descriptor in interests:
                poll.unregister(descriptor)
            if not ready:
                return
            self.pump(ready)

    def close(self) -> None:
        for stream in self._streams.values():
            stream.close()
        self._streams = {}


def _passing() -> list[int]:
    """Which of our outputs get a stream."""
    return [number for number in (1, 2) if _passes(number) and not (number == 2 and _one())]  # noqa: PLR2004 -- stderr


def _passes(number: int) -> bool:
    """Whether a descriptor is open and no terminal."""
    try:
        os.fstat(number)
    except OSError:
        return False
    return not os.isatty(number)


def _one() -> bool:
    """Whether both outputs are one file, pipe or socket."""
    try:
        return os.path.sameopenfile(1, 2)
    except OSError:
        return False
