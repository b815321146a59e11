"""The command `lil-serve`: arguments and the world in, text, a status or the engine itself out."""

from __future__ import annotations

import gc
import os
import sys

STDOUT = 1


def entry() -> None:
    """The console script: run the command and end the process with its status.

    A printed plan is a process of a tenth of a second: collecting garbage and taking the interpreter apart at its end
    would be a sixth of that, so neither is done.
    """
    gc.disable()
    _open_streams()
    from lilserve.cli.main import main  # noqa: PLC0415 -- imported without the collector looking on

    status = main()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            status = status or 1
    os._exit(status)


def _open_streams() -> None:
    """Stand in for streams that were closed: no file of ours may get their numbers, and lost output is an error."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR if number != STDOUT else os.O_RDONLY)
    if sys.stdout is None:
        sys.stdout = open(STDOUT, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 -- open as long as the process
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 -- as above
