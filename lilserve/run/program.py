"""A command and an environment in, the file that would be executed out, or the problem with it."""

from __future__ import annotations

import errno
import os
import shutil
from typing import TYPE_CHECKING

from lilserve.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# What execve answers, in the words of who must cure it.
REASONS: dict[int, tuple[str, str]] = {
    errno.ENOENT: ("is not there, or the interpreter that its first line names is not", "check the engine's command"),
    errno.EACCES: ("may not be executed", "chmod +x it, or name another program"),
    errno.EPERM: ("may not be executed", "the file system may be mounted noexec"),
    errno.ENOEXEC: ("is no program of this machine", "it may be built for another architecture"),
    errno.E2BIG: ("got more arguments and environment than the kernel takes", "shorten the environment"),
}


def find_program(argv: Sequence[str], environ: Mapping[str, str]) -> str | None:
    """The path of the program on the PATH that it will itself see, or None."""
    return shutil.which(argv[0], path=environ.get("PATH", os.defpath))


def missing(argv: Sequence[str], what: str) -> Problem:
    """The problem of a program that no directory on the path has."""
    where = "no such executable file" if os.path.dirname(argv[0]) else "it is on no directory of PATH"
    hint = "install it, or name another command in an engine document given with --policy (replaces: true)"
    return Problem(f"{what} cannot be started: {argv[0]}: {where}", hint=hint, code="program")


def failed(argv: Sequence[str], what: str, error: OSError) -> Problem:
    """The problem of a program that the kernel refused to execute."""
    reason, hint = REASONS.get(error.errno or 0, (f"could not be executed ({error.strerror})", "try it by hand"))
    return Problem(f"{what} cannot be started: {argv[0]} {reason}", hint=hint, code="program")
