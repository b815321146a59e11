"""Derivations run in layer order, once; overlays have an order between them; the parts of a preset follow on."""

from __future__ import annotations

import pytest


def box(text):
    return "version: 1\nkind: hardware\nid: box\n" + text


def overlay(name, text):
    return f"version: 1\nkind: overlay\nid: {name}\nwhen: 'true'\n{text}"


def test_a_derivation_sees_what_an_earlier_one_set(toy):
    plan = toy.plan(box("""derive: [{set: toy-size, to: '7'}, {set: toy-other, to: 'o["toy-size"] * 2'}]"""))
    assert plan.options["toy-other"].value == 14
    assert plan.options["toy-other"].leaves[""].written.inputs == {"toy-size": 7}


def test_a_derivation_does_not_see_what_a_later_one_sets(toy):
    plan = toy.plan(box("""derive: [{set: toy-other, to: 'o["toy-size"]'}, {set: toy-size, to: '7'}]"""))
    assert "toy-other" not in plan.options


def test_a_derivation_fills_one_leaf_of_a_mapping_and_leaves_the_others(toy):
    plan = toy.plan(box("""options: {toy-map: {a: 1, b: 2}}\nderive: [{set: toy-map/b, to: 'o["port"]'}]"""))
    assert plan.options["toy-map"].value == {"a": 1, "b": 8000}


def test_a_derivation_may_fill_a_whole_mapping(toy):
    plan = toy.plan(box("""derive: [{set: toy-map, to: {a: '1', deep: {b: '"x"', c: '[1, 2]'}}}]"""))
    assert plan.options["toy-map"].value == {"a": 1, "deep": {"b": "x", "c": [1, 2]}}


def test_a_derivation_does_not_touch_what_an_explicit_root_owns(toy):
    plan = toy.plan(box("derive: [{set: toy-map/b, to: '3'}]"), tokens=["--toy-map", '{"a": 1}'])
    assert plan.options["toy-map"].value == {"a": 1}


def test_a_derivation_fills_the_leaves_that_an_explicit_field_left_alone(toy):
    plan = toy.plan(box("derive: [{set: toy-map, to: {a: '1', b: '2'}}]"), tokens=["--toy-map.a", "9"])
    assert plan.options["toy-map"].value == {"a": 9, "b": 2}


def test_null_derived_removes_what_the_documents_wrote_and_is_recorded(toy):
    plan = toy.plan(box("options: {toy-size: 3}\nderive: [{set: toy-size, to: 'null', why: gone}]"))
    assert plan.options["toy-size"].value is None
    last = plan.options["toy-size"].displaced[""].trail[-1]
    assert (last.origin, last.why) == ("derived:box", "gone")


def test_a_derived_value_of_the_wrong_type_is_an_error_at_the_rule(toy):
    (problem,) = toy.refusal(box("derive: [{set: toy-size, to: '\"many\"'}]"))
    assert (problem.code, problem.at) == ("wrong-value", "given-0.yaml:4:26")


def test_a_derived_option_that_no_engine_has_is_an_error(toy):
    (problem,) = toy.refusal(box("derive: [{set: toy-sise, to: '3'}]"))
    assert "toy-sise" in problem.what
    assert problem.hint == "did you mean toy-size?"


@pytest.mark.parametrize("to", ["{a: '1'}", "'[1, 2]'", "{}"])
def test_a_derived_variable_holds_one_text(toy, to):
    (problem,) = toy.refusal(box(f"derive: [{{set: 'env:TOY_MOOD', to: {to}}}]"))
    assert problem.what == "TOY_MOOD is a variable, which holds one text"


def test_an_empty_mapping_may_be_derived(toy):
    assert toy.plan(box("derive: [{set: toy-map, to: {}}]")).options["toy-map"].value == {}


def test_a_derived_control_that_nothing_reads_is_reported(toy):
    """F17: a size computed but never passed on."""
    (notice,) = toy.plan(box("derive: [{set: cache-l1-gib, to: '3.0'}]")).notices
    assert (notice.code, notice.about) == ("unused-derivation", "cache-l1-gib")


def test_every_derived_engine_option_is_in_the_argv(toy):
    """F17: every derived value is in the argv or is reported unused."""
    plan = toy.plan(
        box("derive: [{set: toy-size, to: '3'}, {set: toy-map/a, to: '4'}, {set: toy-switch, to: 'false'}]")
    )
    assert plan.argv[-5:] == ("--toy-map", '{"a":4}', "--toy-size", "3", "--no-toy-switch")
    assert not plan.notices


def test_two_overlays_that_disagree_about_a_leaf_are_an_error_naming_both(toy):
    (problem,) = toy.refusal(overlay("one", "options: {toy-size: 1}"), overlay("two", "options: {toy-size: 2}"))
    assert problem.code == "overlay-conflict"
    assert problem.what == "overlays one and two set toy-size differently"
    assert problem.hint == "after: [one]"


def test_two_overlays_that_agree_are_no_conflict(toy):
    plan = toy.plan(overlay("one", "options: {toy-size: 1}"), overlay("two", "options: {toy-size: 1}"))
    assert plan.options["toy-size"].value == 1


def test_two_overlays_may_set_different_leaves_of_one_mapping(toy):
    texts = overlay("one", "options: {toy-map: {a: 1}}"), overlay("two", "options: {toy-map: {b: 2}}")
    assert toy.plan(*texts).options["toy-map"].value == {"a": 1, "b": 2}


@pytest.mark.parametrize("value", ["1", "{x: 1}"])
def test_two_overlays_of_which_one_sets_a_leaf_inside_the_other_s_are_an_error(toy, value):
    texts = (
        overlay("one", f"options: {{toy-map: {{a: {value}}}}}"),
        overlay("two", "options: {toy-map: {a: {x: {y: 2}}}}"),
    )
    assert [problem.code for problem in toy.refusal(*texts)] == ["overlay-conflict"]


def test_an_overlay_that_names_another_in_after_wins(toy):
    texts = (
        overlay("one", "after: [two]\noptions: {toy-size: 1}\nenvironment: {TOY_MOOD: one}"),
        overlay("two", "options: {toy-size: 2}\nenvironment: {TOY_MOOD: two}"),
    )
    plan = toy.plan(*texts)
    assert (plan.options["toy-size"].value, plan.texts()["TOY_MOOD"]) == (1, "one")
    assert [one.id for one in plan.overlays] == ["two", "one"]


def test_overlays_that_wait_for_each_other_are_an_error(toy):
    problems = toy.refusal(overlay("one", "after: [two]"), overlay("two", "after: [one]"))
    assert [problem.code for problem in problems] == ["cycle"]


def test_the_plan_says_why_an_overlay_applies(toy):
    plan = toy.plan(overlay("one", """because: the port is ${o["port"]}\noptions: {toy-size: 1}"""))
    assert [(one.id, one.because) for one in plan.overlays] == [("one", "the port is 8000")]


def test_asking_for_an_overlay_settles_a_condition_that_is_unknown(toy):
    text = overlay("one", "options: {toy-size: 1}").replace("'true'", "f.limits.nobody_knows > 0")
    assert not toy.plan(text).overlays
    assert toy.plan(text, overlays=("one",)).options["toy-size"].value == 1


def test_asking_for_an_overlay_whose_condition_does_not_hold_is_refused(toy):
    text = overlay("one", "options: {toy-size: 1}").replace("'true'", "'false'")
    assert not toy.plan(text).overlays
    (problem,) = toy.refusal(text, overlays=("one",))
    assert problem.hint == "leave out --overlay one"


def test_an_overlay_without_a_condition_applies_only_when_it_is_asked_for(toy):
    text = overlay("one", "options: {toy-size: 1}").replace("when: 'true'\n", "")
    assert not toy.plan(text).overlays
    assert toy.plan(text, overlays=("one",)).options["toy-size"].value == 1


def test_a_condition_that_is_neither_true_nor_false_is_a_problem(toy):
    text = overlay("one", "options: {toy-size: 1}").replace("'true'", "1 + 1")
    (problem,) = toy.refusal(text)
    assert problem.what == "a condition is true or false, not int"


def test_a_text_that_is_not_of_its_type_is_the_only_problem_of_the_rules_that_read_it(toy):
    text = overlay("one", "require: [{that: 'o[\"toy-size\"] < 9', else: too large}]")
    problems = toy.refusal(text, environ={"TOY_SIZE": "four"})
    assert [problem.code for problem in problems] == ["wrong-value"]


@pytest.mark.parametrize("name", ["mode", "cache-mode", "checkpoint"])
def test_a_block_that_is_chosen_by_a_control_cannot_write_it(toy, name):
    (problem,) = toy.refusal(overlay("one", f"options: {{{name}: vram}}"))
    assert problem.code == "selecting"


LANE = "version: 1\nkind: preset\nid: lane\nprofile: alpha\nhardware: box\noptions: {toy-size: 6, toy-other: 6}"


def test_a_preset_may_extend_another(toy):
    fast = "version: 1\nkind: preset\nid: fast\nextends: lane\noptions: {toy-other: 7}"
    plan = toy.plan(LANE, fast, preset="fast", profile=None, hardware=None)
    assert (plan.options["toy-size"].value, plan.options["toy-other"].value) == (6, 7)
    assert [one.origin for one in plan.options["toy-other"].leaves[""].trail] == ["preset:fast", "preset:fast"]


def test_another_machine_than_the_preset_s_may_be_named(toy):
    other = "version: 1\nkind: hardware\nid: other"
    assert toy.plan(LANE, other, preset="lane", profile=None, hardware="other").hardware == "other"


def test_another_profile_than_the_preset_s_is_an_error(toy):
    other = "version: 1\nkind: profile\nid: other\nengine: toy"
    (problem,) = toy.refusal(LANE, other, preset="lane", profile="other")
    assert problem.code == "preset-profile"


def test_a_value_above_the_ceiling_of_the_machine_is_an_error_with_the_largest_that_passes(toy):
    (problem,) = toy.refusal(box("ceiling: {toy-share: 0.9}"), tokens=["--toy-share", "0.95"])
    assert problem.code == "ceiling"
    assert problem.hint == "--toy-share 0.9"
    assert toy.plan(box("ceiling: {toy-share: 0.9}"), tokens=["--toy-share", "0.9"]).options["toy-share"].value == 0.9


def test_the_default_checkpoint_holds_until_another_is_chosen(toy):
    alpha = """
    version: 1
    kind: profile
    id: alpha
    engine: toy
    options: {model: org/alpha}
    checkpoints: {a: {default: true, options: {toy-name: a}}, b: {options: {toy-name: b}}}
    """
    assert toy.plan(alpha).options["toy-name"].value == "a"
    assert toy.plan(alpha, tokens=["--checkpoint", "b"]).options["toy-name"].value == "b"


def test_a_profile_that_extends_another_adds_to_it_and_may_replace_a_block(toy):
    child = "version: 1\nkind: profile\nid: beta\nextends: alpha\noptions: {toy-size: 3}\nmodes: {slow: {}}"
    assert toy.plan(child, profile="beta", tokens=["--mode", "fast"]).options["model"].value == "org/alpha"
    (problem,) = toy.refusal(child + "\nreplaces: [modes]", profile="beta", tokens=["--mode", "fast"])
    assert problem.what == "unknown mode 'fast'"


def test_a_control_that_only_the_condition_of_an_overlay_reads_is_used(toy):
    text = overlay("one", "options: {toy-size: 1}").replace("'true'", """'o["cache-disk-path"] == "/x"'""")
    plan = toy.plan(text, tokens=["--cache-disk-path", "/x"])
    assert plan.options["toy-size"].value == 1
    assert [notice for notice in plan.notices if notice.code == "unused-control"] == []
