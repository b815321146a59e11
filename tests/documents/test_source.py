"""YAML as this program reads it: the scalars of the 1.2 core schema, and the place of every key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilserve.documents.source import MAX_BYTES, MAX_DEPTH, parse


def read(text):
    source = parse(text.encode() if isinstance(text, str) else text, "a.yaml")
    assert not source.problems, source.problems
    return source


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("off", "off"),
        ("on", "on"),
        ("no", "no"),
        ("yes", "yes"),
        ("n", "n"),
        ("Off", "Off"),
        ("true", True),
        ("True", True),
        ("FALSE", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("'null'", "null"),
        ('"true"', "true"),
        ("12", 12),
        ("-3", -3),
        ("+4", 4),
        ("0o17", 15),
        ("0x1F", 31),
        ("012", 12),
        ("1_000", "1_000"),
        ("0b11", "0b11"),
        ("1.5", 1.5),
        ("1.", 1.0),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("12.0a", "12.0a"),
        ("1:30", "1:30"),
        ("2026-10-07", "2026-10-07"),
        ("=", "="),
        ("<<", "<<"),
        ("9223372036854775807", 9223372036854775807),
        ("'9223372036854775808'", "9223372036854775808"),
    ],
)
def test_a_scalar_is_read_by_the_core_schema(text, value):
    """F10: `off`, `no` and `yes` are text."""
    found = read(f"key: {text}").data["key"]
    assert (found, type(found)) == (value, type(value))


def test_every_key_and_item_has_its_place():
    places = read("a: 1\nb:\n  c: [x, {d: y}]\n  'e/f~g': 2\n").places
    assert places == {
        "/a": "1:1",
        "/b": "2:1",
        "/b/c": "3:3",
        "/b/c/0": "3:7",
        "/b/c/1": "3:10",
        "/b/c/1/d": "3:11",
        "/b/e~1f~0g": "4:3",
    }


def test_places_count_characters_and_not_bytes():
    assert read("{caf\N{LATIN SMALL LETTER E WITH ACUTE}: 1, b: 2}").places["/b"] == "1:11"


def test_an_alias_is_read_where_it_is_used():
    source = read("a: &x {b: 1}\nc: *x")
    assert source.data == {"a": {"b": 1}, "c": {"b": 1}}


def test_all_problems_of_a_file_are_told_together():
    source = parse(b"a: .inf\nb: 99999999999999999999\na: 2\n3: x\nc: !t y\n", "a.yaml")
    assert [problem.at for problem in source.problems] == [
        "a.yaml:1:4",
        "a.yaml:2:4",
        "a.yaml:3:1",
        "a.yaml:4:1",
        "a.yaml:5:4",
    ]


def test_a_file_of_the_largest_size_is_read_and_a_larger_one_is_not():
    fill = b"#" * (MAX_BYTES - 5)
    assert read(b"a: 1\n" + fill).data == {"a": 1}
    (problem,) = parse(b"a: 1\n" + fill + b"#", "a.yaml").problems
    assert "too large" in problem.what


@pytest.mark.parametrize(
    ("depth", "fine"), [(MAX_DEPTH, True), (MAX_DEPTH + 2, False), (5000, False), (100_000, False)]
)
def test_a_document_has_a_depth(depth, fine):
    assert (parse(b"[" * depth + b"]" * depth, "a.yaml").problems == []) is fine


@given(st.binary(max_size=200))
def test_any_bytes_give_data_or_problems_with_a_place(raw):
    source = parse(raw, "a.yaml")
    assert all(problem.at and problem.at.startswith("a.yaml:") for problem in source.problems)


@given(st.text("abc:-[]{}&*!|>'\"#%@`,? \n\t01.~<=", max_size=60))
def test_any_yaml_gives_data_or_problems_with_a_place(text):
    source = parse(text.encode(), "a.yaml")
    assert all(problem.at and problem.at.startswith("a.yaml:") for problem in source.problems)
