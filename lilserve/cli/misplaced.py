"""Words in the wrong place in; the problem, and the whole command as it should be typed, out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lilserve.cli.main import LAUNCH, VERBS, lil_serve
from lilserve.cli.selecting import SEPARATOR, split
from lilserve.cli.separating import catalogs, meaning, own_flags, pasted, policies_in, separated
from lilserve.documents.library import open_library
from lilserve.errors import LilServeError, Problem, nearest
from lilserve.resolution.selection import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HELP = "lil-serve --help"


def unknown_verb(args: Sequence[str], at: int) -> Problem:
    """The problem of a word that is no verb, where one would stand; `at` is its place in the command line."""
    word, rest = args[at], [*args[:at], *args[at + 1 :]]
    verbs = [name for name in VERBS if name != LAUNCH]
    near = nearest(word, verbs)
    if near is not None:
        hint = _with_verb(near, rest)
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
    hint = _with_verb(verb, [*args[:at], *args[at + 1 :]])
    return Problem(f"the verb stands first: {verb}", None, "lil-serve VERB ...", hint, code="usage")


def _with_verb(verb: str, rest: Sequence[str]) -> str:
    """The command with its verb in front; the help of the verb where that takes other options."""
    flags = own_flags(_command(verb))
    odd = [word for word in split(list(rest))[0] if word.startswith("-") and word.partition("=")[0] not in flags]
    return f"lil-serve {verb} --help" if odd else pasted([verb, *rest])


def usage(error: click.ClickException, args: Sequence[str]) -> Problem:
    """What click found wrong, in our words."""
    message = error.format_message().rstrip(".")
    verb = f"{args[0]} " if args and args[0] in VERBS else ""
    if not isinstance(error, click.NoSuchOption):
        return Problem(message[:1].lower() + message[1:], hint=f"lil-serve {verb}--help", code="usage")
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
    theirs = nearest(flag, sorted({one for catalog in known for one in catalog.spellings})) if near is None else None
    if theirs is not None:
        return Problem(told, hint=f"did you mean {theirs}, behind --?", code="usage")
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


def _command(verb: str) -> click.Command:
    command = lil_serve.get_command(click.Context(lil_serve), verb)
    assert command is not None  # noqa: S101 -- a name of VERBS
    return command
