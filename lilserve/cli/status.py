"""`status`: the containers that `up` made."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from lilserve.container.state import State

COLUMNS = ("name", "state", "profile", "hardware", "cache_mode", "digest")
SHORT = 12


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(*, as_json: bool) -> None:
    """Say which containers of ours there are, what they run and how they are."""
    from lilserve.container.daemon import Daemon  # noqa: PLC0415 -- loads the SDK

    rows = [_row(state) for state in Daemon(os.environ).ours()]
    if as_json:
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    elif not rows:
        click.echo("nothing is up")
    else:
        shown = [COLUMNS, *(_cells(row) for row in rows)]
        widths = [max(len(cells[column]) for cells in shown) for column in range(len(COLUMNS))]
        for cells in shown:
            click.echo("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip())


def _row(state: State) -> dict[str, Any]:
    return {
        "name": state.name,
        "state": state.health or state.status if state.running else state.status,
        "exit": state.exit,
        "profile": state.labels.get("lil-serve.profile", ""),
        "hardware": state.labels.get("lil-serve.hardware", ""),
        "cache_mode": state.labels.get("lil-serve.cache-mode", ""),
        "digest": state.labels.get("lil-serve.plan-digest", ""),
        "started": state.started,
    }


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    state = row["state"] if row["exit"] is None else f"{row['state']} ({row['exit']})"
    return (row["name"], state, row["profile"], row["hardware"], row["cache_mode"], row["digest"][:SHORT])
