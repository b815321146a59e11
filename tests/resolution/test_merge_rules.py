"""How values of one name meet: one test of three documents per rule, weakest first (DESIGN section 4)."""

from __future__ import annotations

import pytest

PROFILE = """
version: 1
kind: profile
id: alpha
engine: toy
options: {model: org/alpha, %s}
environment: {%s}
"""
HARDWARE = """
version: 1
kind: hardware
id: box
options: {%s}
environment: {%s}
"""
PRESET = """
version: 1
kind: preset
id: lane
profile: alpha
hardware: box
options: {%s}
environment: {%s}
"""
ORIGINS = ["model:alpha", "hardware:box", "preset:lane"]


def three(toy, one, two, three, **selection):
    """The plan of a profile, a machine and a preset that write these options."""
    return toy.plan(PROFILE % (one, ""), HARDWARE % (two, ""), PRESET % (three, ""), preset="lane", **selection)


def three_variables(toy, one, two, three):
    texts = (PROFILE % ("toy-size: 1", one), HARDWARE % ("", two), PRESET % ("", three))
    return toy.plan(*texts, preset="lane")


def history(leaf):
    return [(one.origin, one.value) for one in leaf.trail]


@pytest.mark.parametrize(
    ("one", "two", "last", "values"),
    [
        ("toy-size: 1", "toy-size: 2", "toy-size: 3", [1, 2, 3]),
        ("toy-share: 0.5", "toy-share: 1", "toy-share: 0.25", [0.5, 1, 0.25]),
        ("toy-name: a", "toy-name: ''", "toy-name: c", ["a", "", "c"]),
        ("toy-switch: true", "toy-switch: false", "toy-switch: true", [True, False, True]),
    ],
)
def test_a_scalar_replaces(toy, one, two, last, values):
    plan = three(toy, one, two, last)
    option = plan.options[one.partition(":")[0]]
    assert option.value == values[-1]
    assert history(option.leaves[""]) == list(zip(ORIGINS, values, strict=True))


def test_a_list_replaces_and_is_never_joined(toy):
    option = three(toy, "toy-many: [a, b]", "toy-many: [c]", "toy-many: [d, e]").options["toy-many"]
    assert option.value == ["d", "e"]
    assert history(option.leaves[""]) == list(zip(ORIGINS, [["a", "b"], ["c"], ["d", "e"]], strict=True))


def test_a_list_inside_a_mapping_replaces_too(toy):
    plan = three(toy, "toy-map: {l: [1, 2]}", "toy-map: {l: [3]}", "toy-map: {l: []}")
    assert plan.options["toy-map"].value == {"l": []}


def test_mappings_merge_leaf_by_leaf_each_with_its_own_trail(toy):
    plan = three(
        toy,
        "toy-map: {a: 1, deep: {x: 1, y: 1}}",
        "toy-map: {b: 2, deep: {x: 2}}",
        "toy-map: {a: 3, deep: {z: 3}}",
    )
    option = plan.options["toy-map"]
    assert option.value == {"a": 3, "deep": {"x": 2, "y": 1, "z": 3}, "b": 2}
    assert {at: history(leaf) for at, leaf in option.leaves.items()} == {
        "/a": [("model:alpha", 1), ("preset:lane", 3)],
        "/deep/x": [("model:alpha", 1), ("hardware:box", 2)],
        "/deep/y": [("model:alpha", 1)],
        "/b": [("hardware:box", 2)],
        "/deep/z": [("preset:lane", 3)],
    }


def test_keys_of_an_object_stand_in_order_of_first_appearance_weakest_first(toy):
    plan = three(toy, "toy-map: {z: 1}", "toy-map: {m: 2, z: 2}", "toy-map: {a: 3, m: 3}")
    assert '{"z":2,"m":3,"a":3}' in plan.argv


def test_a_scalar_takes_the_place_of_a_mapping_and_the_other_way_round(toy):
    plan = three(toy, "toy-map: {a: {x: 1}}", "toy-map: {a: 2}", "toy-map: {a: {y: 3}}")
    option = plan.options["toy-map"]
    assert option.value == {"a": {"y": 3}}
    said = [pair for leaf in (*option.leaves.values(), *option.displaced.values()) for pair in history(leaf)]
    assert ("model:alpha", 1) in said
    assert ("hardware:box", 2) in said


def test_a_json_root_on_the_command_line_replaces_the_whole_mapping(toy):
    plan = three(toy, "toy-map: {a: 1}", "toy-map: {b: 2}", "toy-map: {c: 3}", tokens=["--toy-map", '{"b": 9, "d": 4}'])
    option = plan.options["toy-map"]
    assert option.value == {"b": 9, "d": 4}
    assert history(option.leaves["/b"]) == [("hardware:box", 2), ("cli", 9)]
    gone = {at: [one.origin for one in leaf.trail] for at, leaf in option.displaced.items()}
    assert gone == {"/a": ["model:alpha", "cli"], "/c": ["preset:lane", "cli"]}


def test_an_empty_json_root_leaves_an_empty_mapping(toy):
    option = three(toy, "toy-map: {a: 1}", "toy-map: {b: 2}", "", tokens=["--toy-map", "{}"]).options["toy-map"]
    assert option.value == {}


def test_a_dotted_field_changes_one_leaf_of_what_the_documents_wrote(toy):
    tokens = ["--toy-map.b.c=7", "--toy-map.new", "text"]
    plan = three(toy, "toy-map: {a: 1}", "toy-map: {b: {c: 2}}", "", tokens=tokens)
    assert plan.options["toy-map"].value == {"a": 1, "b": {"c": 7}, "new": "text"}


def test_null_removes_the_weaker_value_and_is_recorded(toy):
    option = three(toy, "toy-size: 1", "toy-size: null", "").options["toy-size"]
    assert option.value is None
    assert [(one.origin, repr(one.value)) for one in option.displaced[""].trail] == [
        ("model:alpha", "1"),
        ("hardware:box", "removed"),
    ]
    assert "--toy-size" not in three(toy, "toy-size: 1", "toy-size: null", "").argv


def test_a_value_above_a_null_stands_and_the_trail_keeps_the_removal(toy):
    option = three(toy, "toy-size: 1", "toy-size: null", "toy-size: 3").options["toy-size"]
    assert option.value == 3
    assert [repr(one.value) for one in option.leaves[""].trail] == ["1", "removed", "3"]


def test_null_removes_one_leaf_of_a_mapping(toy):
    option = three(toy, "toy-map: {a: 1, b: 1}", "toy-map: {a: null}", "toy-map: {c: 3}").options["toy-map"]
    assert option.value == {"b": 1, "c": 3}
    assert [repr(one.value) for one in option.displaced["/a"].trail] == ["1", "removed"]


def test_null_removes_a_whole_mapping(toy):
    option = three(toy, "toy-map: {a: 1, b: {c: 1}}", "toy-map: null", "toy-map: {d: 3}").options["toy-map"]
    assert option.value == {"d": 3}
    assert {"/a", "/b/c"} <= set(option.displaced)


def test_null_removes_a_variable_and_is_recorded(toy):
    plan = three_variables(toy, "TOY_MOOD: 'a'", "TOY_MOOD: null", "")
    assert "TOY_MOOD" not in plan.texts()
    assert [one.origin for one in plan.removed["TOY_MOOD"].trail] == ["model:alpha", "hardware:box"]


def test_a_variable_replaces(toy):
    leaf = three_variables(toy, "TOY_MOOD: a", "TOY_MOOD: b", "TOY_MOOD: c").environment["TOY_MOOD"]
    assert history(leaf) == list(zip(ORIGINS, "abc", strict=True))


def test_an_empty_text_in_a_document_is_a_value(toy):
    assert three_variables(toy, "TOY_MOOD: a", "TOY_MOOD: ''", "").texts()["TOY_MOOD"] == ""


def test_an_empty_variable_of_the_process_counts_as_unset_with_a_notice(toy):
    """F11: Compose passes GPUS= over a meaningful value."""
    texts = (PROFILE % ("toy-size: 1", "TOY_MOOD: kept"),)
    plan = toy.plan(*texts, environ={"TOY_MOOD": "", "TOY_SIZE": ""})
    assert plan.texts()["TOY_MOOD"] == "kept"
    assert plan.options["toy-size"].value == 1
    assert {notice.about for notice in plan.notices if notice.code == "empty-variable"} == {"TOY_MOOD", "TOY_SIZE"}
    assert {"TOY_MOOD", "TOY_SIZE"} <= set(plan.dropped)


def test_an_empty_variable_in_settings_or_assigned_is_the_empty_string(toy):
    texts = (PROFILE % ("toy-size: 1", "TOY_MOOD: beaten, TOY_LUCK: beaten"),)
    settings = toy.settings("version: 1\nkind: settings\nenvironment: {TOY_MOOD: ''}")
    plan = toy.plan(*texts, settings=settings, assigned=(("TOY_LUCK", ""),))
    assert (plan.texts()["TOY_MOOD"], plan.texts()["TOY_LUCK"]) == ("", "")
    assert not plan.notices


def test_an_option_may_be_set_to_the_empty_string_by_settings_and_assigned(toy):
    texts = (PROFILE % ("toy-choice: low, toy-name: beaten", ""),)
    settings = toy.settings("version: 1\nkind: settings\nenvironment: {LIL_SERVE_TOY_NAME: ''}")
    assert toy.plan(*texts, settings=settings).options["toy-name"].value == ""
    assert toy.plan(*texts, assigned=(("LIL_SERVE_TOY_NAME", ""),)).options["toy-name"].value == ""


def test_null_in_settings_removes_a_variable_and_an_option(toy):
    texts = (PROFILE % ("toy-size: 1", "TOY_MOOD: a"),)
    settings = toy.settings("version: 1\nkind: settings\nenvironment: {TOY_MOOD: null}\noptions: {toy-size: null}")
    plan = toy.plan(*texts, settings=settings)
    assert "TOY_MOOD" in plan.removed
    assert plan.options["toy-size"].value is None


def test_null_for_an_option_in_the_environment_of_settings_removes_it(toy):
    texts = (PROFILE % ("toy-size: 1", ""),)
    settings = toy.settings("version: 1\nkind: settings\nenvironment: {TOY_SIZE: null}")
    plan = toy.plan(*texts, settings=settings)
    assert plan.options["toy-size"].value is None
