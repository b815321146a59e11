"""The rules of the chosen documents in layer order: derivations fill values, requirements and notices judge them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from lilserve.engine.controls import SELECTING
from lilserve.errors import Problem
from lilserve.layers.layer import Rank
from lilserve.notice import Notice
from lilserve.origin import REMOVED, Written
from lilserve.resolution.expressions import ExpressionError, Unknown, compiled
from lilserve.resolution.merge import Merged
from lilserve.secret import secret_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lilserve.keypath import Path
    from lilserve.layers.documents import Block
    from lilserve.resolution.scope import Scope

DERIVED_RANK = 5
VARIABLE = "env:"
OWNED = "mode"  # a speculative config written by hand says which mode it is, after the fact


def _rows(block: Block, section: str) -> Iterator[tuple[Mapping[str, Any], Path]]:
    """Each rule of one section of a block with the path of its place."""
    for index, row in enumerate(block.data.get(section) or ()):
        yield row, (*block.keys, section, str(index))


def rule_name(block: Block) -> str:
    """What derivations of a block are called: the id of its document, with the name of the block inside it."""
    return "/".join((block.document.id, *block.keys[1:]))


class Target(NamedTuple):
    """What a derivation sets: an option, a leaf inside one, or a variable."""

    name: str
    path: Path
    variable: bool

    @classmethod
    def parse(cls, text: str) -> Target:
        """`name`, `name/key/key` or `env:NAME`."""
        if text.startswith(VARIABLE):
            return cls(text.removeprefix(VARIABLE), (), variable=True)
        name, *path = text.split("/")
        return cls(name, tuple(path), variable=False)


def derive(blocks: Sequence[Block], scope: Scope, notices: list[Notice]) -> set[str]:
    """Run every derivation once, in order. Returns the options derived, for the report of unused ones.

    One that needs a fact nobody knows sets nothing and becomes a notice.
    """
    derived: set[str] = set()
    for block in blocks:
        for row, keys in _rows(block, "derive"):
            target = Target.parse(row["set"])
            if target.name in SELECTING and not (target.name == OWNED and block.rank == Rank.COMMON):
                what = f"{target.name} is settled before any rule runs, so no rule can set it"
                scope.problems.append(Problem(what, block.document.at(*keys, "set"), code="selecting"))
                continue
            applies = scope.holds(row["when"], block.document.at(*keys, "when")) if "when" in row else True
            if isinstance(applies, Unknown) and applies.fact:
                notices.append(_underived(row, applies))
            if applies is not True:
                continue
            scope.use(row.get("when"))
            _derive(block, row, keys, scope, notices)
            if not target.variable:
                derived.add(target.name)
    return derived


def _underived(row: Mapping[str, Any], unknown: Unknown) -> Notice:
    text = f"{row['set']} is not derived: {unknown.fact} of this host is not known"
    return Notice("unknown-fact", text, level="information")


def _derive(block: Block, row: Mapping[str, Any], keys: Path, scope: Scope, notices: list[Notice]) -> None:
    target = Target.parse(row["set"])
    names = scope.environment if target.variable else scope.options
    merged = names.setdefault(target.name, Merged())
    why = scope.fill(row["why"], block.document.at(*keys, "why")) if "why" in row else None
    for path, text, where in _leaves(row["to"], target.path, (*keys, "to")):
        at = block.document.at(*where)
        value, inputs = _value(text, at, scope, beaten=merged.explicit(path))
        if isinstance(value, Unknown):
            if value.fact:
                notices.append(_underived(row, value))
            continue
        if target.variable and (path or isinstance(value, dict | list)):
            what = f"{target.name} is a variable, which holds one text"
            scope.problems.append(Problem(what, at, code="derived-variable"))
            continue
        if target.variable and value is not None and not isinstance(value, str):
            value = str(value).lower() if isinstance(value, bool) else str(value)
        result = REMOVED if value is None else value
        written = Written(result, f"derived:{rule_name(block)}", at, DERIVED_RANK, inputs=inputs, why=why)
        if merged.explicit(path):
            merged.put_below(path, written)
        elif value is not None or any(at[: len(path)] == path for at in merged.live):
            merged.put(path, written)
    if merged.live or merged.displaced:
        scope.refresh(target.name, variable=target.variable)
    else:
        del names[target.name]


def _value(text: Any, at: str, scope: Scope, *, beaten: bool) -> tuple[Any, dict[str, Any]]:
    """What an expression gives a leaf, and what it read. A `beaten` one is of no account, so neither is its failure."""
    if not isinstance(text, str):
        return text, {}
    before = len(scope.problems)
    value = scope.evaluate(text, at)
    if isinstance(value, Unknown):
        if beaten:
            del scope.problems[before:]
        return value, {}
    expression = compiled(text)
    secret = next((name for name in expression.variables if secret_name(name)), None)
    if secret is not None:
        what = f"a rule copies {secret}, which would show a secret under another name"
        scope.problems.append(Problem(what, at, code="secret-copied"))
    scope.use(text)
    return value, scope.inputs(expression)


def _leaves(to: Any, path: Path, where: Path) -> Iterator[tuple[Path, Any, Path]]:
    """Each expression of a `to`, the leaf it fills and the place it stands at."""
    if isinstance(to, dict) and to:
        for key, inner in to.items():
            yield from _leaves(inner, (*path, key), (*where, key))
    else:
        yield path, to, where


def require(blocks: Sequence[Block], scope: Scope) -> list[Notice]:
    """Judge the final values: a broken requirement is a problem, one that needs an unknown fact a notice."""
    notices: list[Notice] = []
    for block in blocks:
        for row, keys in _rows(block, "require"):
            at = block.document.at(*keys)
            if "when" in row and scope.holds(row["when"], block.document.at(*keys, "when")) is not True:
                continue
            holds = scope.holds(row["that"], block.document.at(*keys, "that"))
            scope.use(row["that"])
            if isinstance(holds, Unknown):
                if holds.fact:
                    notices.append(
                        Notice(
                            "unknown-fact",
                            f"not checked, for {holds.fact} is not known: {scope.fill(row['else'], at)}",
                            level="information",
                        )
                    )
            elif holds is not True:
                what, hint = scope.fill(row["else"], at), scope.fill(row["hint"], at) if "hint" in row else None
                rows = _figures(row["that"], scope)
                scope.problems.append(Problem(what, at, hint=hint, rows=rows, code="requirement"))
    return notices


def _figures(text: str, scope: Scope) -> tuple[tuple[str, Any, str], ...]:
    try:
        return scope.rows(compiled(text))
    except ExpressionError:
        return ()


def tell(blocks: Sequence[Block], scope: Scope) -> list[Notice]:
    """The notices whose condition holds, their figures filled in."""
    return [
        Notice(
            row["code"],
            scope.fill(row["text"], block.document.at(*keys, "text")),
            row.get("about"),
            row.get("level", "warning"),
        )
        for block in blocks
        for row, keys in _rows(block, "notice")
        if scope.holds(row["when"], block.document.at(*keys, "when")) is True
    ]
