"""The compiled forms of the shipped rules, by their text: made by the build, read when one is first needed.

As with documents, a form counts only for the very code that made it, so a stale one is never found.
"""

from __future__ import annotations

import json
from base64 import b64encode
from functools import cache
from typing import TYPE_CHECKING, Any

from lilserve.documents.compiled import code
from lilserve.documents.shipped import package_file

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lilserve.resolution.expressions import Expression

FILE = "compiled_rules.json"
SOURCES = ("resolution/expressions.py", "resolution/functions.py", "resolution/rule_forms.py")


@cache
def rule_forms() -> dict[str, list[Any]]:
    """Text to [serialized program, options, variables, explicit options, reads facts]; empty without a form."""
    try:
        form = json.loads(package_file(FILE))
        return form["rules"] if form["code"] == code(package_file, SOURCES) else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def build(expressions: Iterable[Expression]) -> str:
    """The forms of these expressions, as text."""
    rules = {
        one.text: [b64encode(one.compiled.serialize()).decode(), one.options, one.variables, one.explicit, one.facts]
        for one in expressions
    }
    return json.dumps({"code": code(package_file, SOURCES), "rules": rules}, separators=(",", ":"))
