"""The tokens after `--` in; the strongest layer out: engine options in every spelling, and controls."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

from lilserve.engine.canonical import Meant, canonical, glued
from lilserve.engine.check import unpassable
from lilserve.engine.values import WrongValueError, read, read_field
from lilserve.errors import Problem
from lilserve.keypath import flatten, related
from lilserve.layers.documents import two_spellings
from lilserve.layers.layer import Assignment, Layer, Rank
from lilserve.origin import Written

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lilserve.engine.catalog import Catalog, Spec

ORIGIN = "cli"
_NEGATIVE_NUMBER = r"-\d|-\.\d"


@dataclass(slots=True, eq=False, repr=False)
class _Said:
    """One flag with its values as they stood on the command line."""

    flag: str
    meant: Meant
    texts: list[str]


@dataclass(slots=True, eq=False, repr=False)
class CommandLine:
    """What the tokens say: the layer, its problems, and with `--allow-unknown` the tokens no catalog knows."""

    layer: Layer = field(default_factory=Layer)
    problems: list[Problem] = field(default_factory=list)
    unknown: list[tuple[str, ...]] = field(default_factory=list)


def read_flags(tokens: Sequence[str], catalog: Catalog, *, allow_unknown: bool = False) -> CommandLine:
    """Read engine options and controls; every problem is collected, none raised."""
    result = CommandLine()
    result.problems = [Problem(f"{token!r} {why}", code="unpassable") for token in tokens if (why := unpassable(token))]
    if result.problems:
        return result
    said: dict[tuple[str, tuple[str, ...]], list[_Said]] = {}
    rest = list(tokens)
    while rest:
        one = _next(rest, catalog, result, allow_unknown=allow_unknown)
        if one is not None:
            said.setdefault((one.meant.name, one.meant.fields), []).append(one)
    roots = [a for (name, fields), all_of in said.items() if not fields for a in _root(name, all_of, catalog, result)]
    fields = [a for (name, path), all_of in said.items() if path for a in _field(name, path, all_of, result)]
    result.problems += _overlapping(fields)
    result.layer = Layer((*roots, *fields), ())
    return result


def _overlapping(fields: Sequence[Assignment]) -> Iterator[Problem]:
    """Dotted fields of which one stands inside another and says something else: their order must decide nothing."""
    for one, other in combinations(fields, 2):
        if one.name == other.name and related(one.path, other.path) and one.written.value != other.written.value:
            spellings = [f"--{'.'.join((a.name, *a.path))}={json.dumps(a.written.value)}" for a in (one, other)]
            yield two_spellings(one.name, spellings)


def _next(rest: list[str], catalog: Catalog, result: CommandLine, *, allow_unknown: bool) -> _Said | None:
    token = rest.pop(0)
    if not token.startswith("-") or len(token) == 1 or re.match(_NEGATIVE_NUMBER, token):
        result.problems.append(_positional(token))
        return None
    flag, equals, text = token.partition("=")
    if re.search(r"\s", flag):
        flag, value = re.split(r"\s+", token.strip(), maxsplit=1)
        result.problems.append(
            Problem(
                f"one token holds a flag and a value: {token!r}",
                None,
                "two tokens",
                f"{flag} {value}",
                code="one-token",
            )
        )
        return None
    meant = canonical(flag, catalog)
    if isinstance(meant, Problem) and (parts := glued(token, catalog)) is not None:
        flag, equals, text = parts[0], "=", parts[1]
        meant = canonical(flag, catalog)
    if isinstance(meant, Problem):
        values = [] if equals else _take(rest, "*" if allow_unknown else "1")
        if allow_unknown:
            result.unknown.append((token, *values))
        else:
            result.problems.append(meant)
        return None
    spec = catalog.spec(meant.name)
    if equals:
        values = [text]
    elif meant.fields:
        values = _take(rest, "1")
    else:
        values = _take(rest, "0" if meant.negative else spec.arity)
    problem = _count(flag, meant, spec, values, equals=bool(equals))
    if problem is not None:
        result.problems.append(problem)
        return None
    return _Said(flag, meant, values)


def _take(rest: list[str], arity: str) -> list[str]:
    """The values that follow a flag, taken off `rest` as argparse would."""
    limit = {"0": 0, "1": 1, "?": 1, "*": len(rest), "+": len(rest)}.get(arity) or (
        int(arity) if arity.isdigit() else 0
    )
    taken: list[str] = []
    while (
        rest
        and len(taken) < limit
        and (not rest[0].startswith("-") or len(rest[0]) == 1 or re.match(_NEGATIVE_NUMBER, rest[0]))
    ):
        taken.append(rest.pop(0))
    return taken


def _count(flag: str, meant: Meant, spec: Spec, values: list[str], *, equals: bool) -> Problem | None:
    if not meant.fields and (meant.negative or spec.arity == "0"):
        if equals:
            other = spec.negative[0] if spec.negative and not meant.negative else None
            return Problem(f"{flag} takes no value", None, " or ".join(filter(None, (flag, other))), code="arity")
        return None
    if meant.fields and spec.type != "json":
        return Problem(f"{flag}: {spec.name} has no fields", None, spec.name, code="arity")
    if not values and not (spec.arity in ("?", "*") and not meant.fields):
        return Problem(f"{flag} needs a value", None, hint=f"{flag} VALUE", code="arity")
    wanted = int(spec.arity) if spec.arity.isdigit() and spec.many and not meant.fields else None
    if wanted is not None and len(values) != wanted:
        return Problem(f"{flag} needs {wanted} values, not {len(values)}", code="arity")
    return None


def _positional(token: str) -> Problem:
    if token.lower() in ("true", "false"):
        return Problem(
            f"a value without a flag: {token!r}; a switch takes no value",
            None,
            "--name or --no-name",
            code="positional",
        )
    return Problem(
        f"a value without a flag: {token!r}", None, "options and controls", f"--model {token}", code="positional"
    )


def _root(name: str, all_of: list[_Said], catalog: Catalog, result: CommandLine) -> Iterator[Assignment]:
    spec = catalog.spec(name)
    values = []
    for one in all_of:
        try:
            values.append(False if one.meant.negative else True if spec.arity == "0" else read(spec, one.texts))
        except WrongValueError as error:
            result.problems.append(error.problem(one.flag, None))
            return
    if spec.append:
        values = [[item for value in values for item in (value if isinstance(value, list) else [value])]]
    if any(value != values[0] for value in values):
        result.problems.append(two_spellings(name, [" ".join((one.flag, *one.texts)) for one in all_of]))
        return
    for path, leaf in flatten(values[0]):
        yield Assignment(name, path, Written(leaf, ORIGIN, None, Rank.CLI), whole=True)


def _field(name: str, path: tuple[str, ...], all_of: list[_Said], result: CommandLine) -> Iterator[Assignment]:
    values: list[Any] = [read_field(one.texts[0]) for one in all_of if not one.meant.append]
    appended: list[Any] = [item for one in all_of if one.meant.append for item in _items(one.texts[0])]
    if any(value != values[0] for value in values) or (values and appended):
        result.problems.append(
            two_spellings(".".join((name, *path)), [" ".join((one.flag, *one.texts)) for one in all_of])
        )
        return
    value = values[0] if values else appended
    for inner, leaf in flatten(value):
        yield Assignment(name, (*path, *inner), Written(leaf, ORIGIN, None, Rank.CLI))


def _items(text: str) -> list[Any]:
    """The items that `key+` appends: a JSON list, or texts between commas as the engine splits them."""
    value = read_field(text)
    return value if isinstance(value, list) else [read_field(part) for part in text.split(",")]
