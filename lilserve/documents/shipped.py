"""The files that travel with the package, found from a checkout, an installed wheel and a zipped wheel."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TREES = ("profiles", "hardware", "overlays")
ENGINES = "engine/engines"


def package_file(name: str) -> bytes:
    """The bytes of one file of the package, `name` relative to it. Raises OSError when there is none."""
    # The loader reads from a folder and from a zipped wheel alike; pkgutil would import much to ask it the same.
    data: bytes = __loader__.get_data(os.path.join(PACKAGE, *name.split("/")))  # type: ignore[name-defined]  # set by the import system
    return data


def shipped_files() -> Iterator[tuple[str, bytes]]:
    """Every shipped document as (the path messages show, bytes), in a fixed order."""
    if not os.path.isdir(PACKAGE):
        yield from _zipped_files()
        return
    inside = os.path.join(PACKAGE, "shipped")
    root = inside if os.path.isdir(inside) else os.path.dirname(PACKAGE)
    for tree in TREES:
        yield from _files(os.path.join(root, tree), tree)
    yield from _files(os.path.join(PACKAGE, *ENGINES.split("/")), "lilserve/" + ENGINES)


def _files(folder: str, shown: str) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _files(entry.path, f"{shown}/{entry.name}")
        elif entry.name.endswith(".yaml"):
            with open(entry.path, "rb") as file:
                yield f"{shown}/{entry.name}", file.read()


def _zipped_files() -> Iterator[tuple[str, bytes]]:
    import zipfile  # noqa: PLC0415 -- only a zipped wheel needs it

    with zipfile.ZipFile(os.path.dirname(PACKAGE)) as archive:
        for name in sorted(archive.namelist()):
            if name.endswith(".yaml") and name.startswith(("lilserve/shipped/", "lilserve/" + ENGINES)):
                yield name.removeprefix("lilserve/shipped/"), archive.read(name)
