"""A document in, names in it that nothing has out: facts that rules read, and what a `why` is about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lilserve.errors import Problem, unknown
from lilserve.resolution.facts import FACTS
from lilserve.resolution.rule_texts import DATA, rule_texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lilserve.documents.model import Document
    from lilserve.keypath import Path

_FACT = r"(?<![.\w])f\.(\w+)(?:\.(\w+)(\(?))?"
# What a rule may call on a list or a text of facts, which looks like a field of it.
_METHOD = "("
# Keys beside `options` and `environment` that a `why` may be about.
_ALSO = ("draft-tokens", "config", "checkpoint", "graph-fraction", "pool-gib", "pool-tokens")


def lint_names(document: Document) -> Iterator[Problem]:
    """Misspelt facts and reasons of one document."""
    for rule in rule_texts(document.data):
        for group, field, call in re.findall(_FACT, rule.text):
            at = document.at(*rule.keys)
            if group not in FACTS:
                yield unknown("fact", f"f.{group}", [f"f.{name}" for name in FACTS], at, code="unknown-fact-name")
            elif field and call != _METHOD and field not in FACTS[group]:
                known = [f"f.{group}.{name}" for name in FACTS[group]]
                yield unknown("fact", f"f.{group}.{field}", known, at, code="unknown-fact-name")
    yield from _reasons(document, document.data, ())


def _reasons(document: Document, block: Mapping[str, Any], keys: Path) -> Iterator[Problem]:
    """Each `why` of a block, and of the blocks inside it, that is about nothing the block says."""
    reasons = block.get("why")
    if isinstance(reasons, dict):
        said = {
            *(block.get("options") or ()),
            *(block.get("environment") or ()),
            *(key for key in _ALSO if key in block),
        }
        for name in reasons:
            if name not in said:
                at = document.at(*keys, "why", name)
                yield Problem(
                    f"this block gives a reason for {name}, but does not set it", at, code="reason-for-nothing"
                )
    for key, inner in block.items():
        if isinstance(inner, dict) and key not in DATA and key != "why":
            yield from _reasons(document, inner, (*keys, key))
