"""The command `lil-serve`: arguments and the world in, text, a status or the engine itself out."""

from __future__ import annotations

import gc
import os
import sys


def entry() -> None:
    """The console script: run the command and end the process with its status.

    A printed plan is a process of a tenth of a second: collecting garbage and taking the interpreter apart at its end
    would be a sixth of that, so neither is done.
    """
    gc.disable()
    from lilserve.cli.main import main  # noqa: PLC0415 -- imported without the collector looking on

    status = main()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            status = status or 1
    os._exit(status)
