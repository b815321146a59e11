"""`explain`: who set a value, where, against whom, and why."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import click

from lilserve.cli.selecting import SelectingCommand, request, selecting
from lilserve.explain.query import explain
from lilserve.explain.text import explanation
from lilserve.plan.build import build_plan, documents_of
from lilserve.resolution.resolve import resolve

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command(cls=SelectingCommand)
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
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
    records = [record for name in names for record in explain(plan, name, resolution.chosen.catalog, documents)]
    click.echo(json.dumps(records, indent=2, ensure_ascii=False) if as_json else explanation(records))
