"""Errors in, designed text out: what, where, what is allowed, who took part, one hint to paste."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, TextIO

import click

from lilserve.plan.redact import redact, redact_message, redact_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lilserve.errors import LilServeError, Problem
    from lilserve.plan.model import Plan


def report(error: LilServeError, stream: TextIO, secrets: Sequence[str] = ()) -> int:
    """Print every problem of an error, without `secrets`, and return its exit status."""
    colour = stream.isatty() and not os.environ.get("NO_COLOR")
    for problem in error.problems:
        for line in lines(problem, secrets):
            label, colon, rest = line.partition(":")
            styled = (
                click.style(label + colon, fg=_COLOURS.get(label.strip())) + rest
                if colon and label.strip() in _COLOURS
                else line
            )
            click.echo(styled if colour else line, file=stream, color=colour)
    return error.exit_code


def tell(*plans: Plan) -> None:
    """Print what a person should know of these plans beside an output that has no place for it, each once."""
    for text in dict.fromkeys(one.text for plan in plans for one in plan.notices if one.level != "information"):
        click.echo(f"notice: {redact_text(text)}", err=True)


_COLOURS = {"error": "red", "hint": "cyan"}


def lines(problem: Problem, secrets: Sequence[str] = ()) -> Iterator[str]:
    """The lines of one problem (DESIGN.md section 10)."""
    yield "error: " + redact_message(problem.what, secrets)
    width = max((len(name) for name, _, _ in problem.rows), default=0)
    for name, value, where in problem.rows:
        yield f"  {name:<{width}} = {redact_message(_text(redact(value, name)), secrets)}   {where}"
    if problem.at:
        yield f"  at {problem.at}"
    if problem.allowed:
        yield f"  allowed: {problem.allowed}"
    if problem.hint:
        yield f"  hint: {redact_message(problem.hint, secrets)}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
