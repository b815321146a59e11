"""The digest changes when, and only when, what will run changes."""

from __future__ import annotations

import pytest

BOX = """version: 1
kind: hardware
id: box
options: {toy-size: 4, toy-map: {a: 1, b: 2}}
environment: {TOY_A: x, TOY_B: y}
"""
REMOTE = ("--cache-mode", "remote")


def digest(toy, *texts, tokens=(), **selection):
    return toy.plan(*texts, tokens=tokens, **selection).digest


@pytest.mark.parametrize(
    "same",
    [
        BOX + "# a comment\n",
        "\n\n" + BOX.replace("toy-size: 4", "toy-size:    4"),
        BOX.replace("{TOY_A: x, TOY_B: y}", "{TOY_B: y, TOY_A: x}"),
        BOX.replace("toy-size: 4, toy-map: {a: 1, b: 2}", "toy-map: {a: 1, b: 2}, toy_size: 4"),
        BOX + "title: another\nwhy: {toy-size: because}\nevidence: [{source: s, state: measured}]\n",
        BOX + "notice: [{code: hello, when: 'true', text: hello}]\n",
        BOX + "require: [{that: 'true', else: no}]\n",
        BOX + "derive: [{set: toy-size, to: '4'}]\n",
    ],
    ids=["comment", "layout", "order of variables", "order of options", "prose", "notice", "requirement", "derivation"],
)
def test_what_only_people_read_does_not_change_it(toy, same):
    assert digest(toy, same) == digest(toy, BOX)


def test_who_says_it_does_not_change_it(toy):
    plain = digest(toy, tokens=["--toy-size", "4"])
    assert plain == digest(toy, assigned=(("TOY_SIZE", "4"),))
    assert plain == digest(toy, environ={"TS": "4"})
    assert plain == digest(toy, settings=toy.settings("version: 1\nkind: settings\noptions: {toy-size: 4}"))
    assert plain == digest(toy, "version: 1\nkind: hardware\nid: box\nextends: crate\noptions: {toy-size: 4}")
    assert plain == digest(toy, tokens=["--toy_size=4"])


def test_what_is_beaten_does_not_change_it(toy):
    assert digest(toy, tokens=["--toy-size", "4"], environ={"TS": "9"}) == digest(toy, tokens=["--toy-size", "4"])


def test_what_passes_through_unlisted_does_not_change_it(toy):
    assert digest(toy, environ={"HOME": "/root", "PATH": "/bin", "TERM": "dumb"}) == digest(toy)


def test_facts_that_decide_nothing_do_not_change_it(toy):
    assert digest(toy, facts={}) == digest(toy, facts={"kernel": {"release": "1.0"}})


def test_the_name_of_a_document_does_not_change_it(toy):
    other = "version: 1\nkind: hardware\nid: other\nextends: crate"
    assert digest(toy, other, hardware="other") == digest(toy)


@pytest.mark.parametrize(
    "different",
    [
        {"tokens": ["--toy-size", "5"]},
        {"tokens": ["--toy-other", "5"]},
        {"tokens": ["--toy-map.a", "5"]},
        {"tokens": ["--model", "org/other"]},
        {"tokens": ["--toy-name", ""]},
        {"assigned": (("TOY_A", "z"),)},
        {"assigned": (("TOY_C", ""),)},
        {"environ": {"NCCL_DEBUG": "INFO"}},
        {"tokens": [*REMOTE]},
        {"tokens": ["--stop-grace", "31"]},
        {"tokens": ["--new"], "allow_unknown": True},
    ],
    ids=str,
)
def test_what_runs_differently_changes_it(toy, different):
    assert digest(toy, BOX, **different) != digest(toy, BOX)


def test_the_cache_server_is_part_of_it(toy):
    remote = """
    version: 1
    kind: overlay
    id: remote
    cache-mode: remote
    service: {arguments: [{flag: --port, value: '%s'}], health-url: '"%s"', environment: [{name: A, value: '%s'}]}
    """
    plain = digest(toy, remote % ("1", "u", "a"), tokens=REMOTE)
    for other in (("2", "u", "a"), ("1", "v", "a"), ("1", "u", "b")):
        assert digest(toy, remote % other, tokens=REMOTE) != plain
    assert digest(toy, remote % ("1", "u", "a"), tokens=REMOTE) == plain


def test_the_command_of_the_engine_is_part_of_it(toy):
    engine = "version: 1\nkind: engine\nid: toy\ncatalog: vllm-0.33.0\ncommand: [%s, serve]"
    assert digest(toy, engine % "one") != digest(toy, engine % "two")


def test_the_files_of_an_overlay_are_part_of_it(toy):
    fix = "version: 1\nkind: overlay\nid: fix\nwhen: 'true'\nfiles: {toy/kernel.py: '%s'}"
    assert digest(toy, fix % "a = 1") != digest(toy, fix % "a = 2")
    assert digest(toy, fix % "a = 1") != digest(toy)


def test_the_words_of_an_overlay_with_files_are_no_part_of_it(toy):
    fix = "version: 1\nkind: overlay\nid: fix\nwhen: 'true'\nfiles: {toy/kernel.py: 'a = 1'}\n"
    assert digest(toy, fix + "# a comment") == digest(toy, fix)


def test_the_path_of_a_document_does_not_change_it(project):
    before = project.show().data["digest"]
    (project.root / "policy").rename(project.root / "moved")
    project.write("moved/deep/box.yaml", (project.root / "moved/box.yaml").read_bytes())
    (project.root / "moved/box.yaml").unlink()
    words = project.run("--policy", str(project.root / "moved"), *project.SELECTION[2:], "--print-config")
    assert words.data["digest"] == before


def test_a_secret_counts_by_its_name_so_that_no_digest_tests_a_guess(toy):
    one, two = (digest(toy, tokens=["--toy-api-key", key]) for key in ("first", "second"))
    assert one == two != digest(toy)
