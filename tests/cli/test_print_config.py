"""The printed forms of a plan: each says the same, in its own grammar, and the same every time."""

from __future__ import annotations

import argparse
import json
import shlex

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

FORMATS = ("json", "yaml", "argv", "shell", "env", "table")
# No surrogate, for a process takes none, and no NUL; everything else a person can type.
texts = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=30)


def argv(plan):
    return tuple(plan.data["argv"])


@settings(max_examples=150)
@given(texts)
def test_shell_text_is_read_back_as_the_argv(toy_command, text):
    """F03: printed shell text parses back to the same argv, whatever stands in it."""
    given_words = ("--", f"--toy-name={text}", "--toy-map", json.dumps({"a": text}, ensure_ascii=False))
    plan = toy_command([], "--print-config=json", *given_words)
    shell = toy_command([], "--print-config=shell", *given_words)
    assert (plan.status, shell.status) == (0, 0)
    tokens = shlex.split(shell.out)
    assert f"--toy-name={text}" in tokens or tokens[tokens.index("--toy-name") + 1] == text
    assert tuple(tokens) == argv(plan)


@settings(max_examples=100)
@given(texts)
def test_yaml_says_what_json_says(toy_command, text):
    words = ("--env", f"TOY_MOOD={text}", "--", f"--toy-name={text}")
    plan = toy_command([], "--print-config=json", *words)
    assert yaml.safe_load(toy_command([], "--print-config=yaml", *words).out) == plan.data


def test_argv_is_one_token_a_line(project):
    words = project.show("--", "--toy-many", "a", "b c", "--toy-map.k", "v", form="argv")
    assert words.out.splitlines()[-5:] == ["--toy-many", "a", "b c", "--toy-map", '{"k":"v"}']


@pytest.mark.parametrize("text", ["two\nlines", "line\n", "a\rb", "a\u2028b"])
def test_argv_refuses_a_token_that_would_not_stay_one_line(project, text):
    words = project.show("--", "--toy-name", text, form="argv")
    words.refused("holds a line break", "--print-config=shell")


def test_env_is_a_line_per_variable_quoted_for_a_shell(project):
    words = project.show("--env", "TOY_MOOD=it's a\tmood", "--env", "TOY_EMPTY=", form="env")
    pairs = dict(shlex.split(line)[0].split("=", 1) for line in words.out.splitlines())
    assert pairs == {"PYTHONHASHSEED": "0", "TOY_ARCH": "crate", "TOY_EMPTY": "", "TOY_MOOD": "it's a\tmood"}


def test_the_table_names_every_option_and_variable_with_origin_and_place(project):
    words = project.show("--cache-mode", "remote", "--", "--toy-map.deep.leaf", "7", form="table")
    rows = [line.split() for line in words.out.splitlines()]
    assert ["model", "org/alpha", "model:alpha", "policy/alpha.yaml:6:11"] in rows
    assert ["toy-map/deep/leaf", "7", "cli"] in rows
    assert ["TOY_ARCH", "crate", "hardware:box", "policy/crate.yaml:6:15"] in rows
    assert ["--ratio", "0.90"] in rows


def test_the_table_shows_no_control_character(project):
    words = project.show("--", "--toy-name", "a\x1b[31m\nb", form="table")
    assert r"a\x1b[31m\xab" in words.out
    assert "\x1b" not in words.out


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_inputs_give_the_same_bytes(project, form):
    env = {"NCCL_B": "1", "NCCL_A": "2", "TS": "4"}
    once = project.show("--cache-mode", "remote", form=form, env=env)
    again = project.show("--cache-mode", "remote", form=form, env=dict(reversed(env.items())))
    assert (once.status, once) == (0, again)


@pytest.mark.parametrize("form", FORMATS)
def test_two_processes_give_the_same_bytes(project, form):
    words = (*project.SELECTION, f"--print-config={form}", "--cache-mode", "remote")
    one, two = (project.process(*words) for _ in range(2))  # each hashes with a seed of its own
    assert (one.status, one.err, one.out) == (0, two.err, two.out)


def test_without_a_value_print_config_is_json(project):
    bare = project.run(*project.SELECTION, "--print-config", "--cache-mode", "vram")
    assert bare.data == project.show("--cache-mode", "vram").data


def test_controls_may_stand_before_and_after_the_separator(project):
    before = project.show("--cache-mode", "remote", "--mode", "fast")
    after = project.show("--", "--mode", "fast", "--cache-mode", "remote")
    assert before.data == after.data


def test_each_option_is_emitted_once_sorted_by_its_positive_name(project):
    tokens = [
        "--no-toy-switch",
        "--toy-size=1",
        "-ts",
        "1",
        "--toy-other",
        "2",
        "--toy-share=1",
        "--toy-many",
        "x",
        "y",
    ]
    argv = project.show("--", *tokens).data["argv"]
    assert argv == [
        *("toy", "serve", "org/alpha", "--port", "8000", "--toy-many", "x", "y", "--toy-other", "2"),
        *("--toy-share", "1.0", "--toy-size", "1", "--no-toy-switch"),
    ]


@pytest.mark.parametrize(
    ("tokens", "emitted"),
    [
        (["--toy-share", "0"], ["--toy-share", "0.0"]),
        (["--toy-share", "24"], ["--toy-share", "24.0"]),
        (["--toy-share", "1e-3"], ["--toy-share", "0.001"]),
        (["--toy-length", "2k"], ["--toy-length", "2000"]),
        (["--toy-length", "auto"], ["--toy-length", "auto"]),
        (["--toy-pair", "1", "2"], ["--toy-pair", "1", "2"]),
        (["--toy-name", ""], ["--toy-name", ""]),
        (["--toy-map", "{}"], ["--toy-map", "{}"]),
        (["--toy-map", '{"b": 1.0, "a": [1, {"c": null}]}'], ["--toy-map", '{"b":1.0,"a":[1,{"c":null}]}']),
        (["--toy-map.u", "\N{SNOWMAN}"], ["--toy-map", '{"u":"\N{SNOWMAN}"}']),
        (["--toy-only-on"], ["--toy-only-on"]),
    ],
)
def test_a_value_is_emitted_in_its_canonical_form(toy, tokens, emitted):
    assert list(toy.plan(tokens=tokens).argv[5:]) == emitted


@pytest.mark.parametrize(
    ("text", "emitted"),
    [
        ("-x", ["--toy-name=-x"]),
        ("--toy-size", ["--toy-name=--toy-size"]),
        ("-1e5", ["--toy-name=-1e5"]),
        ("-1", ["--toy-name", "-1"]),
        ("-.5", ["--toy-name", "-.5"]),
        ("-", ["--toy-name", "-"]),
    ],
)
def test_a_value_that_a_parser_would_take_for_a_flag_is_glued_to_its_own(toy, text, emitted):
    plan = toy.plan(tokens=[f"--toy-name={text}"])
    assert list(plan.argv[5:]) == emitted
    parser = argparse.ArgumentParser()
    parser.add_argument("--toy-name")
    assert parser.parse_args(emitted).toy_name == text


def test_a_control_never_reaches_the_engine(toy):
    plan = toy.plan(tokens=["--mode", "fast", "--stop-grace", "60", "--checkpoint", "small"])
    assert not {"--mode", "--stop-grace", "--checkpoint", "--draft-tokens"} & set(plan.argv)
    assert plan.stop_grace == 60


def test_tokens_that_no_catalog_knows_are_passed_on_as_they_stood_with_a_notice(toy):
    plan = toy.plan(tokens=["--new", "1", "--other=2", "--toy-size", "3"], allow_unknown=True)
    assert plan.argv[-3:] == ("--new", "1", "--other=2")
    assert [notice.code for notice in plan.notices] == ["allowed-unknown", "allowed-unknown"]
