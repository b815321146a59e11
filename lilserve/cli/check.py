"""`check`: every rule compiled and every launch resolved, before anybody needs one."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from lilserve.cli.reading import policies, read_facts
from lilserve.cli.selecting import completes
from lilserve.documents.library import open_library
from lilserve.errors import ConfigurationError, Problem, refuse
from lilserve.lint.check import Report, check, within
from lilserve.lint.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lilserve.documents.library import Library
    from lilserve.lint.launches import Launch


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--engine", metavar="NAME", shell_complete=completes("engine"), help="Resolve all profiles for another engine."
)
@click.option("--facts", "facts_file", metavar="FILE", help="Facts of a host; without them facts are unknown.")
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="The form of the report.",
)
def command(paths: tuple[str, ...], engine: str | None, facts_file: str | None, form: str) -> int:
    r"""Check documents: those in the files and directories of PATH, or without one the shipped ones.

    Every expression is compiled, every name it reads looked up, and every profile x hardware x cache mode x mode
    resolved. The status is 2 when anything is wrong.

    \b
    lil-serve check my-policy --format sarif
    lil-serve check --engine vllm        what breaks if every profile moves to that engine
    """
    facts = read_facts(facts_file) if facts_file else {}
    directories = [*policies((), os.environ), *paths]
    try:
        library = open_library(directories)
    except ConfigurationError as error:
        report = Report(list(error.problems), 0, [])
    else:
        refuse(_without_documents(paths, library))
        report = check(library, facts, engine=engine, own=paths, progress=_progress if sys.stderr.isatty() else None)
    click.echo(FORMATS[form](report))
    return ConfigurationError.exit_code if report.problems else 0


def _without_documents(paths: tuple[str, ...], library: Library) -> Iterator[Problem]:
    for path in paths:
        if not any(within(document.path, (path,)) for document in library.documents.values()):
            yield Problem(f"no document in {path!r}", None, "files that end in .yaml or .yml", code="policy")


def _progress(launch: Launch) -> None:
    """One line that keeps changing: a check of everything takes some seconds."""
    click.echo(f"\r\x1b[K{launch.name}", nl=False, err=True)
