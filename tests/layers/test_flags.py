"""The tokens after `--`, as the engine's own parser would take them."""

from __future__ import annotations

import pytest

from lilserve.layers.flags import read_flags


def said(tokens, catalog, **more):
    """Option and leaf to value, of a command line without problems."""
    line = read_flags(tokens, catalog, **more)
    assert not line.problems
    return {"/".join((one.name, *one.path)): one.written.value for one in line.layer.options}


@pytest.mark.parametrize(
    ("tokens", "values"),
    [
        (["--toy-size", "4"], {"toy-size": 4}),
        (["--toy_size=4"], {"toy-size": 4}),
        (["-ts", "4"], {"toy-size": 4}),
        (["--toy-size", "-4"], {"toy-size": -4}),
        (["--toy-name", ""], {"toy-name": ""}),
        (["--toy-name="], {"toy-name": ""}),
        (["--toy-name=a=b"], {"toy-name": "a=b"}),
        (["--toy-many", "a", "b", "--toy-size", "4"], {"toy-many": ["a", "b"], "toy-size": 4}),
        (["--toy-pair", "1", "2"], {"toy-pair": [1, 2]}),
        (["--toy-switch"], {"toy-switch": True}),
        (["--no-toy-switch"], {"toy-switch": False}),
        (["--toy-map", '{"a": {"b": 1}, "c": []}'], {"toy-map/a/b": 1, "toy-map/c": []}),
        (["--toy-map.a.b", "1"], {"toy-map/a/b": 1}),
        (["--toy-map.a=true"], {"toy-map/a": True}),
        (["--toy-map.a", "text"], {"toy-map/a": "text"}),
        (["--toy-map.a", '{"b": 1}'], {"toy-map/a/b": 1}),
        (["--toy-map.a+", "1,b"], {"toy-map/a": [1, "b"]}),
        (["--toy-map.a+", "1", "--toy-map.a+", "[2]"], {"toy-map/a": [1, 2]}),
        (["--cache-mode", "remote"], {"cache-mode": "remote"}),
        ([], {}),
    ],
)
def test_a_spelling_gives_its_value(catalog, tokens, values):
    assert said(tokens, catalog) == values


def test_a_json_root_replaces_and_a_field_does_not(catalog):
    layer = read_flags(["--toy-map.b=2", "--toy-map", '{"a": 1}'], catalog).layer
    assert [(one.path, one.whole) for one in layer.options] == [(("a",), True), (("b",), False)]


@pytest.mark.parametrize(
    ("tokens", "code"),
    [
        (["--dtype auto"], "one-token"),
        (["--toy-many", "--toy-size", "4"], "arity"),
        (["--no-toy-switch=1"], "arity"),
        (["--toy-size", "4", "5"], "positional"),
        (["--toy-map.a", "1", "--toy-map.a+", "2"], "two-spellings"),
        (["--nothing", "4"], "unknown-option"),
        (["-x"], "unknown-option"),
        (["--toy-size", "x"], "wrong-value"),
    ],
)
def test_a_token_that_fits_nothing_is_one_problem(catalog, tokens, code):
    """F01 among them: a list item `--dtype auto`."""
    assert [problem.code for problem in read_flags(tokens, catalog).problems] == [code]


def test_every_wrong_token_is_told(catalog):
    problems = read_flags(["--nothing", "1", "--toy-size", "x", "stray"], catalog).problems
    assert len(problems) == 3 or {problem.code for problem in problems} >= {"unknown-option", "wrong-value"}


def test_a_token_that_is_allowed_unknown_keeps_its_values(catalog):
    line = read_flags(["--new", "1", "2", "--other=3", "--toy-size", "4"], catalog, allow_unknown=True)
    assert line.unknown == [("--new", "1", "2"), ("--other=3",)]
    assert [one.name for one in line.layer.options] == ["toy-size"]
