"""Every spelling an engine takes is one option; a spelling it does not take is told what to do instead."""

from __future__ import annotations

import pytest

from lilserve.engine.canonical import Meant, canonical, option_name
from lilserve.errors import Problem


@pytest.mark.parametrize(
    ("flag", "meant"),
    [
        ("--toy-size", Meant("toy-size", negative=False, fields=(), append=False)),
        ("--toy_size", Meant("toy-size", negative=False, fields=(), append=False)),
        ("-ts", Meant("toy-size", negative=False, fields=(), append=False)),
        ("-tp", Meant("tensor-parallel-size", negative=False, fields=(), append=False)),
        ("--no-toy-switch", Meant("toy-switch", negative=True, fields=(), append=False)),
        ("--no_toy_switch", Meant("toy-switch", negative=True, fields=(), append=False)),
        ("--toy-map.a.b_c", Meant("toy-map", negative=False, fields=("a", "b_c"), append=False)),
        ("--toy_map.list+", Meant("toy-map", negative=False, fields=("list",), append=True)),
        ("--cache-mode", Meant("cache-mode", negative=False, fields=(), append=False)),
        ("--no-adaptive-verification", Meant("adaptive-verification", negative=True, fields=(), append=False)),
    ],
)
def test_a_spelling_is_read_as_its_option(catalog, flag, meant):
    assert canonical(flag, catalog) == meant


@pytest.mark.parametrize(
    ("flag", "near"),
    [
        ("--toy-sise", "--toy-size"),
        ("--toy-maap", "--toy-map"),
        ("--cache-mod", "--cache-mode"),
        ("--tensor-parallel", "--tensor-parallel-size"),
    ],
)
def test_an_unknown_flag_is_offered_the_nearest(catalog, flag, near):
    problem = canonical(flag, catalog)
    assert isinstance(problem, Problem)
    assert problem.code == "unknown-option"
    assert problem.hint == f"did you mean {near}?"


@pytest.mark.parametrize(
    "flag",
    [
        "--no-toy-size",
        "--no-toy-only-on",
        "---",
        "--",
        "-",
        "--.",
        "--.a",
        "--=",
        "-\N{SNOWMAN}",
        "--toy size",
        "-toy-size",
        "---toy-size",
        "--toy-size+",
        "--toy-map.",
        "--toy-map..a",
        "toy-size",
    ],
)
def test_what_is_no_flag_is_a_problem_and_never_a_failure(catalog, flag):
    assert isinstance(canonical(flag, catalog), Problem)


def test_a_document_writes_an_option_without_dashes(catalog):
    assert option_name("toy-size", catalog) == "toy-size"
    assert option_name("toy_size", catalog) == "toy-size"
    assert option_name("toy-syze", catalog) is None


def test_a_negative_name_is_no_name_of_an_option_in_a_document(catalog):
    assert option_name("no-toy-switch", catalog) is None


def test_a_shipped_catalog_gives_each_spelling_one_meaning(catalog):
    said = {}
    for name, spec in catalog.raw.items():
        for flag in (*(spec.get("flags") or (f"--{name}",)), *(spec.get("negative") or ())):
            assert said.setdefault(flag, name) == name
