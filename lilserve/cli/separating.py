"""Words of a command line in; apart by whose they are, and the command put together again, out."""

from __future__ import annotations

import os
import re
import shlex
from itertools import pairwise
from typing import TYPE_CHECKING

import click

from lilserve.documents.library import open_library
from lilserve.engine.canonical import Meant, canonical
from lilserve.engine.catalog import catalogs_of
from lilserve.errors import ConfigurationError
from lilserve.plan.redact import redact_argv, redact_message, secrets_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lilserve.engine.catalog import Catalog


def separated(
    words: Sequence[str],
    flags: dict[str, bool],
    known: Sequence[Catalog],
    wanted: dict[str, bool] | None = None,
) -> tuple[list[str], list[str]]:
    """Words apart: what stays, and engine options with their values, or the flags in `wanted` with theirs.

    `flags` and `wanted` say of each flag whether it takes a value.
    """
    stay: list[str] = []
    move: list[str] = []
    rest = list(words)
    while rest:
        token = rest.pop(0)
        flag, equals, _ = token.partition("=")
        values = 0
        if wanted is not None:
            into = move if flag in wanted else stay
            values = int(wanted.get(flag, False))
        elif flag in flags or (arity := meaning(flag, known)) is None:
            into = stay
            values = int(flags.get(flag, False))
        else:
            into = move
            values = arity
        into.append(token)
        while rest and not equals and values and not re.match(r"-(?![\d.])", rest[0]):
            into.append(rest.pop(0))
            values -= 1
    return stay, move


def own_flags(command: click.Command) -> dict[str, bool]:
    """The flags of a command, each with whether it takes a value."""
    options = [one for one in command.params if isinstance(one, click.Option)]
    found = {flag: not one.is_flag for one in options for flag in (*one.opts, *one.secondary_opts)}
    return found | {"--help": False, "-h": False}


def meaning(flag: str, known: Sequence[Catalog]) -> int | None:
    """How many values a flag takes as an option of any engine; None where no engine has it."""
    if not flag.startswith("-"):
        return None
    for catalog in known:
        meant = canonical(flag, catalog)
        if isinstance(meant, Meant):
            arity = catalog.spec(meant.name).arity
            return 1 if meant.fields else 0 if meant.negative else {"?": 1, "*": 99, "+": 99}.get(arity) or int(arity)
    return None


def policies_in(own: Sequence[str]) -> tuple[str, ...]:
    """The policy directories that words and the environment name."""
    named = [value for flag, value in pairwise(own) if flag == "--policy"]
    joined = [word.partition("=")[2] for word in own if word.startswith("--policy=")]
    return (*filter(None, os.environ.get("LIL_SERVE_POLICY", "").split(os.pathsep)), *named, *joined)


def catalogs(directories: tuple[str, ...] = ()) -> list[Catalog]:
    """What every engine accepts that one can name."""
    try:
        library = open_library(directories)
    except ConfigurationError:
        library = open_library()
    return catalogs_of(library)


def pasted(args: Sequence[str]) -> str:
    """The command with these arguments as a shell takes it, without its secrets."""
    secrets = secrets_of(args, os.environ)
    return shlex.join(["lil-serve", *(redact_message(word, secrets) for word in redact_argv(args))])
