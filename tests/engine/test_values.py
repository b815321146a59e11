"""A text becomes the one value of its type that the engine would read, or an error that says what was wanted."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilserve.engine.values import WrongValueError, judge, read, read_field, read_json, read_variable


@pytest.mark.parametrize(
    ("name", "texts", "value"),
    [
        ("toy-size", ["16"], 16),
        ("toy-size", ["-1"], -1),
        ("toy-size", ["+4"], 4),
        ("toy-share", ["0.9"], 0.9),
        ("toy-share", ["1"], 1.0),
        ("toy-share", ["1e-3"], 0.001),
        ("toy-name", [""], ""),
        ("toy-name", ["007"], "007"),
        ("toy-choice", ["low"], "low"),
        ("toy-choice", ["auto"], "auto"),
        ("toy-many", ["a", "b c"], ["a", "b c"]),
        ("toy-pair", ["1", "2"], [1, 2]),
        ("toy-length", ["262144"], 262144),
        ("toy-length", ["1k"], 1000),
        ("toy-length", ["1K"], 1024),
        ("toy-length", ["2.5k"], 2500),
        ("toy-length", ["1M"], 1048576),
        ("toy-length", ["auto"], "auto"),
        ("toy-maybe", ["None"], None),
        ("toy-maybe", ["3"], 3),
        ("toy-map", ['{"a": [1, null, true]}'], {"a": [1, None, True]}),
        ("toy-map", ["[1, 2]"], [1, 2]),
    ],
)
def test_a_text_is_read_as_the_type_of_the_option(catalog, name, texts, value):
    found = read(catalog.spec(name), texts)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("toy-size", "many", "must be a whole number, not 'many'"),
        ("toy-size", "1.5", "must be a whole number, not '1.5'"),
        ("toy-size", "", "must be a whole number, not ''"),
        ("toy-size", "9" * 30, "must be a whole number, not "),
        ("toy-size", "9223372036854775808", "must be a whole number, not "),
        ("toy-size", "1\n", "must be a whole number, not "),
        ("toy-size", "auto", "must be a whole number, not 'auto'"),
        ("toy-share", "nan", "must be a number, not 'nan'"),
        ("toy-share", "inf", "must be a number, not 'inf'"),
        ("toy-choice", "lou", "cannot be 'lou'"),
        ("toy-length", "2.5K", "cannot be '2.5K': a decimal goes with a small letter"),
        ("toy-map", '{"a": 1', "is not JSON: "),
        ("toy-map", '{"a": 1, "a": 2}', "has the key 'a' twice"),
        ("toy-map", '{"a": NaN}', "has NaN, which is not JSON"),
        ("toy-map", '"text"', "needs a mapping, not text"),
        ("toy-map", "method:dspark", "needs a mapping, not 'method:dspark'"),
        ("toy-map", "3", "needs a mapping, not '3'"),
        ("toy-map", "[" * 100_000, "is n"),
    ],
)
def test_a_text_of_another_type_says_what_was_wanted(catalog, name, text, message):
    with pytest.raises(WrongValueError) as caught:
        read(catalog.spec(name), [text])
    assert str(caught.value).startswith(message)


def test_a_shorthand_is_answered_with_the_mapping_it_meant(catalog):
    """F02: --speculative-config method:dspark."""
    with pytest.raises(WrongValueError) as caught:
        read(catalog.spec("toy-map"), ["method:dspark"])
    assert caught.value.hint == """'{"method": "dspark"}'"""


@pytest.mark.parametrize("text", [r"{\"method\": \"mtp\"}", r'"{\"method\": \"mtp\"}"'])
def test_json_that_was_quoted_twice_is_answered_with_json_quoted_once(catalog, text):
    """F03: a JSON option was quoted twice on its way."""
    with pytest.raises(WrongValueError) as caught:
        read(catalog.spec("toy-map"), [text])
    assert "quoted twice" in str(caught.value)


def test_broken_json_is_told_its_position(catalog):
    """F03: a JSON option is no longer JSON."""
    with pytest.raises(WrongValueError, match="at character 13"):
        read(catalog.spec("toy-map"), ['{"a": 1, "b"}'])


def test_a_near_miss_of_a_choice_is_offered_the_choice(catalog):
    with pytest.raises(WrongValueError) as caught:
        read(catalog.spec("toy-choice"), ["lowe"])
    assert (caught.value.allowed, caught.value.hint) == ("low, high, auto", "did you mean low?")


@pytest.mark.parametrize(
    ("text", "value"), [("a,b", ["a", "b"]), ("a b", ["a", "b"]), ('["a, b"]', ["a, b"]), (" a ", ["a"]), ("", [])]
)
def test_a_variable_gives_a_list_as_json_or_between_commas_and_blanks(catalog, text, value):
    assert read_variable(catalog.spec("toy-many"), text) == value


@pytest.mark.parametrize(("text", "value"), [("1", True), ("no", False), ("OFF", False), ("True", True)])
def test_a_variable_says_a_switch_in_words(catalog, text, value):
    assert read_variable(catalog.spec("toy-switch"), text) is value


def test_a_variable_that_is_no_word_of_a_switch_is_an_error(catalog):
    with pytest.raises(WrongValueError, match="must be true or false"):
        read_variable(catalog.spec("toy-switch"), "2")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("toy-size", 4),
        ("toy-share", 1),
        ("toy-share", 0.5),
        ("toy-name", "x"),
        ("toy-switch", False),
        ("toy-length", "1k"),
        ("toy-length", "auto"),
        ("toy-many", ["a"]),
        ("toy-many", "a"),
        ("toy-map", {}),
    ],
)
def test_a_value_of_the_type_is_accepted(catalog, name, value):
    assert judge(catalog.spec(name), value) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("toy-size", True),
        ("toy-size", 1.5),
        ("toy-size", "4"),
        ("toy-size", [4]),
        ("toy-share", False),
        ("toy-share", "0.5"),
        ("toy-name", 4),
        ("toy-name", {"a": 1}),
        ("toy-switch", 1),
        ("toy-switch", "off"),
        ("toy-choice", "medium"),
        ("toy-length", "long"),
        ("toy-many", [1]),
        ("toy-map", "{}"),
        ("toy-map", 3),
    ],
)
def test_a_value_of_another_type_is_refused(catalog, name, value):
    assert judge(catalog.spec(name), value) is not None


numbers = st.integers(-(2**63), 2**63 - 1)
trees = st.recursive(
    st.none() | st.booleans() | numbers | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), trees))
def test_json_that_is_written_is_read_back(value):
    assert read_json(json.dumps(value)) == value


@given(st.text() | st.text('{}[]":,\\0123456789.eE-+ truefalsnN', max_size=30))
def test_any_text_is_read_or_refused_and_nothing_else(catalog, text):
    refused = read_as_value = 0
    for name in ("toy-size", "toy-share", "toy-name", "toy-choice", "toy-switch", "toy-length", "toy-map", "toy-many"):
        spec = catalog.spec(name)
        for reader in (lambda spec, text: read(spec, [text]), read_variable):
            try:
                value = reader(spec, text)
            except WrongValueError:
                refused += 1
            else:
                read_as_value += 1
                assert judge(spec, value) is None
                assert not isinstance(value, float) or math.isfinite(value)
    assert refused + read_as_value == 16


@given(st.text())
def test_a_field_that_is_no_json_is_its_own_text(text):
    value = read_field(text)
    assert value == text or isinstance(value, dict | list | int | float | str | None)
    assert value == value  # noqa: PLR0124 -- a number that is none would differ from itself
