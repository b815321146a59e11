"""What an engine would not take, judged on the result: types, switches without a negative form, fields, variables."""

from __future__ import annotations

import pytest

from lilserve.engine.catalog import Spec
from lilserve.engine.check import check_option, check_variable, near_misses


def problems(catalog, name, value):
    return list(check_option(catalog.spec(name), value, lambda path: "/".join(("place", *path))))


def test_false_reaches_the_engine_through_the_negative_form(toy):
    """F09: enable-flashinfer-autotune: false in YAML."""
    settings = toy.settings("version: 1\nkind: settings\noptions: {toy-switch: false}")
    assert toy.plan(settings=settings).argv[-1] == "--no-toy-switch"


def test_false_without_a_negative_form_is_an_error_that_says_so(catalog):
    """F09: a flag without one."""
    (problem,) = problems(catalog, "toy-only-on", False)
    assert problem.code == "no-negative"
    assert problem.hint == "toy-only-on: null"


def test_known_fields_of_the_right_type_pass(catalog):
    assert not problems(catalog, "toy-typed", {"size": 3, "mood": "calm", "inner": {"depth": 1}})


@pytest.mark.parametrize(
    ("value", "code", "at"),
    [
        ({"sise": 3}, "unknown-field", "place/sise"),
        ({"size": "3"}, "wrong-field", "place/size"),
        ({"size": True}, "wrong-field", "place/size"),
        ({"mood": "clam"}, "wrong-field", "place/mood"),
        ({"inner": {"dept": 1}}, "unknown-field", "place/inner/dept"),
        ({"inner": {"depth": 1.5}}, "wrong-field", "place/inner/depth"),
    ],
)
def test_a_field_that_the_engine_would_refuse_is_named_with_its_place(catalog, value, code, at):
    (problem,) = problems(catalog, "toy-typed", value)
    assert (problem.code, problem.at) == (code, at)


def test_a_misspelt_field_or_choice_is_offered_the_nearest(catalog):
    assert problems(catalog, "toy-typed", {"sise": 3})[0].hint == "did you mean size?"
    assert problems(catalog, "toy-typed", {"mood": "clam"})[0].hint == "did you mean calm?"


def test_all_wrong_fields_are_told_at_once(catalog):
    assert len(problems(catalog, "toy-typed", {"sise": 3, "mood": 1, "inner": {"x": 1}})) == 3


def test_a_mapping_without_declared_fields_is_free(catalog):
    assert not problems(catalog, "toy-map", {"anything": {"at": ["all"]}})


def test_a_variable_of_another_family_is_nobodys_business(catalog):
    assert check_variable("NCCL_WHATEVER", catalog, None, inherited=False) is None
    assert check_variable("PATH", catalog, None, inherited=True) is None


def test_an_unknown_variable_that_somebody_wrote_is_an_error_and_an_inherited_one_is_not(catalog):
    name = "VLLM_NO_SUCH_THING_AT_ALL"
    assert check_variable(name, catalog, "here", inherited=False).code == "unknown-variable"
    assert check_variable(name, catalog, None, inherited=True).code == "inherited-variable"


def test_a_slip_in_a_free_family_is_told_and_another_name_is_not():
    known = ["NCCL_P2P_LEVEL", "OMP_NUM_THREADS"]
    names = ["NCCL_P2P_LEVE", "NCCL_P2P_LEVEL", "NCCL_SOCKET_IFNAME", "HOME"]
    assert list(near_misses(names, known, ("NCCL_", "OMP_"))) == [("NCCL_P2P_LEVE", "NCCL_P2P_LEVEL")]


def test_an_item_that_begins_with_a_dash_is_refused_for_no_parser_takes_it():
    spec = Spec("names", "str", "+", ("--names",), (), (), (), False, {}, False, False, False, False, False)
    (problem,) = check_option(spec, ["a", "-b"], lambda _: "box.yaml:1:1")
    assert problem.code == "item-like-flag"
    assert list(check_option(spec, ["a", "-1"], lambda _: "box.yaml:1:1")) == []
