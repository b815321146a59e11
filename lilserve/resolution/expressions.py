"""Common Expression Language: text in, a compiled expression out, evaluated to a value, an unknown or a failure."""

from __future__ import annotations

import re
from base64 import b64decode
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from cel_expr_python import cel

from lilserve.resolution import functions
from lilserve.resolution.rule_forms import rule_forms

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLES = ("o", "e", "f", "h", "engine", "profile", "explicit")
_READ = r"""\b(o|e|explicit)(?:\[\s*(?:"([^"]*)"|'([^']*)')\s*\]|\.([A-Za-z_]\w*)\b(?!\s*\())"""
_FACT = r"\bf\b\s*[.\[]"
_MISSING = r'NOT_FOUND: Key not found in map : "?([^"]*)"?'
_BARE = r"(?<![.\w])(o|e|explicit)\b(?!\s*[(\w])"
_LITERAL = r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\''


class ExpressionError(ValueError):
    """A text that is not CEL, or names what is not there: the message is one line, without a place."""


class Unknown(NamedTuple):
    """The outcome of an expression that needs a fact nobody knows."""

    fact: str


class Failure(NamedTuple):
    """The outcome of an expression that its values do not fit."""

    message: str


class Expression(NamedTuple):
    """A compiled expression and the names it reads: options, variables, and options asked whether they are explicit."""

    text: str
    compiled: Any
    options: tuple[str, ...]
    variables: tuple[str, ...]
    explicit: tuple[str, ...]
    facts: bool

    @property
    def returns(self) -> str:
        """The type that the checker gave it, such as BOOL or DYN."""
        return str(self.compiled.return_type().name())

    def outcome(self, data: Mapping[str, Any]) -> Any:
        """Its value, `Unknown` or `Failure`. CEL decides what an unknown part leaves of `&&` and `||`."""
        try:
            result = self.compiled.eval(data=data)
        except RuntimeError as error:  # what the runtime itself gives up on: too many iterations, a text that is none
            return Failure(str(error).splitlines()[0].split(": ", 1)[-1])
        kind = result.type().name()
        if kind != "ERROR":
            return _plain(result, kind)
        value = result.plain_value()
        missing = re.match(_MISSING, value)
        if missing is not None:
            return Unknown(missing[1]) if self.facts else Failure(f"there is no {missing[1]!r}")
        return Failure(value.split(": ", 1)[-1].replace("No matching overloads found : ", "cannot compute "))


def _plain(value: Any, kind: str) -> Any:
    """The Python value of a CEL one. The runtime's own conversion gives away a reference to None that it does not own.

    Before Python 3.12, where None became immortal, some thousand nulls read that way end the process.
    """
    if kind == "NULL":
        return None
    if kind.startswith("LIST"):
        return [_plain(item, item.type().name()) for item in value.value()]
    if kind.startswith("MAP"):
        return {key: _plain(item, item.type().name()) for key, item in value.value().items()}
    return value.plain_value()


def _overload(name: str, function: Any, result: Any, *parameters: Any) -> Any:
    return cel.FunctionDecl(name, [cel.Overload(f"{name}_1", result, list(parameters), impl=function)])


@cache
def environment() -> Any:
    """The CEL environment: our variables and functions, made once a process."""
    kind = cel.Type
    mapping = kind.Map(kind.STRING, kind.DYN)
    declared = [
        _overload("rungs", functions.rungs, kind.List(kind.INT), kind.INT, kind.STRING),
        _overload("rows", functions.rows, kind.INT, kind.DYN, kind.DYN),
        _overload("on_grid", functions.on_grid, kind.INT, kind.INT),
        _overload("graph_rows", functions.graph_rows, kind.INT, kind.DYN, kind.DYN),
        _overload("first", functions.first, kind.List(kind.DYN), kind.List(kind.DYN), kind.INT),
        _overload("gib", functions.gib, kind.DOUBLE, kind.INT),
        _overload("kernel_at_least", functions.kernel_at_least, kind.BOOL, kind.STRING, kind.STRING),
        _overload("round", functions.rounded, kind.DOUBLE, kind.DOUBLE, kind.INT),
        _overload("round_down", functions.rounded_down, kind.DOUBLE, kind.DOUBLE, kind.INT),
        _overload("smallest", functions.smallest, kind.DYN, kind.List(kind.DYN)),
        _overload("largest", functions.largest, kind.DYN, kind.List(kind.DYN)),
        _overload("get", functions.get, kind.DYN, mapping, kind.STRING, kind.DYN),
        _overload("slug", functions.slug, kind.STRING, kind.STRING),
    ]
    return cel.NewEnv(variables=dict.fromkeys(VARIABLES, mapping), extensions=[cel.CelExtension("lilserve", declared)])


@lru_cache(maxsize=4096)
def compiled(text: str) -> Expression:
    """The expression in `text`, compiled and type-checked once a process. Raises ExpressionError."""
    form = rule_forms().get(text)
    if form is None:
        return compile_text(text)
    program, options, variables, explicit, facts = form
    loaded = environment().deserialize(b64decode(program))
    return Expression(text, loaded, tuple(options), tuple(variables), tuple(explicit), facts)


def compile_text(text: str) -> Expression:
    """The same without the compiled forms of the package."""
    try:
        program = environment().compile(text)
    except RuntimeError as error:
        raise ExpressionError(_told(str(error).splitlines()[0], text)) from None
    reads: dict[str, list[str]] = {"o": [], "e": [], "explicit": []}
    for variable, double, single, dotted in re.findall(_READ, text):
        name = double or single or dotted
        if name not in reads[variable]:
            reads[variable].append(name)
    bare = re.sub(_LITERAL, '""', re.sub(_READ, "_", text))
    whole = re.search(_BARE, bare)
    if whole is not None:
        raise ExpressionError(f'{whole[1]} is read one literal name at a time, as in {whole[1]}["name"]')
    options, variables, explicit = (tuple(names) for names in reads.values())
    return Expression(text, program, options, variables, explicit, bool(re.search(_FACT, bare)))


# What people write who think in Python, YAML or shell, and what CEL wants.
_SLIPS = (
    (r"(?<![=!<>])=(?!=)", "CEL compares with =="),
    (r"\band\b", "CEL says && for and"),
    (r"\bor\b", "CEL says || for or"),
    (r"\bnot\b", "CEL says ! for not"),
    (r"\*\*", "CEL has no power"),
    (r"\b(True|False|None)\b", "CEL says true, false and null"),
)


def _told(message: str, text: str) -> str:
    """The compiler's message in one line, with the place inside the expression and the slip that is behind it."""
    found = re.match(r"INVALID_ARGUMENT: ERROR: <input>:(\d+):(\d+): (.*)", message)
    if found is None:
        return message
    what = re.sub(r" expecting \{.*", "", found[3]).replace("Syntax error: ", "").replace(" (in container '')", "")
    bare = re.sub(_LITERAL, '""', text)
    slip = next((f"; {hint}" for pattern, hint in _SLIPS if re.search(pattern, bare)), "")
    return f"{what}, at character {found[2]} of its line {found[1]}{slip}"


@lru_cache(maxsize=1024)
def template(text: str) -> tuple[str | Expression, ...]:
    """A text with `${CEL}` in it, as literal parts and compiled ones. Raises ExpressionError."""
    parts = re.split(r"\$\{([^}]*)\}", text)
    return tuple(compiled(part) if index % 2 else part for index, part in enumerate(parts))
