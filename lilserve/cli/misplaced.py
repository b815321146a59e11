"""Words in the wrong place in; the problem, and the whole command as it should be typed, out."""

from __future__ import annotations

import os
import re
import shlex
from itertools import pairwise
from typing import TYPE_CHECKING

import click

from lilserve.cli.main import LAUNCH, VERBS, lil_serve
from lilserve.cli.selecting import SEPARATOR, split
from lilserve.documents.library import open_library
from lilserve.engine.canonical import Meant, canonical
from lilserve.engine.catalog import catalog_of
from lilserve.errors import ConfigurationError, LilServeError, Problem, nearest
from lilserve.plan.redact import redact_argv, redact_message, secrets_of
from lilserve.resolution.selection import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lilserve.engine.catalog import Catalog

HELP = "lil-serve --help"


def unknown_verb(args: Sequence[str], at: int) -> Problem:
    """The problem of a word that is no verb, where one would stand; `at` is its place in the command line."""
    word, rest = args[at], [*args[:at], *args[at + 1 :]]
    verbs = [name for name in VERBS if name != LAUNCH]
    near = nearest(word, verbs)
    if near is not None:
        hint = pasted([near, *rest])
    elif "--profile" not in args and word in listed(open_library(), "profile"):
        hint = pasted(["--profile", word, *rest])
    else:
        hint = HELP
    return Problem(f"unknown verb {word!r}", None, ", ".join(verbs), hint, code="usage")


def stray(words: Sequence[str], args: Sequence[str]) -> Problem:
    """The problem of words that no option takes, in a launch: a verb that does not stand first, or no verb at all."""
    verb = next((word for word in words if word in VERBS), None)
    if verb is None:
        return unknown_verb(args, args.index(words[0]))
    at = args.index(verb)
    hint = pasted([verb, *args[:at], *args[at + 1 :]])
    return Problem(f"the verb stands first: {verb}", None, "lil-serve VERB ...", hint, code="usage")


def usage(error: click.ClickException, args: Sequence[str]) -> Problem:
    """What click found wrong, in our words."""
    message = error.format_message().rstrip(".")
    if not isinstance(error, click.NoSuchOption):
        return Problem(message[:1].lower() + message[1:], code="usage")
    command = error.ctx.command if error.ctx else lil_serve
    own, engine = split(list(args))
    if own and own[0].startswith("-") and (words := [word for word in _stray_words(own, command) if word in VERBS]):
        return stray(words, own)
    known = catalogs(policies_in(own))
    kept, moved = separated(own, own_flags(command), known)
    flag = _typed(error.option_name, own)
    told = f"no such option: {flag}"
    if moved and (flag in moved or any(token.startswith(flag + "=") for token in moved)):
        if kept[:1] == ["explain"] and not _stray_words(kept[1:], command):
            kept.insert(1, flag)  # without a name there is nothing to explain
        hint = pasted([*kept, SEPARATOR, *moved, *engine])
        return Problem(f"{told}; engine options stand after --", hint=hint, code="usage")
    if meaning(flag, known) is not None:
        return Problem(f"{told}; engine options stand after --", hint=f"-- {flag}", code="usage")
    near = next(iter(error.possibilities or ()), None)
    verb = f"{args[0]} " if args and args[0] in VERBS else ""
    return Problem(told, hint=f"did you mean {near}?" if near else f"lil-serve {verb}--help", code="usage")


def _stray_words(own: Sequence[str], command: click.Command) -> list[str]:
    """The words that are no flag and no value of a flag of the command."""
    stay, _ = separated(own, {}, [], own_flags(command))
    return [word for word in stay if not word.startswith("-")]


def _typed(name: str, own: Sequence[str]) -> str:
    """The flag as it was typed: click reads `-tp` letter by letter and complains of `-t`."""
    if name.startswith("--"):
        return name
    return next((token.partition("=")[0] for token in own if token.startswith(name)), name)


def sharpened(error: LilServeError, args: Sequence[str]) -> LilServeError:
    """The same error, where the command line tells more of its problems than the stage that found them could."""
    told = [SHARPER[one.code](one, args) if one.code in SHARPER and one.at is None else one for one in error.problems]
    return type(error)(*told)


def _unknown_option(problem: Problem, args: Sequence[str]) -> Problem:
    return _own_option(problem.what.partition(" ")[0], args) or problem


def _no_profile(problem: Problem, args: Sequence[str]) -> Problem:
    return _own_option("--profile", args) or problem if "--profile" in split(list(args))[1] else problem


def _own_option(flag: str, args: Sequence[str]) -> Problem | None:
    """The problem of an option of ours behind `--`."""
    verb = args[0] if args and args[0] in VERBS else LAUNCH
    mine, all_mine = (own_flags(_command(name)) for name in (verb, LAUNCH))
    if flag not in mine and flag not in all_mine:
        return None
    own, engine = split(list(args))
    theirs, ours = separated(engine, {}, [], mine)
    known = flag in mine and any(token.partition("=")[0] == flag for token in ours)
    rest = [SEPARATOR, *theirs] if theirs else []
    hint = pasted([*own, *ours, *rest]) if known else f"lil-serve {args[0]} --help"
    return Problem(f"{flag} is an option of lil-serve, which stands before --", hint=hint, code="usage")


def _positional(problem: Problem, _: Sequence[str]) -> Problem:
    return (
        Problem("an empty argument where an option is wanted", code="positional") if "''" in problem.what else problem
    )


def _no_model(problem: Problem, args: Sequence[str]) -> Problem:
    return problem if SEPARATOR in args else problem._replace(hint=f"{SEPARATOR} {problem.hint}")


# Codes of problems that the command line knows more about, and what it makes of them.
SHARPER: dict[str, Callable[[Problem, Sequence[str]], Problem]] = {
    "unknown-option": _unknown_option,
    "no-profile": _no_profile,
    "positional": _positional,
    "no-model": _no_model,
}


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


def _command(verb: str) -> click.Command:
    command = lil_serve.get_command(click.Context(lil_serve), verb)
    assert command is not None  # noqa: S101 -- a name of VERBS
    return command


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
    found = []
    for document in library.all("engine"):
        try:
            found.append(catalog_of(library.chain("engine", document.id)))
        except ConfigurationError:
            continue  # a class of engines without a catalog of its own
    return found


def pasted(args: Sequence[str]) -> str:
    """The command with these arguments as a shell takes it, without its secrets."""
    secrets = secrets_of(args, os.environ)
    return shlex.join(["lil-serve", *(redact_message(word, secrets) for word in redact_argv(args))])
