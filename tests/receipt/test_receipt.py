"""A receipt is what was resolved, without secrets; `--locked` lets nothing else run and says what differs."""

from __future__ import annotations

import json

import pytest

LAUNCH = ("--max-num-seqs", "4")


@pytest.fixture
def receipt(project):
    """The receipt of a launch, as a file."""
    words = project.run("receipt", *project.SELECTION, "--", *LAUNCH)
    assert words.status == 0, words
    project.write("launch.json", words.out)
    return words.data


def locked(project, *engine, env=None):
    return project.run(*project.SELECTION, "--locked", "launch.json", "--print-config", "--", *engine, env=env)


def test_it_holds_digests_engine_facts_and_argv(project, receipt):
    plan = project.show("--", *LAUNCH).data
    assert (receipt["kind"], receipt["version"]) == ("receipt", 1)
    assert receipt["digest"] == plan["digest"]
    assert receipt["argv"] == plan["argv"]
    assert receipt["environment"] == {name: leaf["value"] for name, leaf in plan["environment"].items()}
    assert receipt["engine"]["id"] == plan["engine"]["id"]
    assert "policy/alpha.yaml" in receipt["documents"]
    assert all(len(digest) == 64 for digest in receipt["documents"].values())
    assert receipt["facts"]


def test_the_same_launch_may_run(project, receipt):
    words = locked(project, *LAUNCH)
    assert words.status == 0
    assert words.data["digest"] == receipt["digest"]


def test_another_launch_is_refused_with_the_difference(project, receipt):
    assert receipt
    locked(project, "--max-num-seqs", "5").refused(
        "not the one of the receipt launch.json", "~ --max-num-seqs 4 -> 5", "hint: "
    )
    locked(project, *LAUNCH, env={"OMP_NUM_THREADS": "2"}).refused("+ OMP_NUM_THREADS 2")
    locked(project, *LAUNCH, "--stop-grace", "60").refused("~ stop-grace 30 -> 60")


def test_a_reworded_document_is_the_same_launch(project, receipt):
    assert receipt
    path = project.root / "policy" / "alpha.yaml"
    path.write_text("# another comment\n" + path.read_text().replace("A model of the tests", "Another title"))
    assert locked(project, *LAUNCH).status == 0


def test_no_secret_is_in_a_receipt_or_in_a_difference(project):
    env = {"VLLM_API_KEY": "hush-hush-one"}
    words = project.run("receipt", *project.SELECTION, "--", *LAUNCH, env=env)
    assert "hush" not in words.out
    project.write("launch.json", words.out)
    other = locked(project, "--max-num-seqs", "5", env={"VLLM_API_KEY": "hush-hush-two"})
    other.refused("~ --max-num-seqs 4 -> 5")
    assert "hush" not in other.err
    # A secret is no visible difference; the digest still knows it.
    rotated = locked(project, *LAUNCH, env={"VLLM_API_KEY": "hush-hush-two"})
    assert rotated.status == 0 or "a secret or a file of an overlay differs" in rotated.err


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"kind": "receipt"}',
        '{"kind": "receipt", "version": 2}',
        '{"kind": "receipt", "version": 1}',
    ],
)
def test_what_is_no_receipt_is_one_clean_error(project, text):
    project.write("launch.json", text)
    locked(project, *LAUNCH).refused("receipt", "hint: lil-serve receipt")


def test_a_damaged_receipt_is_one_clean_error(project, receipt):
    for key in ("digest", "argv", "environment", "engine", "stop_grace", "profile"):
        project.write("launch.json", json.dumps({**receipt, key: None}))
        locked(project, *LAUNCH).refused("is damaged")
    project.write("launch.json", json.dumps({**receipt, "digest": "0" * 64, "cache_service": {"argv": [1]}}))
    locked(project, *LAUNCH).refused("is damaged")


def test_a_receipt_that_is_not_there_is_one_clean_error(project):
    locked(project, *LAUNCH).refused("cannot read the receipt 'launch.json'")


def test_it_is_written_to_a_file(project):
    words = project.run("receipt", *project.SELECTION, "--output", "kept.json", "--", *LAUNCH)
    assert (words.status, words.out) == (0, "")
    assert json.loads((project.root / "kept.json").read_text())["kind"] == "receipt"
    project.run("receipt", *project.SELECTION, "--output", "no/such/kept.json").refused(
        "cannot write 'no/such/kept.json'"
    )
