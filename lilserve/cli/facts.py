"""`facts`: what is true of this host, as the JSON that `--facts` takes."""

from __future__ import annotations

import json
import os

import click

from lilserve.host.facts import all_facts


@click.command()
def command() -> None:
    """Print the facts of this host as JSON. What nobody can tell is left out."""
    click.echo(json.dumps(all_facts(os.environ), indent=2))
