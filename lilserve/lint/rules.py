"""A document in, what is wrong with its rules out: every expression compiled, every name it reads known."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from lilserve.engine.canonical import option_name, unknown_flag
from lilserve.errors import Problem
from lilserve.resolution.expressions import Expression, ExpressionError, compile_text
from lilserve.resolution.rule_texts import rule_texts
from lilserve.resolution.rules import Target

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lilserve.documents.model import Document
    from lilserve.engine.catalog import Catalog
    from lilserve.layers.documents import Block

CONDITION_TYPES = ("BOOL", "DYN")


def lint_rules(document: Document, catalogs: Sequence[Catalog]) -> Iterator[Problem]:
    """Problems of the expressions of one document. An option is known when one of the catalogs has it."""
    for rule in rule_texts(document.data):
        at = document.at(*rule.keys)
        try:
            expression = compile_text(rule.text)
        except ExpressionError as error:
            yield Problem(f"not a rule: {error}", at, code="expression")
            continue
        if rule.condition and expression.returns not in CONDITION_TYPES:
            yield Problem(
                f"a condition is true or false, not {expression.returns.lower().partition('<')[0]}",
                at,
                code="condition-type",
            )
        yield from _unknown_names(expression, at, catalogs)


def _unknown_names(expression: Expression, at: str, catalogs: Sequence[Catalog]) -> Iterator[Problem]:
    for name in dict.fromkeys((*expression.options, *(text.partition("/")[0] for text in expression.explicit))):
        if not any(name in catalog for catalog in catalogs):
            spelled = next((found for catalog in catalogs if (found := option_name(name, catalog))), None)
            if spelled is not None:
                yield Problem(
                    f"rules name options canonically, not {name}", at, hint=f'o["{spelled}"]', code="rule-option"
                )
            else:
                yield unknown_flag(name, catalogs[-1], at)


class _Derivation(NamedTuple):
    """One rule in its place in the order: what it sets and the texts it reads with."""

    target: Target
    texts: tuple[str, ...]
    at: str


def lint_order(blocks: Sequence[Block]) -> Iterator[Problem]:
    """Derivations that read what a later one sets: they run in layer order, once, so they would see an old value."""
    rows = [row for block in blocks for row in _derivations(block)]
    for index, row in enumerate(rows):
        for later in rows[index + 1 :]:
            target = later.target
            if target[:2] != row.target[:2] and _reads(row.texts, target):
                name = "/".join((target.name, *target.path))
                yield Problem(
                    f"this rule reads {name}, which a later rule sets at {later.at}", row.at, code="rule-order"
                )


def _derivations(block: Block) -> Iterator[_Derivation]:
    for index, row in enumerate(block.data.get("derive") or ()):
        parts = {key: value for key, value in row.items() if key in ("to", "when")}
        at = block.document.at(*block.keys, "derive", str(index))
        yield _Derivation(Target.parse(row["set"]), tuple(rule.text for rule in rule_texts(parts)), at)


def _reads(texts: tuple[str, ...], target: Target) -> bool:
    """Whether a rule reads what a target sets.

    Asking whether a mapping is there does not read its leaves, and a rule that asks whether an operator wrote the
    option reads the operator's value, which no derivation replaces.
    """
    variable = "e" if target.variable else "o"
    name = re.escape(target.name)
    if any(re.search(rf"""\bexplicit\[\s*["']{name}[/"']""", text) for text in texts):
        return False
    read = rf"""\b{variable}(?:\[\s*["']{name}["']\s*\]|\.{name}\b)(?:\.(\w+))?(\s*[!=]=\s*null)?"""
    found = [pair for text in texts for pair in re.findall(read, text)]
    return any(not target.path or (field == target.path[0] if field else not presence) for field, presence in found)
