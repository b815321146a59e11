"""The engine's program in, the release that lies beside it out: read from metadata, nothing of it imported."""

from __future__ import annotations

import os
import re
import shutil

_METADATA = r"vllm-(?P<release>[0-9][^-]*)\.dist-info\Z"


def installed_release(program: str, path: str | None) -> str | None:
    """The version of `vllm` in the environment that `program` stands in, looked up on `path`; None when untold."""
    found = shutil.which(program, path=path)
    if found is None:
        return None
    prefix = os.path.dirname(os.path.dirname(os.path.abspath(found)))
    for folder in ("lib", "lib64"):
        libraries = os.path.join(prefix, folder)
        for python in _names(libraries, "python3"):
            for name in _names(os.path.join(libraries, python, "site-packages"), "vllm-"):
                matched = re.match(_METADATA, name)
                if matched is not None:
                    return matched["release"]
    return None


def mismatch(release: str | None, expected: str) -> str | None:
    """What to say of an installed release that is not the catalog's; local parts (`+cpu`) do not count."""
    if release is None or release.partition("+")[0] == expected.partition("+")[0]:
        return None
    return f"vLLM {release} is installed, but the plan was checked against the catalog of {expected}"


def _names(folder: str, prefix: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.startswith(prefix))
    except OSError:
        return []
