"""A plan in, a table for a person out: every option and variable with its value, origin and place."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lilserve.explain.data import name_of
from lilserve.plan.redact import redact, redact_argv

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lilserve.plan.model import Leaf, Plan

WIDEST = 60


def table(plan: Plan) -> str:
    """Sections of aligned columns; nothing is cut but values longer than 60 characters, which end in an ellipsis."""
    head = f"{plan.profile} on {plan.hardware}, cache {plan.cache_mode}, engine {plan.engine} ({plan.catalog})"
    engine = (row for name, option in plan.options.items() if not option.control for row in _rows(name, option.leaves))
    controls = (row for name, option in plan.options.items() if option.control for row in _rows(name, option.leaves))
    variables = (
        (name, _shown(redact(leaf.written.value, name)), *_origin(leaf)) for name, leaf in plan.environment.items()
    )
    sections: list[tuple[str, Iterable[tuple[str, ...]]]] = [
        ("engine options", engine),
        ("controls", controls),
        ("environment", variables),
    ]
    if plan.cache_service is not None:
        sections.append(("cache server", _pairs(redact_argv(plan.cache_service.argv))))
    sections += [
        ("overlays", ((one.id, one.because) for one in plan.overlays)),
        ("notices", ((one.code, one.text) for one in plan.notices)),
    ]
    return "\n\n".join(
        [head, *(text for title, rows in sections if (text := _section(title, list(rows)))), f"digest  {plan.digest}"]
    )


def _rows(name: str, leaves: Any) -> Iterator[tuple[str, ...]]:
    for at, leaf in leaves.items():
        yield name + at, _shown(redact(leaf.written.value, name_of(name, at))), *_origin(leaf)


def _origin(leaf: Leaf) -> tuple[str, str]:
    return leaf.written.origin, leaf.written.at or ""


def _pairs(argv: list[str]) -> Iterator[tuple[str, ...]]:
    """Flags of a command with their values beside them."""
    index = 0
    while index < len(argv):
        token = argv[index]
        value = (
            argv[index + 1]
            if token.startswith("--") and index + 1 < len(argv) and not argv[index + 1].startswith("--")
            else ""
        )
        yield token, value
        index += 2 if value else 1


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = "".join(letter if letter.isprintable() else "\\" + hex(ord(letter))[1:] for letter in text)
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _section(title: str, rows: list[tuple[str, ...]]) -> str:
    if not rows:
        return ""
    widths = [max(map(len, column)) for column in _columns(rows)]
    lines = (
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip() for row in rows
    )
    return "\n".join([title, *lines])


def _columns(rows: list[tuple[str, ...]]) -> Iterable[tuple[str, ...]]:
    return zip(*rows, strict=True)
