"""Words in the wrong place: one error, and a hint that can be pasted."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

import pytest

QWEN = ("--profile", "qwen38-flash-next")


def hints(words):
    return [line.removeprefix("  hint: ") for line in words.err.splitlines() if line.startswith("  hint: ")]


def errors(words):
    return [line.removeprefix("error: ") for line in words.err.splitlines() if line.startswith("error: ")]


@pytest.mark.parametrize(
    ("line", "error", "hint"),
    [
        (
            "--profile X explain Y --json",
            "the verb stands first: explain",
            "lil-serve explain --profile X Y --json",
        ),
        ("explian max-num-seqs", "unknown verb 'explian'", "lil-serve explain max-num-seqs"),
        ("explian --json x y", "unknown verb 'explian'", "lil-serve explain --json x y"),
        ("help", "unknown verb 'help'", "lil-serve --help"),
        ("lauch", "unknown verb 'lauch'", "lil-serve --help"),
        ("tiny-cpu --print-config", "unknown verb 'tiny-cpu'", "lil-serve --profile tiny-cpu --print-config"),
        ("--strict nothing at all", "unknown verb 'nothing'", "lil-serve --help"),
        (
            "--profile X --max-model-len 5 --print-config",
            "no such option: --max-model-len; engine options stand after --",
            "lil-serve --profile X --print-config -- --max-model-len 5",
        ),
        (
            "--profile X --port=9 -- --seed 1",
            "no such option: --port; engine options stand after --",
            "lil-serve --profile X -- --port=9 --seed 1",
        ),
        (
            "-tp 1 --model x --profile X",
            "no such option: -tp; engine options stand after --",
            "lil-serve --profile X -- -tp 1 --model x",
        ),
        (
            "explain model --profile X --speculative-config.method mtp",
            "no such option: --speculative-config.method; engine options stand after --",
            "lil-serve explain model --profile X -- --speculative-config.method mtp",
        ),
        (
            "explain --max-num-seqs 4 --profile X",
            "no such option: --max-num-seqs; engine options stand after --",
            "lil-serve explain --max-num-seqs --profile X -- --max-num-seqs 4",
        ),
        ("--profil X", "no such option: --profil", "did you mean --profile?"),
        ("explain x --wrong-thing", "no such option: --wrong-thing", "lil-serve explain --help"),
        ("--wrong-thing", "no such option: --wrong-thing", "lil-serve --help"),
        ("--max-num-seq 4", "no such option: --max-num-seq", "did you mean --max-num-seqs, behind --?"),
        ("--policy x check", "the verb stands first: check", "lil-serve check --help"),
        ("explain --profile X", "missing argument 'NAME...'", "lil-serve explain --help"),
        (
            "--print-config -- --seed 1 --profile X",
            "--profile is an option of lil-serve, which stands before --",
            "lil-serve --print-config --profile X -- --seed 1",
        ),
        (
            "explain seed --profile qwen38-flash-next -- --print-config",
            "--print-config is an option of lil-serve, which stands before --",
            "lil-serve explain --help",
        ),
        (
            "--profile qwen38-flash-next -- --help",
            "--help is an option of lil-serve, which stands before --",
            "lil-serve --profile qwen38-flash-next --help",
        ),
        ('--profile ""', "--profile is empty", "--profile NAME"),
        ('--settings "" --profile tiny-cpu', "--settings is empty", "--settings FILE"),
        ("catalog --id x", "--id is about an installed engine", "lil-serve catalog --from-installed"),
    ],
)
def test_a_misplaced_word_is_one_error_with_the_command_that_was_meant(project, line, error, hint):
    words = project.run(*shlex.split(line))
    assert words.status == 2
    assert (errors(words)[0], hints(words)[0]) == (error, hint)
    assert len(errors(words)) == 1


@pytest.mark.parametrize(
    "line",
    [
        "--profile qwen38-flash-next explain max-num-seqs",
        "--max-model-len 512 --profile qwen38-flash-next --print-config -tp 1",
        "--print-config -- --seed 1 --profile qwen38-flash-next --hardware=native",
        "explain --max-num-seqs 4 --profile qwen38-flash-next",
        "qwen38-flash-next --print-config",
    ],
)
def test_a_hint_that_is_a_command_works(project, line):
    words = project.run(*shlex.split(line))
    assert words.status == 2
    program, *again = shlex.split(hints(words)[0])
    assert program == "lil-serve"
    assert project.run(*again).status == 0


def test_a_hint_shows_no_secret(project):
    words = project.run("--api-key", "hush'hush hush", "--env", "MY_TOKEN=hushhush", *QWEN)
    words.refused("engine options stand after --")
    assert "hush" not in words.err


def test_an_empty_argument_is_named_and_gets_no_hint(project):
    words = project.run(*QWEN, "--print-config", "--", "")
    assert words.err == "error: an empty argument where an option is wanted\n"


def test_the_hint_of_a_missing_model_stands_where_it_can_be_pasted(project):
    project.write("policy/bare.yaml", "version: 1\nkind: profile\nid: bare\nengine: toy\n")
    own = ("--policy", "policy", "--profile", "bare", "--print-config")
    assert hints(project.run(*own)) == ["-- --model NAME"]
    assert hints(project.run(*own, "--", "--toy-size", "3")) == ["--model NAME"]


@pytest.mark.parametrize("verb", [(), ("explain",), ("diff",), ("receipt",)])
def test_a_blank_in_place_of_an_equals_sign_shows_no_value(project, verb):
    words = project.run(*verb, "--env", "HF_TOKEN", "aSECRET", *QWEN)
    words.refused("--env takes NAME=VALUE, not HF_TOKEN")
    assert "aSECRET" not in words.err
    assert "aSECRET" not in project.run(*verb, *QWEN, "--env", "HF_TOKEN aSECRET").err


def test_settings_of_another_kind_are_told_so_before_anything_else(project):
    project.write("other.yaml", "version: 1\nkind: profile\nnonsense: 1\n")
    words = project.show("--settings", "other.yaml")
    assert (errors(words), hints(words)) == (["a profile where settings is wanted"], ["kind: settings"])
    assert "at other.yaml:2:1" in words.err
    project.write("none.yaml", "options: {port: 1}\n")
    words = project.show("--settings", "none.yaml")
    assert (errors(words), hints(words)) == (["no kind, where settings is wanted"], ["kind: settings"])
    project.write("wrong.yaml", "version: 1\nkind: settings\nnonsense: 1\n")
    project.show("--settings", "wrong.yaml").refused("nonsense")


def test_a_file_where_a_directory_of_documents_is_wanted(project):
    assert hints(project.run("list", "--policy", "policy/alpha.yaml")) == ["--policy policy"]
    words = project.run("list", env={"LIL_SERVE_POLICY": "policy/alpha.yaml"})
    words.refused("'policy/alpha.yaml' is a file", "LIL_SERVE_POLICY=policy")


def test_a_check_takes_a_file_as_well_as_a_directory(project):
    project.write("bad.yaml", b"version: 1\nkind: profile\nid: bad\nmoods: 1\n")
    words = project.run("check", "bad.yaml")
    assert words.status == 2
    assert words.out.startswith("bad.yaml:4:1: unknown key 'moods'")


def test_a_check_of_no_document_is_an_error(project):
    (project.root / "empty").mkdir()
    project.run("check", "empty").refused("no document in 'empty'")


def test_a_catalog_of_an_engine_that_is_not_there_is_a_usage_error(project):
    project.run("catalog", "--from-installed", "--python", sys.executable).refused("does not show its options")


def test_explain_answers_what_it_can_and_then_says_what_it_cannot(project):
    words = project.run("explain", "nothing-such", "-tp", "MAX_NUM_SEQS", "TP", "cache-l1-gib", "seed", *QWEN)
    assert words.status == 2
    names = [line.split(" = ")[0] for line in words.out.splitlines() if line and line[0] != " "]
    assert names == ["tensor-parallel-size", "max-num-seqs", "tensor-parallel-size"]
    assert errors(words) == [
        "this launch has no option or variable 'nothing-such'",
        "nothing sets the control cache-l1-gib in this launch, which does not use it",
        "nothing sets seed in this launch: the engine's own default holds",
    ]


def test_explain_says_of_an_unlisted_variable_only_that_it_passes_through(project):
    words = project.run("explain", "MY_VARIABLE", *QWEN, env={"MY_VARIABLE": "hushhush"})
    words.refused("MY_VARIABLE is in the environment and passes through, unlisted")
    assert "hushhush" not in words.err
    words = project.run("explain", "LIL_SERVE_PROFILE", env={"LIL_SERVE_PROFILE": QWEN[1]})
    words.refused("LIL_SERVE_PROFILE is in the environment and does not reach the engine")


@pytest.mark.parametrize(
    ("sides", "change"),
    [
        (["--max-num-seqs 2", "--max-num-seqs 8"], "~ --max-num-seqs 2 -> 8"),
        (["--max-num-seqs=2", "--max_num_seqs=8"], "~ --max-num-seqs 2 -> 8"),
        (["-tp 1 --mode mtp", "-tp=2 --mode=mtp"], "~ --tensor-parallel-size 1 -> 2"),
        (["--checkpoint csf -- --max-num-seqs 2", "--max-num-seqs 8"], "~ --max-num-seqs 2 -> 8"),
        (["--cache-mode lmcache --mode off", "--cache_mode=lmcache --mode off"], "both run the same thing"),
        (["--mode off --cache-mode vram", "--mode off"], "both run the same thing"),
    ],
)
def test_a_side_of_a_diff_may_be_engine_options_and_wins_over_what_both_share(project, sides, change):
    words = project.run("diff", *QWEN, "--cache-mode", "vram", *sides, "--", "--mode=mtp")
    assert words.status == 0, words
    assert words.out.splitlines()[2] == change


@pytest.mark.parametrize("form", ["argv", "shell", "env"])
def test_notices_stand_beside_an_output_that_has_no_place_for_them(project, form):
    words = project.run(*QWEN, f"--print-config={form}", env={"TP": ""})
    assert words.status == 0
    assert "notice: TP is empty in the environment, which counts as unset\n" in words.err
    assert "notice" not in words.out


@pytest.mark.parametrize("verb", [("explain", "model"), ("diff", "--mode off", "--mode mtp")])
def test_notices_of_a_question_stand_on_stderr_once(project, verb):
    words = project.run(*verb, *QWEN, env={"TP": ""})
    assert words.err.count("notice: TP is empty") == 1
    assert "notice" not in words.out


@pytest.mark.parametrize("form", ["json", "yaml", "table"])
def test_an_output_with_notices_inside_says_nothing_beside(project, form):
    words = project.run(*QWEN, f"--print-config={form}", env={"TP": ""})
    assert (words.status, words.err) == (0, "")
    assert "TP is empty" in words.out


def shell(line):
    program = f"{shlex.quote(sys.executable)} -W error -m lilserve"
    return subprocess.run(
        ["bash", "-c", line.replace("LIL", program)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={"PATH": os.environ.get("PATH", os.defpath), "PYTHONDONTWRITEBYTECODE": "1"},
    )


@pytest.mark.parametrize(
    ("line", "status", "err"),
    [
        ("LIL list > /dev/full", 1, "error: cannot write the output: no space left on device\n"),
        ("LIL --help > /dev/full", 1, "error: cannot write the output: no space left on device\n"),
        ("LIL list >&-", 1, "error: cannot write the output: bad file descriptor\n"),
        ("LIL list <&- >&-", 1, "error: cannot write the output: bad file descriptor\n"),
        ("LIL nothing >&- 2>&-", 2, ""),
        ("LIL facts 2>&- > /dev/null", 0, ""),
        ("LIL explain model --profile qwen38-flash-next --json | true; exit ${PIPESTATUS[0]}", 141, ""),
    ],
)
def test_an_output_that_cannot_be_written_is_one_line_and_a_status(line, status, err):
    done = shell(line)
    assert (done.returncode, done.stderr) == (status, err)


def test_an_empty_list_appended_to_a_field_is_an_empty_list(toy):
    assert toy.plan(tokens=["--toy-map.a+=[]"]).options["toy-map"].value == {"a": []}
