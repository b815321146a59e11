"""`explain`: who set a value, where, against whom, from what and why; it tells what the resolver recorded."""

from __future__ import annotations

import json

ALPHA = """
version: 1
kind: profile
id: alpha
title: A model
engine: toy
evidence:
  - {source: the whole card, state: measured, covers: [toy-size]}
  - {source: a guess, state: untested, covers: [toy-other]}
options:
  model: org/alpha
  toy-size: 1
  toy-map: {a: 1, deep: {b: 2}}
  toy-other: 3
environment: {TOY_MOOD: calm}
why: {toy-size: the recipe says one, TOY_MOOD: nobody likes noise}
derive: [{set: toy-share, to: 'double(o["toy-size"]) / 2.0', when: 'o["toy-size"] != null', why: half}]
"""


def explain(project, *names, after=(), **more):
    project.write("policy/alpha.yaml", ALPHA)
    return project.run("explain", *names, *project.SELECTION, *more.pop("own", ()), "--", *after, **more)


def test_a_value_is_told_with_origin_place_why_evidence_and_everything_it_beat(project):
    words = explain(project, "toy-size", after=["--toy-size", "9"], env={"TS": "7"})
    assert words.out.splitlines() == [
        "toy-size = 9",
        "  set by   cli",
        "  over     environment:TS: 7",
        "  over     model:alpha at policy/alpha.yaml:12:3: 1",
    ]


def test_why_and_evidence_are_those_of_the_winner(project):
    words = explain(project, "toy-size")
    assert words.out.splitlines() == [
        "toy-size = 1",
        "  set by   model:alpha at policy/alpha.yaml:12:3",
        "  why      the recipe says one",
        "  evidence the whole card (measured)",
    ]


def test_a_derived_value_is_told_with_its_inputs(project):
    words = explain(project, "toy-share", after=["--toy-size", "3"])
    assert words.out.splitlines()[:4] == [
        "toy-share = 1.5",
        "  set by   derived:alpha at policy/alpha.yaml:17:27",
        "  from     toy-size = 3",
        "  why      half",
    ]


def test_a_variable_is_told_by_its_name(project):
    words = explain(project, "TOY_MOOD", own=["--env", "TOY_MOOD=loud"])
    assert words.out.splitlines() == [
        "TOY_MOOD = loud",
        "  set by   cli:environment",
        "  over     model:alpha at policy/alpha.yaml:15:15: calm",
    ]


def test_a_dotted_leaf_is_told_alone_and_a_mapping_leaf_by_leaf(project):
    for name in ("toy-map.deep.b", "toy_map.deep.b", "toy-map/deep/b"):
        assert explain(project, name).out.splitlines()[0] == "toy-map/deep/b = 2"
    words = explain(project, "toy-map")
    assert [line for line in words.out.splitlines() if " = " in line] == ["toy-map/a = 1", "toy-map/deep/b = 2"]


def test_a_removed_value_is_told_with_who_removed_it(project):
    project.write(
        "policy/box.yaml",
        "version: 1\nkind: hardware\nid: box\noptions: {toy-size: null}\nenvironment: {TOY_MOOD: null}",
    )
    words = explain(project, "toy-size", "TOY_MOOD")
    assert words.out.splitlines() == [
        "toy-size = nothing",
        "  removed by hardware:box at policy/box.yaml:4:11",
        "  over     model:alpha at policy/alpha.yaml:12:3: 1",
        "",
        "TOY_MOOD = nothing",
        "  removed by hardware:box at policy/box.yaml:5:15",
        "  over     model:alpha at policy/alpha.yaml:15:15: calm",
    ]


def test_as_json_a_trail_is_told_weakest_first(project):
    (record,) = json.loads(explain(project, "toy-size", "--json", after=["--toy-size", "9"]).out)
    assert record["name"] == "toy-size"
    assert [(one["origin"], one["value"], one["at"]) for one in record["trail"]] == [
        ("model:alpha", 1, "policy/alpha.yaml:12:3"),
        ("cli", 9, None),
    ]


def test_several_names_are_told_in_the_order_asked(project):
    words = explain(project, "toy-other", "model")
    assert [line for line in words.out.splitlines() if " = " in line] == ["toy-other = 3", "model = org/alpha"]


def test_an_unknown_name_is_offered_the_nearest(project):
    explain(project, "toy-sise").refused("no option or variable 'toy-sise'", "did you mean toy-size?")
    explain(project, "TOY_MOD").refused("did you mean TOY_MOOD?")


def test_an_option_that_nobody_set_is_told_so(project):
    explain(project, "toy-length").refused("nothing sets toy-length in this launch")


def test_an_unknown_leaf_is_an_error(project):
    explain(project, "toy-map.nothing").refused("toy-map.nothing")


def test_without_a_name_it_is_a_usage_error(project):
    project.run("explain", *project.SELECTION).refused("missing argument")


def test_a_broken_launch_is_refused_before_anything_is_explained(project):
    explain(project, "toy-size", after=["--toy-other", "many"]).refused("toy-other must be a whole number")


def test_nothing_is_computed_anew(project):
    """What explain says of an option is what the printed plan says of it."""
    project.write("policy/alpha.yaml", ALPHA)
    plan = project.show("--", "--toy-size", "9").data["options"]["toy-size"]
    (record,) = json.loads(explain(project, "toy-size", "--json", after=["--toy-size", "9"]).out)
    assert record["trail"] == [*plan["over"], {key: plan[key] for key in ("value", "origin", "at")}]
