"""One option, many spellings: equal ones agree, different ones at one level conflict, weaker ones give way."""

from __future__ import annotations

import pytest


def codes(problems):
    return [problem.code for problem in problems]


def test_two_variables_of_one_option_that_differ_are_an_error_naming_both(toy):
    (problem,) = toy.refusal(environ={"TS": "2", "TOY_SIZE": "4"})
    assert problem.code == "two-spellings"
    assert "TS=2" in problem.what
    assert "TOY_SIZE=4" in problem.what


def test_two_variables_of_one_option_that_agree_are_one_value(toy):
    assert toy.plan(environ={"TS": "2", "TOY_SIZES": "2"}).options["toy-size"].value == 2


def test_two_spellings_of_one_flag_that_differ_are_an_error_naming_both(toy):
    """F04: one option, two spellings; within one layer it is an error."""
    (problem,) = toy.refusal(tokens=["--toy-size", "4", "--toy_size=8"])
    assert problem.code == "two-spellings"
    assert "--toy-size 4" in problem.what
    assert "--toy_size 8" in problem.what


@pytest.mark.parametrize("tokens", [["-ts", "4", "--toy_size=4"], ["--toy-size=4", "--toy-size", "4"]])
def test_two_spellings_of_one_flag_that_agree_are_one_value(toy, tokens):
    assert toy.plan(tokens=tokens).argv.count("--toy-size") == 1


def test_two_spellings_of_one_option_in_one_block_that_differ_are_an_error(toy):
    settings = toy.settings("version: 1\nkind: settings\noptions: {toy-size: 1, toy_size: 2}")
    (problem,) = toy.refusal(settings=settings)
    assert problem.code == "two-spellings"
    assert problem.at == "settings.yaml:3:24"


def test_the_positive_and_the_negative_form_of_one_switch_conflict(toy):
    assert codes(toy.refusal(tokens=["--toy-switch", "--no-toy-switch"])) == ["two-spellings"]


def test_two_values_of_one_dotted_field_conflict(toy):
    assert codes(toy.refusal(tokens=["--toy-map.a", "1", "--toy_map.a=2"])) == ["two-spellings"]


def test_a_field_and_a_field_inside_it_conflict(toy):
    assert codes(toy.refusal(tokens=["--toy-map.a", "1", "--toy-map.a.b=2"])) == ["two-spellings"]


def test_between_layers_the_stronger_spelling_wins_and_the_trail_shows_both(toy):
    """F04: a recipe says --gpu-memory-utilization, the extra arguments --gpu_memory_utilization."""
    profile = "version: 1\nkind: profile\nid: alpha\nengine: toy\noptions: {model: m, toy-share: 0.75}"
    plan = toy.plan(profile, tokens=["--toy_share", "1.0"])
    assert [one.value for one in plan.options["toy-share"].leaves[""].trail] == [0.75, 1.0]
    assert plan.argv[-2:] == ("--toy-share", "1.0")


def test_a_weaker_invalid_alias_never_blocks_a_stronger_valid_value(toy):
    for stronger in ({"tokens": ["--toy-size", "4"]}, {"assigned": (("TOY_SIZE", "4"),)}):
        plan = toy.plan(environ={"TS": "many"}, **stronger)
        assert plan.options["toy-size"].value == 4
        assert plan.options["toy-size"].leaves[""].trail[0].value == "many"


def test_a_weaker_conflict_of_aliases_never_blocks_a_stronger_valid_value(toy):
    plan = toy.plan(environ={"TS": "2", "TOY_SIZE": "3"}, tokens=["--toy-size", "4"])
    assert plan.options["toy-size"].value == 4


def test_an_invalid_alias_that_wins_is_an_error_that_names_the_variable(toy):
    (problem,) = toy.refusal(environ={"TS": "many"})
    assert problem.what == "TS (toy-size) must be a whole number, not 'many'"


def test_a_name_too_common_to_be_ours_needs_the_prefix(toy):
    plan = toy.plan(environ={"TOY_NAME": "theirs"})
    assert "toy-name" not in plan.options
    assert toy.plan(environ={"LIL_SERVE_TOY_NAME": "ours"}).options["toy-name"].value == "ours"


def test_a_variable_that_selects_an_option_is_not_handed_to_the_engine(toy):
    plan = toy.plan(environ={"TS": "2", "LIL_SERVE_TOY_OTHER": "3"})
    assert {"TS", "LIL_SERVE_TOY_OTHER"} <= set(plan.dropped)
    assert not {"TS", "LIL_SERVE_TOY_OTHER"} & set(plan.environment)


def test_a_misspelt_variable_of_ours_is_a_notice_with_the_nearest_name(toy):
    (notice,) = toy.plan(environ={"LIL_SERVE_TOY_SIZ": "2"}).notices
    assert notice.code == "unknown-variable"
    assert "did you mean LIL_SERVE_TOY_SIZE?" in notice.text


def test_cache_mode_may_come_from_its_variable(toy):
    assert toy.plan(environ={"LIL_SERVE_CACHE_MODE": "remote"}).cache_mode == "remote"


def test_off_is_text_and_never_false(toy):
    """F10: `mode: off` in YAML."""
    profile = """
    version: 1
    kind: profile
    id: alpha
    engine: toy
    options: {model: org/alpha, mode: off}
    modes: {off: {}, fast: {draft-tokens: 2}}
    """
    assert toy.plan(profile).options["mode"].value == "off"
