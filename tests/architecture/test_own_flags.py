"""F08: after `--` everything is the engine's or a control; no flag of ours is also one of a catalog's."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from lilserve.cli.main import lil_serve
from lilserve.engine.controls import CONTROLS

CATALOGS = sorted((Path(__file__).parents[2] / "lilserve/engine/catalogs").glob("vllm*.json"))


def own_flags():
    """Every flag of every verb, our controls left out: they are the same before and after `--`."""
    ctx = click.Context(lil_serve)
    for name in [*lil_serve.list_commands(ctx), "launch"]:
        command = lil_serve.get_command(ctx, name)
        for parameter in command.params:
            for flag in (*parameter.opts, *parameter.secondary_opts):
                if flag.startswith("-") and flag.removeprefix("--").removeprefix("no-") not in CONTROLS:
                    yield name, flag


def spellings(path):
    for name, spec in json.loads(path.read_text())["options"].items():
        yield from (f"--{name}", *(spec.get("flags") or ()), *(spec.get("negative") or ()))


@pytest.mark.parametrize("path", CATALOGS, ids=[path.stem for path in CATALOGS])
def test_no_own_flag_is_a_flag_of_an_engine(path):
    assert len(CATALOGS) >= 3
    taken = set(spellings(path))
    launch = {flag for verb, flag in own_flags() if verb in ("launch", "explain", "diff")}
    assert {"--profile", "--print-config", "--env"} <= launch
    assert launch & taken == set()


@pytest.mark.parametrize("path", CATALOGS, ids=[path.stem for path in CATALOGS])
def test_no_control_is_a_flag_of_an_engine(path):
    assert {f"--{name}" for name in CONTROLS} & set(spellings(path)) == set()


def test_what_stands_after_the_separator_is_never_ours(project):
    words = project.show("--", "--profile", "other")
    words.refused("--profile is an option of lil-serve, which stands before --")
