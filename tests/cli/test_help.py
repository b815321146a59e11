"""Help: of the whole command on one page, of each verb with examples that can be read, at no cost to a launch."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from lilserve import __version__
from lilserve.cli.helping import CONTROL_HELP, HEADINGS
from lilserve.cli.main import VERBS
from lilserve.engine.controls import CONTROLS

NAMES = [name for name in VERBS if name != "launch"]


@pytest.mark.parametrize("asked", ["--help", "-h", "launch --help"])
def test_the_help_of_the_command_shows_headings_verbs_and_controls(project, asked):
    words = project.run(*asked.split())
    assert (words.status, words.err) == (0, "")
    assert words.out.startswith("lil-serve - what will run, and who said so\n")
    assert [line for line in words.out.splitlines() if line.endswith(":") and not line.startswith(" ")] == [
        *(f"{heading}:" for heading in HEADINGS),
        "Verbs, each with its own --help:",
        "Controls, before or after --; they never reach the engine:",
        "Examples:",
    ]
    for verb in NAMES:
        assert f"\n  {verb} " in words.out
    for control in CONTROLS:
        assert f"--{control} " in words.out or f"--[no-]{control}" in words.out


def test_every_option_of_a_launch_stands_under_a_heading(project):
    launch = project.run("--help").out
    for flags in HEADINGS.values():
        for flag in flags:
            assert flag in launch
    shown = {word for word in launch.split() if word.startswith("--")}
    assert {"--profile", "--locked", "--strict", "--print-config", "--version"} <= shown


def test_every_control_is_described():
    assert list(CONTROL_HELP) == list(CONTROLS)


NAMED = {"X": "qwen38-flash-next", "Y": "rtx-pro-6000-pcie"}


def test_the_examples_of_the_help_work(project):
    lines = project.run("--help").out.partition("Examples:\n")[2].splitlines()
    assert len(lines) == 2
    for line in lines:
        words = [NAMED.get(word, word) for word in line.split()[1:]]
        assert project.run(*words).status == 0, line


@pytest.mark.parametrize("verb", NAMES)
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_a_verb_has_help_without_marks_of_its_source(project, verb, flag):
    words = project.run(verb, flag)
    assert (words.status, words.err) == (0, "")
    assert words.out.startswith(f"Usage: lil-serve {verb} ")
    assert "\\b" not in words.out
    assert "\b" not in words.out


def test_an_example_of_a_verb_keeps_its_line(project):
    assert "\n  lil-serve explain max-num-seqs --profile X --hardware Y\n" in project.run("explain", "--help").out


def test_the_version_is_one_line(project):
    assert project.run("--version") == (0, f"lil-serve {__version__}\n", "")


def test_a_printed_plan_loads_nothing_that_only_people_in_doubt_need(project):
    project.write(
        "loaded.py",
        """
        import json, sys
        from lilserve.cli.main import main
        main(["--profile", "qwen38-flash-next", "--print-config=argv"])
        print(json.dumps([name for name in sys.modules if name.startswith("lilserve.cli.")]))
        """,
    )
    done = subprocess.run([sys.executable, "loaded.py"], capture_output=True, text=True, check=True)
    assert {name.removeprefix("lilserve.cli.") for name in json.loads(done.stdout.splitlines()[-1])} == {
        *("main", "launch", "selecting", "reading", "conduct", "report"),
    }
