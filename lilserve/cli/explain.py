"""`explain`: who set a value, where, against whom, and why."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

import click

from lilserve.cli.report import tell
from lilserve.cli.selecting import SelectingCommand, completes, request, selecting, split
from lilserve.errors import ConfigurationError, Problem, refuse
from lilserve.explain.query import explain
from lilserve.explain.text import explanation
from lilserve.plan.build import build_plan, documents_of
from lilserve.resolution.resolve import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class ExplainCommand(SelectingCommand):
    """Takes options of the engine as they are typed for it, `-tp` or `--max-num-seqs`, for names."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own, _ = split(args)
        return super().parse_args(ctx, [*self._names(own), *args[len(own) :]])

    def _names(self, own: list[str]) -> Iterator[str]:
        mine = {flag for one in self.params for flag in (*one.opts, *one.secondary_opts)} | {"-h", "--help"}
        for word, following in zip(own, [*own[1:], ""], strict=False):
            dashed = word.startswith("-") and word.partition("=")[0] not in mine
            # A flag with a value is no question but an option in the wrong place; values of short flags are figures.
            alone = re.match(r"-|$" if word.startswith("--") else r"[A-Za-z-]|$", following)
            if dashed and alone and "=" not in word:
                yield _name(word, own)
            else:
                yield word


def _name(flag: str, own: Sequence[str]) -> str:
    """The option that a flag means to an engine; the flag itself where it means nothing."""
    from lilserve.cli.separating import catalogs, policies_in  # noqa: PLC0415 -- few names are typed as flags
    from lilserve.engine.canonical import Meant, canonical  # noqa: PLC0415 -- as above

    meant = (canonical(flag, catalog) for catalog in catalogs(policies_in(own)))
    return next((".".join((one.name, *one.fields)) for one in meant if isinstance(one, Meant)), flag)


@click.command(cls=ExplainCommand)
@click.argument("names", metavar="NAME...", nargs=-1, required=True, shell_complete=completes("option"))
@selecting
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, /, names: Sequence[str], *, as_json: bool, **_: object) -> None:
    r"""Say where the value of an option, a dotted leaf or a variable comes from.

    \b
    lil-serve explain max-num-seqs --profile X --hardware Y
    lil-serve explain speculative-config.method TORCH_CUDA_ARCH_LIST --profile X -- --mode off
    """
    asked = request(ctx, os.environ)
    resolution = resolve(asked.library, asked.selection)
    plan = build_plan(resolution, asked.library)
    documents = list(documents_of(resolution))
    records: list[dict[str, Any]] = []
    problems: list[Problem] = []
    for name in names:
        try:
            records += explain(plan, name, resolution.chosen, documents, os.environ.keys())
        except ConfigurationError as error:
            problems += error.problems
    if records:
        click.echo(json.dumps(records, indent=2, ensure_ascii=False) if as_json else explanation(records))
        tell(plan)
    refuse(problems)
