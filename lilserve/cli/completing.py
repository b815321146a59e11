"""A half-typed word and what stands before it in; the names it may become out."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from click.shell_completion import CompletionItem

from lilserve.cli.main import LAUNCH, VERBS, lil_serve
from lilserve.cli.reading import policies
from lilserve.cli.separating import catalogs
from lilserve.documents.library import Library, open_library
from lilserve.engine.catalog import Catalog, catalog_of
from lilserve.errors import ConfigurationError
from lilserve.resolution.selection import COMMON, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import click


def first_word(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """The verbs, or the options of a launch."""
    if incomplete.startswith("-"):
        launch = lil_serve.get_command(ctx, LAUNCH)
        if launch is not None:
            with launch.make_context(LAUNCH, [], parent=ctx, resilient_parsing=True) as inner:
                return launch.shell_complete(inner, incomplete)
    return [
        CompletionItem(name, help=verb.help)
        for name, verb in VERBS.items()
        if name != LAUNCH and name.startswith(incomplete)
    ]


def names(what: str, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """The names of one row of NAMES that begin so; none where the documents cannot be read."""
    try:
        library = open_library(policies(ctx.params.get("policy") or (), os.environ))
        found = NAMES[what](library, ctx)
        return [CompletionItem(name) for name in dict.fromkeys(found) if name.startswith(incomplete)]
    except ConfigurationError:
        return []


def _opt_in(library: Library, _: click.Context) -> Iterator[str]:
    """The overlays that apply only when asked for."""
    for document in library.all("overlay"):
        if "when" not in document.data and "cache-mode" not in document.data:
            yield document.id


def _catalogs(library: Library, ctx: click.Context) -> list[Catalog]:
    """What the engine of the selected profile accepts; of all engines where no profile, or an unknown one, is named."""
    name = ctx.params.get("profile") or os.environ.get("LIL_SERVE_PROFILE")
    if ("profile", name) in library.documents:
        chain = [library.get("profile", COMMON), *library.chain("profile", str(name))]
        engines = [document.data["engine"] for document in chain if "engine" in document.data]
        if engines:
            return [catalog_of(library.chain("engine", engines[-1]))]
    return catalogs(tuple(policies(ctx.params.get("policy") or (), os.environ)))


def _tokens(library: Library, ctx: click.Context) -> Iterator[str]:
    """What may stand behind `--`: nothing before it was typed."""
    if ctx.meta["separated"]:
        for catalog in _catalogs(library, ctx):
            yield from sorted(flag for flag in catalog.spellings if flag.startswith("--"))


def _options(library: Library, ctx: click.Context) -> Iterator[str]:
    """Option names as `explain` takes them, or behind `--` what may stand there."""
    if ctx.meta["separated"]:
        yield from _tokens(library, ctx)
        return
    for catalog in _catalogs(library, ctx):
        yield from sorted(catalog.names())


def _engines(library: Library, _: click.Context) -> Iterator[str]:
    yield from (document.id for document in library.all("engine"))


def _engines_and_catalogs(library: Library, ctx: click.Context) -> Iterator[str]:
    yield from _engines(library, ctx)
    yield from (document.data["catalog"] for document in library.all("engine") if "catalog" in document.data)


def _listed(kind: str) -> Callable[[Library, click.Context], Iterable[str]]:
    return lambda library, _: listed(library, kind)


NAMES: dict[str, Callable[[Library, click.Context], Iterable[str]]] = {
    "profile": _listed("profile"),
    "hardware": _listed("hardware"),
    "preset": _listed("preset"),
    "overlay": _opt_in,
    "engine": _engines,
    "catalog": _engines_and_catalogs,
    "option": _options,
    "token": _tokens,
}
