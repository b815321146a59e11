"""`diff`: what two selections would run differently."""

from __future__ import annotations

import json
import os
import shlex
from typing import TYPE_CHECKING

import click

from lilserve.cli.conduct import plan_of
from lilserve.cli.report import tell
from lilserve.cli.selecting import SEPARATOR, SelectingCommand, request, selecting, split
from lilserve.engine.controls import CONTROLS
from lilserve.errors import ConfigurationError, Problem
from lilserve.explain.diff import difference, difference_text

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from lilserve.plan.model import Plan

SIDES = 2


class DiffCommand(SelectingCommand):
    """Takes two selections, each one argument; what stands beside them holds for both."""

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        first, *rest = super().collect_usage_pieces(ctx)
        return [first, '"SELECTION" "SELECTION"', *rest]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = len(split(args)[0])
        chosen = [_is_selection(arg) or (at < own and self._is_engines(arg, args)) for at, arg in enumerate(args)]
        ctx.meta["sides"] = [arg for arg, side in zip(args, chosen, strict=True) if side]
        shared = [arg for arg, side in zip(args, chosen, strict=True) if not side]
        ctx.meta["shared"] = list(split(shared)[0])
        return super().parse_args(ctx, shared)

    def _is_engines(self, arg: str, args: Sequence[str]) -> bool:
        """Whether an argument is an option of an engine with its value in it: a selection of one word."""
        flag, equals, _ = arg.partition("=")
        if not arg.startswith("-") or not equals or any(flag in one.opts for one in self.params):
            return False
        from lilserve.cli.separating import catalogs, meaning, policies_in  # noqa: PLC0415 -- few sides are one word

        return meaning(flag, catalogs(policies_in(args))) is not None


def _is_selection(arg: str) -> bool:
    """A selection is one argument with words in it, or none at all; an option or its value has no flag inside."""
    return not arg.strip() or (arg.lstrip().startswith("-") and len(arg.split()) > 1)


@click.command()
@selecting
def _side(**_: object) -> None:
    """One side of a comparison; it is parsed and never called."""


@click.command(cls=DiffCommand)
@selecting
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, /, *, as_json: bool, **_: object) -> None:
    r"""Compare what two selections run. What stands beside both holds for both, and a side's own words win.

    \b
    lil-serve diff --profile X --hardware Y "--cache-mode vram" "--cache-mode lmcache"
    lil-serve diff --profile X "--max-num-seqs 2" "--max-num-seqs 8"
    lil-serve diff "--profile X --hardware Y" "--profile X --hardware Z -- --max-num-seqs 4"
    """
    sides = ctx.meta["sides"]
    if len(sides) != SIDES:
        raise ConfigurationError(
            Problem(
                f"diff compares two selections, not {len(sides)}",
                None,
                "two quoted selections",
                'lil-serve diff --profile X "--cache-mode vram" "--cache-mode lmcache"',
                code="usage",
            )
        )
    one, other = (_plan(ctx, side) for side in sides)
    data = difference(one, other)
    click.echo(json.dumps(data, indent=2, ensure_ascii=False) if as_json else difference_text(data))
    tell(one, other)


def _plan(ctx: click.Context, side: str) -> Plan:
    """The plan of one side: its own words behind the shared ones."""
    try:
        words = shlex.split(side)
    except ValueError as error:
        raise ConfigurationError(
            Problem(f"cannot read the selection {side!r}: {str(error).lower()}", code="usage")
        ) from error
    if SEPARATOR not in words and words and words[0].partition("=")[0] not in _flags():
        words = [SEPARATOR, *words]  # it begins with an option of the engine, so all of it is the engine's
    own, engine = split(words)
    said = set(map(_control, words))
    shared = without([arg for arg in ctx.meta["shared"] if arg != "--json"], said)
    with _side.make_context("selection", [*shared, *own]) as inner:
        inner.meta["engine_tokens"] = [*without(ctx.meta["engine_tokens"], said), *engine]
        return plan_of(request(inner, os.environ))


def _flags() -> set[str]:
    return {flag for one in _side.params for flag in (*one.opts, *one.secondary_opts)} | {"-h", "--help"}


def _control(word: str) -> str | None:
    """The control that a word sets, if it is one."""
    name = word.partition("=")[0].lstrip("-").replace("_", "-")
    name = name if name in CONTROLS else name.removeprefix("no-")
    return name if word.startswith("-") and name in CONTROLS else None


def without(words: Sequence[str], controls: Container[str | None]) -> list[str]:
    """The words without those controls and their values."""
    left: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name = _control(word)
        if name is None or name not in controls:
            left.append(word)
        elif "=" not in word and CONTROLS[name]["type"] != "bool" and rest:
            rest.pop(0)
    return left
