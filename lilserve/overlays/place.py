"""Modules of overlays in; the folder that stands in front of the engine's own modules out."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from typing import TYPE_CHECKING

from lilserve.errors import HostError, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

PYTHONPATH = "PYTHONPATH"


def with_modules(environ: Mapping[str, str], files: Mapping[str, str]) -> dict[str, str]:
    """The environment with the modules in front of PYTHONPATH; unchanged when there are none.

    Raises HostError when they cannot be written.
    """
    if not files:
        return dict(environ)
    folder = place(files, environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir())
    behind = environ.get(PYTHONPATH)
    return {**environ, PYTHONPATH: folder + (os.pathsep + behind if behind else "")}


def place(files: Mapping[str, str], root: str) -> str:
    """Write the modules under `root` and return their folder, which is named after what is in it and made once.

    It is private to the user (mode 0700) and appears whole or not at all: a second launch finds it finished.
    """
    digest = hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()
    own = os.path.join(root, f"lil-serve-{os.getuid()}")
    folder = os.path.join(own, digest)
    try:
        os.makedirs(own, mode=0o700, exist_ok=True)
        _refuse_foreign(own)
        if not os.path.isdir(folder):
            _write(files, own, folder)
    except OSError as error:
        what = f"the overlay modules cannot be written to {folder}: {(error.strerror or str(error)).lower()}"
        raise HostError(
            Problem(what, hint="set XDG_RUNTIME_DIR to a folder of your own", code="overlay-files")
        ) from error
    return folder


def _refuse_foreign(own: str) -> None:
    """What the engine imports must be ours: a folder of another user, or one that others can write to, is not."""
    state = os.lstat(own)
    if not os.path.isdir(own) or os.path.islink(own) or state.st_uid != os.getuid() or state.st_mode & 0o022:
        raise HostError(
            Problem(f"{own} is not a private folder of this user", hint=f"remove {own}", code="overlay-files")
        )


def _write(files: Mapping[str, str], own: str, folder: str) -> None:
    building = tempfile.mkdtemp(dir=own)
    try:
        for path, text in files.items():
            target = os.path.join(building, *path.split("/"))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "w", encoding="utf-8") as file:
                file.write(text)
        os.rename(building, folder)
    except OSError:
        shutil.rmtree(building, ignore_errors=True)
        if not os.path.isdir(folder):  # another launch may have been faster, with the same content
            raise
