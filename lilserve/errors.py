"""Every way the program refuses: a problem is data, an error is an exit code with its problems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class Problem(NamedTuple):
    """One thing that is wrong: what, where (`path:line:column`), what is allowed, and one hint to paste.

    `rows` are the values that take part, each a name, a value and where it was written; `code` is the stable rule id
    that linters report.
    """

    what: str
    at: str | None = None
    allowed: str | None = None
    hint: str | None = None
    rows: tuple[tuple[str, Any, str], ...] = ()
    code: str = "configuration"


class LilServeError(Exception):
    """A refusal that a person reads: never a traceback. Each class has its own exit code."""

    exit_code = 1
    kind = "failed"

    def __init__(self, *problems: Problem | str) -> None:
        self.problems = tuple(Problem(problem) if isinstance(problem, str) else problem for problem in problems)
        super().__init__("; ".join(problem.what for problem in self.problems))


class ConfigurationError(LilServeError):
    """Usage or configuration: trying again changes nothing, so a restart policy must not."""

    exit_code = 2
    kind = "configuration"


class HostError(LilServeError):
    """A check of this host against the plan failed."""

    exit_code = 3
    kind = "host"


class NotReadyError(LilServeError):
    """Something that was started did not become ready in time."""

    exit_code = 4
    kind = "not ready"


SHORT_LIST = 24  # names that a person still reads


def refuse(problems: Iterable[Problem]) -> None:
    """Raise one `ConfigurationError` with every distinct problem, or return when there is none."""
    distinct = {(problem.what, problem.at): problem for problem in problems}
    if distinct:
        raise ConfigurationError(*distinct.values())


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name a person most likely meant, or None where nothing is close."""
    from difflib import get_close_matches  # noqa: PLC0415 -- only a refusal needs it

    names = list(known)
    longer = [other for other in names if len(name) > 2 and other.startswith(name)]  # noqa: PLR2004 -- two letters begin too much
    return next(iter([*get_close_matches(name, names, n=1, cutoff=0.72), *longer]), None)


def unknown(kind: str, name: str, known: Iterable[str], at: str | None = None, code: str = "unknown-name") -> Problem:
    """The problem of a name nobody knows, with the nearest known one as its hint."""
    names = sorted(known)
    near = nearest(name, names)
    shown = ", ".join(names) if names and len(names) <= SHORT_LIST else None
    return Problem(f"unknown {kind} {name!r}", at, shown, f"did you mean {near}?" if near else None, code=code)
