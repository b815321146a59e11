"""Lines for a person, on standard error, that never hold the supervisor up."""

from __future__ import annotations

import os
import select
import sys

STDERR = 2
_WHOLE = 4000  # a pipe that is writable takes PIPE_BUF bytes (4096 on Linux) at once, or none


def tell(text: str) -> None:
    """Write one line. A reader that stopped reading or went away loses it: a stop must not wait for a log."""
    line = f"lil-serve: {text}\n".encode("utf-8", "surrogateescape")[:_WHOLE]
    poll = select.poll()
    try:
        sys.stderr.flush()
        poll.register(STDERR, select.POLLOUT)
        if poll.poll(0):
            os.write(STDERR, line)
    except (OSError, ValueError):
        return
