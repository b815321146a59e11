"""What a person wrote after `--volume` in, mounts out; and the two caches that every container keeps."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple

from lilserve.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Where the image keeps models and compiled kernels (Dockerfile).
MODELS = "/var/cache/lil-serve/models"
KERNELS = "/var/cache/lil-serve/kernels"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_MODES = {"": False, "rw": False, "ro": True}


class Mount(NamedTuple):
    """A named volume, or a directory of the host where `source` is a path."""

    source: str
    target: str
    read_only: bool = False

    @property
    def bind(self) -> bool:
        return self.source.startswith("/")

    def text(self) -> str:
        """`source:target[:ro]`."""
        return f"{self.source}:{self.target}" + (":ro" if self.read_only else "")


def read_mounts(texts: Iterable[str], kernels: str, blocks: str | None, problems: list[Problem]) -> tuple[Mount, ...]:
    """The mounts that were asked for over the caches; one that holds a cache's place stands for it.

    `kernels` is the volume of compiled kernels, `blocks` the directory of a cache's disk tier. That one is made by the
    cache itself, with a mode of its own, so the volume is mounted above it.
    """
    asked = [mount for text in texts if (mount := _read(text, problems))]
    problems += _twice(asked)
    caches = [Mount("lil-serve-models", MODELS), Mount(kernels, KERNELS)]
    above = posixpath.dirname(posixpath.normpath(blocks)) if blocks else "/"
    if above != "/":
        caches.append(Mount("lil-serve-blocks", above))
    return (*(mount for mount in caches if not held(mount.target, asked)), *asked)


def held(path: str, mounts: Iterable[Mount]) -> bool:
    """Whether a path of the container lies on one of the mounts."""
    return any(path == mount.target or path.startswith(mount.target.rstrip("/") + "/") for mount in mounts)


def _read(text: str, problems: list[Problem]) -> Mount | None:
    source, _, rest = text.partition(":")
    target, _, mode = rest.partition(":")
    found = len(problems)
    if text.startswith("~"):
        problems.append(_problem(f"{text!r}: only a shell knows ~", f'--volume "$HOME{text[1:]}"'))
    elif not source.startswith("/") and not _NAME.fullmatch(source):
        hint = f'--volume "$PWD/{text.removeprefix("./")}"'
        problems.append(_problem(f"{text!r}: {source!r} is neither an absolute path nor the name of a volume", hint))
    if not target.startswith("/"):
        problems.append(_problem(f"{text!r}: the place in the container is not absolute", f"--volume {source}:/data"))
    if mode not in _MODES:
        problems.append(_problem(f"{text!r}: unknown mode {mode!r}", f"--volume {source}:{target}:ro"))
    if not text.isprintable():
        problems.append(_problem(f"{text!r} holds a character that no mount can have", "--volume /models:/models"))
    return Mount(source, target.rstrip("/") or "/", _MODES[mode]) if len(problems) == found else None


def _twice(mounts: Sequence[Mount]) -> list[Problem]:
    targets = [mount.target for mount in mounts]
    twice = sorted({target for target in targets if targets.count(target) > 1})
    return [_problem(f"two volumes are mounted on {target}", "one of them elsewhere") for target in twice]


def _problem(what: str, hint: str) -> Problem:
    return Problem(f"--volume {what}", None, "SOURCE:TARGET[:ro]", hint, code="mount")
