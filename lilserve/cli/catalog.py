"""`catalog`: what engine builds accept, taken from an installed one or compared."""

from __future__ import annotations

import json
import os
import sys

import click
from click.core import ParameterSource

from lilserve.cli.reading import policies
from lilserve.cli.selecting import completes
from lilserve.documents.library import Library, open_library
from lilserve.engine.catalog import Catalog, catalog_of, observed_catalog
from lilserve.engine.compare import compare, comparison_text
from lilserve.errors import ConfigurationError, Problem, unknown


@click.group(invoke_without_command=True)
@click.option("--from-installed", is_flag=True, help="Ask an installed engine's own parser, and print its catalog.")
@click.option("--python", default=sys.executable, metavar="PROGRAM", help="The interpreter that has the engine.")
@click.option("--id", "identifier", metavar="NAME", default="vllm", show_default=True, help="The name of the catalog.")
@click.pass_context
def command(ctx: click.Context, /, python: str, identifier: str, *, from_installed: bool) -> None:
    """Show what an engine build accepts."""
    if ctx.invoked_subcommand is not None:
        return
    if not from_installed:
        for name, flag in (("identifier", "--id"), ("python", "--python")):
            if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                what = f"{flag} is about an installed engine"
                raise ConfigurationError(Problem(what, hint="lil-serve catalog --from-installed", code="usage"))
        click.echo(ctx.get_help())
        return
    from lilserve.engine.inspect import catalog_from  # noqa: PLC0415 -- starts a child; the other uses need none

    try:
        click.echo(catalog_from(python, identifier), nl=False)
    except ValueError as error:
        hint = "--python /path/to/the/engine's/python"
        raise ConfigurationError(Problem(str(error), hint=hint, code="catalog")) from error


@command.command()
@click.argument("one", metavar="A", shell_complete=completes("catalog"))
@click.argument("other", metavar="B", shell_complete=completes("catalog"))
@click.option("--policy", metavar="DIR", multiple=True, help="A directory of your documents; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def diff(one: str, other: str, policy: tuple[str, ...], *, as_json: bool) -> None:
    """Compare two engines or catalogs: added, removed, retyped, respelled."""
    library = open_library(policies(policy, os.environ))
    data = compare(_catalog(one, library), _catalog(other, library))
    click.echo(json.dumps(data, indent=2, ensure_ascii=False) if as_json else comparison_text(data))


def _catalog(name: str, library: Library) -> Catalog:
    """The catalog of an engine document, or a shipped one by its own name."""
    if ("engine", name) in library.documents:
        return catalog_of(library.chain("engine", name))
    try:
        return observed_catalog(name)
    except OSError as error:
        known = {document.id for document in library.all("engine")} | {
            document.data["catalog"] for document in library.all("engine") if "catalog" in document.data
        }
        raise ConfigurationError(unknown("engine or catalog", name, known)) from error
