"""Every spelling of a flag in; the one canonical option it means out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lilserve.engine.removed import gone, known_gone
from lilserve.errors import Problem, nearest

if TYPE_CHECKING:
    from lilserve.engine.catalog import Catalog


class Meant(NamedTuple):
    """An option, whether false was said, the field inside it, and whether the value is appended to the field's list."""

    name: str
    negative: bool
    fields: tuple[str, ...]
    append: bool


def canonical(flag: str, catalog: Catalog) -> Meant | Problem:
    """What a flag with its dashes (`--a-b`, `--a_b`, `-tp`, `--a.b.c`, `--no-a`, `--a.b+`) means to this engine."""
    append = flag.endswith("+")
    root, *fields = (flag[:-1] if append else flag).split(".")
    found = catalog.spellings.get(root) or catalog.spellings.get(root.replace("_", "-"))
    if found is not None and all(fields) and (fields or not append):
        return Meant(*found, tuple(fields), append)
    return unknown_flag(root, catalog)


def option_name(name: str, catalog: Catalog) -> str | None:
    """The canonical name of an option as documents write it, without dashes in front; None where there is none."""
    if name in catalog:
        return name
    found = catalog.spellings.get("--" + name.replace("_", "-"))
    return found[0] if found is not None and not found[1] else None


def glued(flag: str, catalog: Catalog) -> tuple[str, str] | None:
    """Flag and value of a one-letter flag with its value in the same token (`-O3`, `-O=3`), as argparse takes them."""
    short, value = flag[:2], flag[2:].removeprefix("=")
    return (short, value) if value and not flag.startswith("--") and short in catalog.spellings else None


def unknown_flag(flag: str, catalog: Catalog, at: str | None = None) -> Problem:
    """The problem of a flag this build does not have: gone, moved, or never there, with what to do instead."""
    name = flag.lstrip("-").replace("_", "-")
    shown = flag if flag.startswith("-") else name
    said = catalog.spellings.get("--" + name)
    removed = gone("options", name, catalog)
    if said is not None and said[1]:
        what = f"{name} is how a command line says no: a document says {said[0]}: false"
        return Problem(
            what + (f"; {removed.text}" if removed else ""),
            at,
            hint=removed.hint if removed else f"{said[0]}: false",
            code="negative-name",
        )
    if removed is not None:
        what = f"{shown} is gone from this engine ({catalog.id}): {removed.text}"
        return Problem(what, at, hint=removed.hint, code="removed-option")
    what = f"{shown} is no option of this engine ({catalog.id})"
    near = nearest(name, [*(known.lstrip("-") for known in catalog.spellings), *known_gone("options")])
    meant = gone("options", near, catalog) if near is not None and near not in catalog else None
    if meant is not None:  # a slip in a name that is gone: the nearest name that is there may be its opposite
        return Problem(f"{what}; {near} was one: {meant.text}", at, hint=meant.hint, code="unknown-option")
    dashes = "--" if flag.startswith("-") else ""
    hint = f"did you mean {dashes}{near}?" if near else "--allow-unknown passes on what no catalog knows"
    return Problem(what, at, hint=hint, code="unknown-option")
