"""Rules are CEL: typed when compiled, three-valued where a fact is missing, failing as a problem with its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilserve.resolution import functions
from lilserve.resolution.expressions import ExpressionError, Failure, Unknown, compile_text, template

OVERLAY = """
version: 1
kind: overlay
id: fix
when: %s
options: {toy-size: 5}
"""
NOTHING = {"o": {}, "e": {}, "f": {}, "h": {}, "engine": {}, "profile": {}, "explicit": {}}


def outcome(text, **variables):
    return compile_text(text).outcome({**NOTHING, **variables})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("o[", "mismatched input"),
        ("nothing > 3", "undeclared reference"),
        ("1 + 'a'", "no matching overload"),
        ("rungs('a', 'b')", "no matching overload"),
        ("no_such_function(1)", "undeclared reference"),
        ("o.size() > 1", "one literal name at a time"),
        ("o[e['NAME']]", "one literal name at a time"),
        ("o.exists(x, true)", "one literal name at a time"),
        ("'${'", ""),
    ],
)
def test_a_text_that_is_no_rule_is_refused_when_it_is_compiled(text, message):
    if not message:
        assert compile_text(text).returns == "STRING"
        return
    with pytest.raises(ExpressionError) as caught:
        compile_text(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_rule_knows_what_it_reads():
    rule = compile_text('o["a-b"] == e["NAME"] && o.cd == 1 && explicit["x"] && has(f.gpus)')
    assert (rule.options, rule.variables, rule.explicit, rule.facts) == (("a-b", "cd"), ("NAME",), ("x",), True)


def test_a_name_inside_a_text_is_not_read():
    assert not compile_text("\"o\" == 'f.x'").facts


@pytest.mark.parametrize(
    ("text", "facts", "result"),
    [
        ("f.kernel.wsl2", {}, Unknown("kernel")),
        ("f.kernel.wsl2", {"kernel": {}}, Unknown("wsl2")),
        ("f.kernel.wsl2", {"kernel": {"wsl2": False}}, False),
        ("has(f.kernel)", {}, False),
        ("f.a && false", {}, False),
        ("false && f.a", {}, False),
        ("f.a || true", {}, True),
        ("f.a && true", {}, Unknown("a")),
        ("f.a || false", {}, Unknown("a")),
        ("f.a || f.b", {"b": True}, True),
        ("!f.a", {}, Unknown("a")),
        ("f.gpus.all(g, g.n > 1)", {"gpus": [{"n": 2}, {}]}, Unknown("n")),
        ("f.gpus.all(g, g.n > 1)", {"gpus": [{"n": 0}, {}]}, False),
    ],
)
def test_a_missing_fact_makes_unknown_only_what_depends_on_it(text, facts, result):
    assert outcome(text, f=facts) == result


def test_only_a_fact_is_unknown_and_another_missing_key_is_a_failure():
    assert isinstance(outcome('o["toy-map"].nothing == 1', o={"toy-map": {}}), Failure)
    assert isinstance(outcome("profile.facts.nothing", profile={"facts": {}}), Failure)


@pytest.mark.parametrize(
    ("text", "value"),
    [("1 / 0", None), ("[1][3]", None), ('o["x"] > 3', "many"), ("int('a')", None), ("9223372036854775807 + 1", None)],
)
def test_a_rule_that_does_not_fit_its_values_is_a_failure_and_never_raises(text, value):
    assert isinstance(outcome(text, o={"x": value}), Failure)


def test_an_option_that_nobody_set_reads_as_null(toy):
    assert toy.trail("toy-size", OVERLAY % """'o["toy-other"] == null'""") == [("overlay:fix", 5)]


def test_an_unknown_condition_is_a_notice_and_the_overlay_does_not_apply(toy):
    plan = toy.plan(OVERLAY % "f.nothing.known > 3", facts={})
    (notice,) = plan.notices
    assert (notice.code, notice.level) == ("unknown-fact", "information")
    assert "overlay fix is not applied" in notice.text
    assert "toy-size" not in plan.options


def test_a_false_condition_is_silent(toy):
    assert not toy.plan(OVERLAY % "f.there > 3", facts={"there": 1}).notices


def test_an_unknown_requirement_is_a_notice_that_says_what_was_not_checked(toy):
    box = """
    version: 1
    kind: hardware
    id: box
    require: [{that: f.memory > 3, else: too little memory}]
    """
    (notice,) = toy.plan(box, facts={}).notices
    assert notice.text == "not checked, for memory is not known: too little memory"
    (problem,) = toy.refusal(box, facts={"memory": 1})
    assert problem.what == "too little memory"


def test_a_broken_requirement_shows_the_values_it_read_and_where_they_were_written(toy):
    box = """
    version: 1
    kind: hardware
    id: box
    require:
      - that: o["toy-size"] < o["port"]
        else: 'toy-size is ${o["toy-size"]}, but the port is ${o["port"]}'
        hint: --toy-size ${o["port"] - 1}
    """
    (problem,) = toy.refusal(box, tokens=["--toy-size", "9000"])
    assert problem.what == "toy-size is 9000, but the port is 8000"
    assert problem.hint == "--toy-size 7999"
    assert problem.rows == (("toy-size", 9000, "cli"), ("port", 8000, "toy/common.yaml:7:11"))
    assert problem.at == "given-0.yaml:6:5"


@pytest.mark.parametrize(
    ("section", "at"),
    [
        ("derive: [{set: toy-size, to: 'o[', why: x}]", "given-0.yaml:5:26"),
        ("derive: [{set: toy-size, to: '1', when: 'o['}]", "given-0.yaml:5:35"),
        ("require: [{that: 'o[', else: no}]", "given-0.yaml:5:12"),
        ("notice: [{code: x, text: y, when: 'o['}]", "given-0.yaml:5:29"),
        ("notice: [{code: x, when: 'true', text: '${o[}'}]", "given-0.yaml:5:34"),
    ],
)
def test_a_text_that_is_no_rule_is_a_problem_at_its_line(toy, section, at):
    problems = toy.refusal(f"version: 1\nkind: hardware\nid: box\ntitle: t\n{section}")
    assert [(problem.code, problem.at) for problem in problems] == [("expression", at)]


def test_max_model_len_auto_where_a_rule_compares_it_with_a_number_is_no_traceback(toy):
    """F36: handled by type."""
    box = """
    version: 1
    kind: hardware
    id: box
    require: [{that: 'o["toy-length"] <= 4096', else: too long}]
    """
    assert [problem.code for problem in toy.refusal(box, tokens=["--toy-length", "auto"])] == ["rule-failed"]
    typed = box.replace("that:", """when: 'type(o["toy-length"]) == int', that:""")
    assert toy.plan(typed, tokens=["--toy-length", "auto"]).options["toy-length"].value == "auto"
    assert toy.refusal(typed, tokens=["--toy-length", "8k"])[0].what == "too long"


@pytest.mark.parametrize("size", ["auto", "262144", "1k", "1M"])
@pytest.mark.parametrize("hardware", ["rtx-pro-6000-pcie", "native"])
def test_the_shipped_rules_take_max_model_len_auto(project, size, hardware):
    """F36, on the shipped documents: a plan or a refusal in words, for each way to write a length."""
    words = project.run(
        *(
            "--profile",
            "qwen38-flash-next",
            "--hardware",
            hardware,
            "--print-config=argv",
            "--",
            "--max-model-len",
            size,
        )
    )
    assert "Traceback" not in words.err
    assert words.status == 0


anything = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text(max_size=20)


@given(st.integers(-(2**63), 2**63 - 1), st.text(max_size=10) | st.sampled_from(["quarters", "dense", "engine"]))
def test_rungs_is_total_sorted_and_within_the_seats(seats, ladder):
    found = functions.rungs(min(seats, 5000), ladder)
    assert found == sorted(set(found))
    assert all(1 <= one <= seats for one in found)


@pytest.mark.parametrize(
    ("seats", "ladder", "steps"),
    [
        (6, "quarters", [1, 2, 3, 4, 5, 6]),
        (16, "quarters", [1, 2, 4, 8, 12, 16]),
        (3, "dense", [1, 2, 3]),
        (4, "engine", []),
        (0, "dense", []),
        (-1, "quarters", []),
    ],
)
def test_rungs_are_powers_of_two_and_quarters(seats, ladder, steps):
    assert functions.rungs(seats, ladder) == steps


@given(anything, anything)
def test_rows_is_total(config, drafts):
    assert isinstance(functions.rows(config, drafts), int)


@given(st.text(), st.text())
def test_kernel_at_least_is_total(release, wanted):
    assert functions.kernel_at_least(release, wanted) in (True, False)


@pytest.mark.parametrize(
    ("release", "wanted", "holds"),
    [
        ("5.15.167.4-microsoft-standard-WSL2", "4.19.121", True),
        ("4.19.120", "4.19.121", False),
        ("4.19.121", "4.19.121", True),
        ("10.0", "4.19", True),
        ("", "4.19", False),
    ],
)
def test_kernel_releases_compare_by_number(release, wanted, holds):
    assert functions.kernel_at_least(release, wanted) is holds


@given(st.floats(), st.integers(-(2**63), 2**63 - 1))
def test_rounding_is_total_and_down_is_never_up(number, places):
    functions.rounded(number, places)
    down = functions.rounded_down(number, places)
    assert not down > number


@given(st.lists(anything))
def test_the_smallest_and_the_largest_are_numbers_of_the_list_or_null(values):
    for found in (functions.smallest(values), functions.largest(values)):
        assert found is None or found in values or found != found  # noqa: PLR0124 -- not a number


@given(st.text())
def test_a_slug_is_the_name_of_one_directory(text):
    slug = functions.slug(text)
    assert slug
    assert "/" not in slug
    assert slug not in (".", "..")


def test_a_template_keeps_its_literal_text():
    assert [part if isinstance(part, str) else part.text for part in template("a ${1 + 1} b")] == ["a ", "1 + 1", " b"]
