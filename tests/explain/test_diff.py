"""`diff`: what two selections run differently; who said so is no difference."""

from __future__ import annotations


def diff(project, *sides, form=()):
    return project.run("diff", *project.SELECTION, *form, *sides)


def changes(words):
    return [line for line in words.out.splitlines() if not line.startswith(("---", "+++"))]


def test_flags_and_variables_that_were_added_removed_or_changed(project):
    one = "--env TOY_A=1 --env TOY_B=1 -- --toy-size 1 --toy-other 1"
    other = "--env TOY_B=2 --env TOY_C=1 -- --toy-size 2 --toy-name x"
    assert changes(diff(project, one, other)) == [
        "- --toy-other 1",
        "+ --toy-name x",
        "~ --toy-size 1 -> 2",
        "- TOY_A 1",
        "+ TOY_C 1",
        "~ TOY_B 1 -> 2",
    ]


def test_the_same_values_from_other_places_are_no_difference(project):
    words = diff(project, "--env TOY_SIZE=4", "-- --toy_size=4")
    assert changes(words) == ["both run the same thing"]


def test_a_switch_that_was_turned_is_a_flag_for_another(project):
    assert changes(diff(project, "-- --toy-switch", "-- --no-toy-switch")) == ["- --toy-switch", "+ --no-toy-switch"]


def test_a_changed_cache_server_is_told_flag_by_flag(project):
    words = diff(project, "--cache-mode remote", "--cache-mode remote -- --port 9000")
    assert "~ cache server: --port 18000 -> 19000" in changes(words)
    assert "~ cache server: health_url http://127.0.0.1:18001/health -> http://127.0.0.1:19001/health" in changes(words)


def test_another_grace_is_a_difference(project):
    assert changes(diff(project, "--stop-grace 30", "--stop-grace 60")) == ["~ stop-grace 30 -> 60"]


def test_words_beside_the_sides_hold_for_both(project):
    words = project.run("diff", *project.SELECTION, "-- --toy-size 1", "-- --toy-size 2", "--cache-mode", "remote")
    assert words.out.splitlines()[0].endswith("cache remote, engine toy")
    assert changes(words) == ["~ --toy-size 1 -> 2"]


def test_as_json_the_sides_are_headers_and_same_is_said(project):
    data = diff(project, "-- --toy-size 1", "-- --toy-size 1", form=["--json"]).data
    assert data["same"] is True
    assert data["from"] == data["to"]
    assert data["flags"] == {"added": {}, "removed": {}, "changed": {}}


def test_one_side_or_three_are_refused(project):
    diff(project, "--cache-mode remote").refused("diff compares two selections, not 1")
    diff(project, "--cache-mode remote", "--cache-mode vram", "-- --toy-size 3").refused("two selections, not 3")


def test_a_side_that_is_wrong_is_refused_as_a_launch_would_be(project):
    diff(project, "--cache-mode remot", "--cache-mode vram").refused("unknown cache-mode 'remot'")
    diff(project, "--cache-mode 'remote", "--cache-mode vram").refused("cannot read the selection")


def test_a_secret_that_differs_shows_as_changed_without_its_values(project):
    words = diff(project, "--env X_TOKEN=first-one", "--env X_TOKEN=other-one")
    assert changes(words) == ["~ X_TOKEN <redacted> -> <redacted>"]
