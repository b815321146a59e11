"""`list`: the documents one can name."""

from __future__ import annotations

import pytest

SECTIONS = ("profiles", "hardware", "overlays", "presets", "engines")


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_lists_ids_with_titles(project, section):
    words = project.run("list", section, "--policy", "policy")
    assert (words.status, words.out.splitlines()[0]) == (0, section)


def test_own_documents_stand_among_the_shipped_ones_and_classes_do_not(project):
    rows = {row["id"]: row for row in project.run("list", "hardware", "--policy", "policy", "--json").data["hardware"]}
    assert rows["box"]["title"] == "A machine of the tests"
    assert rows["box"]["class"] == "crate"
    assert rows["box"]["path"] == "policy/box.yaml"
    assert "crate" not in rows
    assert {"cpu", "native"} <= set(rows)


def test_a_profile_is_listed_with_its_modes_and_checkpoints(project):
    rows = {row["id"]: row for row in project.run("list", "profiles", "--policy", "policy", "--json").data["profiles"]}
    assert (rows["alpha"]["modes"], rows["alpha"]["checkpoints"]) == (["fast", "off"], ["large", "small"])


def test_without_a_section_all_are_listed(project):
    assert list(project.run("list", "--json").data) == list(SECTIONS)


def test_an_unknown_section_is_refused_with_those_there_are(project):
    project.run("list", "profils").refused("profils", "profiles")


def test_every_listed_profile_may_be_selected_and_every_title_is_said(project):
    for row in project.run("list", "profiles", "--json").data["profiles"]:
        assert row["title"]
        words = project.run("--profile", row["id"], "--print-config=argv", "--", "--model", "org/some-model")
        assert words.status == 0 or "unknown profile" not in words.err
