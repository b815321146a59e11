"""Wrong input of every kind: one clean error, status 2, never a traceback, nothing dropped in silence."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        (["--profile", "alfa"], ["unknown profile 'alfa'", "allowed: alpha, "]),
        (["--profile", "alphaa"], ["unknown profile 'alphaa'", "did you mean alpha?"]),
        (["--hardware", "boxx"], ["unknown hardware 'boxx'", "did you mean box?"]),
        (["--preset", "nothing"], ["unknown preset 'nothing'"]),
        (["--overlay", "mxfp8-hed"], ["unknown overlay 'mxfp8-hed'", "did you mean mxfp8-head?"]),
        (["--overlay", "remote"], ["is a cache mode", "--cache-mode remote"]),
        (["--hardware", "crate"], ["is a class of others"]),
        (["--profile", "common"], ["is a class of others"]),
        (["--cache-mode", "remot"], ["unknown cache-mode 'remot'", "did you mean remote?"]),
        (["--mode", "fats"], ["unknown mode 'fats'", "did you mean fast?"]),
        (["--checkpoint", "smal"], ["unknown checkpoint 'smal'", "did you mean small?"]),
        (["--", "--toy-sise", "4"], ["--toy-sise is no option of this engine", "did you mean --toy-size?"]),
        (["--prnt-config"], ["no such option: --prnt-config", "did you mean --print-config?"]),
        (["--toy-size", "4"], ["no such option: --toy-size", "engine options stand after --"]),
        (["--print-config=jsn"], ["jsn"]),
        (["--", "org/model"], ["a value without a flag: 'org/model'", "--model org/model"]),
        (["--", "--toy-switch", "true"], ["a value without a flag: 'true'", "a switch takes no value"]),
        (["--", "--toy-switch=true"], ["--toy-switch takes no value"]),
        (["--", "--toy-size"], ["--toy-size needs a value"]),
        (["--", "--toy-size", "--toy-other", "3"], ["--toy-size needs a value"]),
        (["--", "--model", ""], ["no model"]),
        (["--", "--model=--toy-size"], ["model is '--toy-size', which the engine takes for a flag"]),
        (["--", "--toy-pair", "1"], ["--toy-pair needs 2 values, not 1"]),
        (["--", "--toy-pair", "1", "2", "3"], ["a value without a flag: '3'"]),
        (["--", "--toy-size.field", "3"], ["toy-size has no fields"]),
        (["--", "--toy-map.a.b", "1", "--toy-map.a=2"], ["toy-map is written twice"]),
        (["--", "--toy-size 4"], ["one token holds a flag and a value: '--toy-size 4'", "hint: --toy-size 4"]),
        (["--", "--toy-map", "method:dspark"], ["needs a mapping", '{"method": "dspark"}']),
        (["--", "--toy-name", "a\0b"], ["NUL byte"]),
        (["--env", "TOY\n=1"], ["--env takes NAME=VALUE"]),
        (["--env", "1A=1"], ["--env takes NAME=VALUE"]),
        (["--env", "=1"], ["--env takes NAME=VALUE"]),
        (["--env", "NAME"], ["--env takes NAME=VALUE"]),
        (["--env", "NA\0ME=1"], ["--env takes NAME=VALUE"]),
        (["--env", "A=1\0"], ["--env takes NAME=VALUE"]),
        (["--env", "\N{SNOWMAN}=1"], ["--env takes NAME=VALUE"]),
        (["--profile", "../../etc/passwd"], ["unknown profile '../../etc/passwd'"]),
        (["--profile", "a\nb"], [r"unknown profile 'a\nb'"]),
        (["--profile", "a\0b"], ["unknown profile"]),
        (["--profile", ""], ["profile"]),
        (["--settings", "nowhere.yaml"], ["cannot read 'nowhere.yaml': no such file or directory"]),
        (["--settings", "policy"], ["cannot read 'policy': it is a directory"]),
        (["--settings", "a\0b"], ["cannot read"]),
        (["--settings", "/dev/zero"], ["it is not a regular file"]),
        (["--settings", "policy/alpha.yaml"], ["a profile where settings is wanted"]),
        (["--facts", "nowhere.json"], ["cannot read facts from 'nowhere.json'"]),
        (["--facts", "policy"], ["cannot read facts from 'policy'"]),
        (["--facts", "policy/alpha.yaml"], ["cannot read facts from"]),
        (["--policy", "nowhere"], ["no such policy directory: 'nowhere'"]),
        (["--policy", "policy/alpha.yaml"], ["'policy/alpha.yaml' is a file", "--policy policy"]),
        (["--policy", "a\0b"], ["no such policy directory"]),
        (["--env=A=1", "stray"], ["unknown verb 'stray'"]),
        (["--", "--toy-name", "\udcff"], ["is not UTF-8 text"]),
        (["--", "--toy-map.\udcff", "1"], ["is not UTF-8 text"]),
        (["--", "--toy-map", r'{"a": "\ud800"}'], ["toy-map is not UTF-8 text"]),
        (["--allow-unknown", "--", "--other", "\udcff"], ["is not UTF-8 text"]),
        (["--env", "A=\udcff"], ["A is not UTF-8 text"]),
        (["--env", r'TOY_MANY=["a\u0000"]'], ["toy-many holds a NUL byte"]),
    ],
)
def test_a_wrong_word_is_one_clean_error(project, arguments, fragments):
    words = project.run(*project.SELECTION, "--print-config", *arguments)
    words.refused(*fragments)


@pytest.mark.parametrize("form", ["json", "yaml", "table", "argv", "shell", "env"])
def test_a_beaten_value_that_is_no_text_is_shown_escaped(project, form):
    words = project.show("--", "--toy-name", "good", form=form, env={"LIL_SERVE_TOY_NAME": "\udcff"})
    assert (words.status, "Traceback" in words.err) == (0, False)
    words.out.encode()


def test_without_a_profile_the_profiles_are_listed(project):
    project.run("--policy", "policy", "--print-config").refused("no profile is selected", "alpha")


def test_every_problem_is_told_at_once(project):
    words = project.show("--mode", "fats", "--overlay", "nothing", "--", "--toy-sise", "4", "--toy-size", "x", "stray")
    words.refused("unknown mode 'fats'", "unknown overlay 'nothing'", "--toy-sise", "must be a whole number", "stray")
    assert words.err.count("error: ") == 5


@pytest.mark.parametrize(
    ("name", "content", "fragment"),
    [
        ("latin.yaml", b"version: 1\nkind: settings\noptions: {model: caf\xe9}\n", "not UTF-8 text"),
        ("empty.yaml", b"", "the document is empty"),
        ("huge.yaml", b"#" * (2 << 20), "is too large"),
        ("nul.yaml", b'version: 1\nkind: settings\noptions: {model: "a\\0b"}\n', "NUL byte"),
        ("deep.yaml", b"[" * 100_000, "error: "),
        ("bom.yaml", b"\xef\xbb\xbf" + b"version: 9\nkind: settings\n", "version 9"),
    ],
)
def test_a_wrong_settings_file_is_one_clean_error_with_its_place(project, name, content, fragment):
    project.write(name, content)
    project.show("--settings", name).refused(fragment, name)


@pytest.mark.parametrize("content", ["[]", "3", "{", '{"gpus": NaN', "\xff", "[" * 100_000])
def test_a_wrong_facts_file_is_one_clean_error(project, content):
    project.write("facts.json", content.encode("latin-1"))
    project.show("--facts", "facts.json").refused("facts")


@pytest.mark.parametrize(
    "facts",
    [
        '{"kernel": 3}',
        '{"gpus": "many"}',
        '{"gpus": [1, null]}',
        '{"kernel": {"release": null}}',
        '{"memory": {"total_gib": 1e400}}',
        '{"memory": {"total_gib": 123456789012345678901234567890}}',
        '{"": ""}',
        '{"a": [[[[[[]]]]]]}',
    ],
)
def test_facts_of_odd_shapes_give_a_plan_or_a_clean_error(project, facts):
    project.write("odd.json", facts)
    words = project.show("--facts", "odd.json")
    assert (words.status == 0 and words.data["profile"] == "alpha") or words.err.startswith("error: ")
    assert "Traceback" not in words.err


def test_a_fifo_as_a_file_is_refused_and_never_waited_for(project):
    os.mkfifo(project.root / "pipe")
    os.mkfifo(project.root / "policy" / "pipe.yaml")
    project.show("--settings", "pipe").refused("it is not a regular file")


@pytest.mark.parametrize("name", ["--facts", "--settings"])
def test_a_dangling_link_is_no_file(project, name):
    (project.root / "link").symlink_to("nowhere")
    project.show(name, "link").refused("no such file or directory")


def test_a_symlink_loop_in_a_policy_ends(project):
    (project.root / "policy" / "again").symlink_to("..")
    (project.root / "policy" / "self.yaml").symlink_to("self.yaml")
    project.show().refused("self.yaml")
    (project.root / "policy" / "self.yaml").unlink()
    assert project.show().status == 0


def test_two_documents_of_one_id_are_an_error_naming_both(project):
    project.write("policy/second.yaml", (project.root / "policy/alpha.yaml").read_bytes())
    project.show().refused("profile 'alpha' is also policy/alpha.yaml", "policy/second.yaml:3:1")


def test_a_document_that_shadows_a_shipped_one_must_say_so(project):
    text = (project.root / "policy/common.yaml").read_text().replace("replaces: true\n", "")
    project.write("policy/common.yaml", text)
    project.show().refused("profile 'common' is a shipped document", "replaces: true")


def test_a_document_that_replaces_a_shipped_one_is_named_in_the_plan(project):
    notices = project.show().data["notices"]
    assert "profile common is policy/common.yaml, in place of profiles/common.yaml" in [n["text"] for n in notices]


def test_the_problems_of_all_files_are_told_together(project):
    project.write("policy/one.yaml", "version: 1\nkind: profile\nid: one\noptons: {}")
    project.write("policy/two.yaml", "version: 1\nkind: hardware\nid: two\nrequire: [{}]")
    words = project.show()
    words.refused("policy/one.yaml:4:1", "policy/two.yaml:4:11")


def test_policy_directories_may_come_from_the_variable_too(project):
    words = project.run(
        *project.SELECTION[2:], "--print-config=argv", env={"LIL_SERVE_POLICY": f"{project.root}/policy"}
    )
    assert words.status == 0


@pytest.mark.parametrize("chain", [("one", "one"), ("one", "two")])
def test_documents_that_extend_each_other_are_an_error(project, chain):
    for name, parent in (chain, chain[::-1]):
        project.write(f"policy/{name}.yaml", f"version: 1\nkind: hardware\nid: {name}\nextends: {parent}")
    project.show("--hardware", "one").refused("extends itself")


def test_a_document_that_extends_nothing_known_is_an_error_at_its_line(project):
    project.write("policy/one.yaml", "version: 1\nkind: hardware\nid: one\nextends: boxx")
    project.show("--hardware", "one").refused("unknown hardware 'boxx'", "policy/one.yaml:4:1", "did you mean box?")


def test_an_unknown_catalog_is_an_error_at_its_line(project):
    project.write("policy/engine.yaml", "version: 1\nkind: engine\nid: toy\ncommand: [toy]\ncatalog: no-such")
    project.show().refused("no catalog 'no-such' is shipped", "policy/engine.yaml:5:1")


@pytest.mark.parametrize("verb", ["explain", "diff", "list", "launch"])
def test_every_verb_refuses_an_unknown_option_in_the_same_way(project, verb):
    project.run(verb, "--wrong-option").refused("no such option: --wrong-option")


def test_strict_turns_a_notice_into_an_error(project):
    words = project.show("--strict", env={"TOY_MOOD": "", "TS": ""})
    words.refused("TS is empty in the environment", "--strict")


def test_a_closed_pipe_is_no_traceback(project):
    line = f"{sys.executable} -m lilserve --profile tiny-cpu --print-config -- --model x | true"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False, timeout=60)
    assert done.stderr == ""
    assert project.root.is_dir()


words = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)
spelled = st.sampled_from(
    [
        *("--toy-size", "--toy_map", "--toy-map.a", "--toy-many", "--toy-pair", "--toy-switch", "--no-toy-switch"),
        *("--toy-size=4", "--toy-map={}", "--toy-map.a.b=1", "--toy-map.a+", "--cache-mode", "--mode", "-tp", "-ts=3"),
        *("--", "-", "---", "--=", "--.", "--toy-map.", "--toy-map..a", "{}", "[]", "-1", "-.5", "true", "", " ", "="),
        *('{"a":1}', "null", "1e999", "--toy-only-on", "--allow-unknown", "--toy-length", "1k", "off", "fast"),
    ]
)


@settings(max_examples=500)
@given(st.lists(spelled | words, max_size=6), st.booleans())
def test_any_words_of_the_engine_give_a_plan_or_a_clean_error(toy_command, tokens, allow):
    extra = ["--allow-unknown"] if allow else []
    found = toy_command([], "--print-config", *extra, "--", *tokens)
    assert found.status in (0, 2)
    assert found.out if found.status == 0 else found.err.startswith("error: ")


@settings(max_examples=200)
@given(
    st.lists(spelled | words | st.sampled_from(["--env", "--overlay", "--preset", "--settings", "--facts"]), max_size=5)
)
def test_any_words_of_our_own_give_a_plan_or_a_clean_error(toy_command, tokens):
    found = toy_command([], "--print-config", *tokens)
    assert found.status in (0, 2)
    assert found.out if found.status == 0 else found.err.startswith("error: ")


@settings(max_examples=200)
@given(
    st.dictionaries(
        st.sampled_from(
            [
                "TS",
                "TOY_MAP",
                "TOY_SWITCH",
                "TOY_MANY",
                "MODEL",
                "PORT",
                "CACHE_MODE",
                "VLLM_PORT",
                "NCCL_X",
                "LIL_SERVE_X",
                "LIL_SERVE_POLICY",
                "LIL_SERVE_HARDWARE",
            ]
        ),
        st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=12),
    )
)
def test_any_variables_give_a_plan_or_a_clean_error(toy_command, variables):
    found = toy_command([], "--print-config", env=variables)
    assert found.status in (0, 2)
    assert found.out if found.status == 0 else found.err.startswith("error: ")
