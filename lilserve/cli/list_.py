"""`list`: the documents one can name, with their titles."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import click

from lilserve.cli.reading import policies
from lilserve.documents.library import open_library

if TYPE_CHECKING:
    from collections.abc import Callable

    from lilserve.documents.library import Library
    from lilserve.documents.model import Document


def _asked(document: Document) -> str:
    if "cache-mode" in document.data:
        return f"by cache-mode {document.data['cache-mode']}"
    return "by itself" if "when" in document.data else "by --overlay"


# What is listed, the kind of its documents, and the columns beside id and title.
SECTIONS: dict[str, tuple[str, dict[str, Callable[[Document], Any]]]] = {
    "profiles": (
        "profile",
        {
            "engine": lambda document: document.data.get("engine", ""),
            "checkpoints": lambda document: sorted(document.data.get("checkpoints") or ()),
            "modes": lambda document: sorted(document.data.get("modes") or ()),
        },
    ),
    "hardware": ("hardware", {"class": lambda document: document.data.get("extends", "")}),
    "overlays": ("overlay", {"applies": _asked}),
    "presets": (
        "preset",
        {
            "profile": lambda document: document.data.get("profile", ""),
            "hardware": lambda document: document.data.get("hardware", ""),
        },
    ),
    "engines": ("engine", {"catalog": lambda document: document.data.get("catalog", "")}),
}


@click.command()
@click.argument("section", type=click.Choice(list(SECTIONS)), required=False)
@click.option("--policy", metavar="DIR", multiple=True, help="A directory of your documents; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(section: str | None, policy: tuple[str, ...], *, as_json: bool) -> None:
    """List profiles, hardware, overlays, presets and engines."""
    library = open_library(policies(policy, os.environ))
    chosen = [section] if section else list(SECTIONS)
    if as_json:
        click.echo(json.dumps({name: list(_rows(library, name)) for name in chosen}, indent=2, ensure_ascii=False))
        return
    for name in chosen:
        click.echo(_table(name, list(_rows(library, name))))


def _rows(library: Library, section: str) -> Any:
    kind, columns = SECTIONS[section]
    for document in library.all(kind):
        if not document.data.get("abstract"):
            more = {column: read(document) for column, read in columns.items()}
            yield {"id": document.id, "title": document.data.get("title", ""), **more, "path": document.path}


def _table(title: str, rows: list[dict[str, Any]]) -> str:
    width = max((len(row["id"]) for row in rows), default=0)
    lines = [f"  {row['id']:<{width}}  {row['title']}" for row in rows]
    return "\n".join([title, *lines])
