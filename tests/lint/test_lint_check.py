"""What `check` finds in documents of one's own, each small and made after a real defect."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import pytest

from lilserve.documents.library import open_library
from lilserve.errors import ConfigurationError
from lilserve.lint.check import Report, check
from lilserve.lint.formats import FORMATS, as_junit, as_sarif, as_text

HEAD = "version: 1\nkind: profile\nid: mine\nengine: vllm\n"
MODES = 'modes: {"off": {}}\n'
GOOD = "options: {model: a/b, load-format: auto, mode: 'off', max-num-seqs: 4}\n"


@pytest.fixture
def found(tmp_path):
    """Documents in; the report of `check` on them out, its problems told apart by rule."""

    def run(*texts, engine=None):
        for index, text in enumerate(texts):
            (tmp_path / f"{index}.yaml").write_text(text, encoding="utf-8")
        try:
            library = open_library([str(tmp_path)])
        except ConfigurationError as error:
            return Report(list(error.problems), 0, [])
        return check(library, {}, own=[str(tmp_path)], engine=engine)

    return run


def only(report, rule):
    return [problem for problem in report.problems if problem.code == rule]


def test_a_good_document_has_no_problem_and_its_launches_resolve(found):
    report = found(HEAD + GOOD + MODES)
    assert report.problems == []
    assert report.resolved > 0


@pytest.mark.parametrize(
    ("text", "rule", "line", "hint"),
    [
        ("  tool-call-parser-plugin: /p.py\n", "unknown-option", 9, "did you mean tool-parser-plugin?"),
        ("  cuda-graph-sizes: [1]\n", "removed-option", 9, "--cudagraph-capture-sizes"),
        ("  max-num-partial-prefills: 2\n", "removed-option", 9, "drop it"),
        ("  disable-log-requests: true\n", "negative-name", 9, "drop it"),
    ],
)
def test_an_option_that_the_engine_does_not_have_is_told_at_its_line(found, text, rule, line, hint):
    report = found(HEAD + "options:\n  model: a/b\n  load-format: auto\n  mode: 'off'\n" + text + MODES)
    (problem,) = only(report, rule)
    assert problem.at.endswith(f":{line}:3")
    assert problem.hint == hint


def test_an_engine_without_the_flag_says_when_it_was_last_there(found):
    lines = "options:\n  model: a/b\n  load-format: auto\n  mode: 'off'\n  disable-log-requests: true\n"
    (problem,) = only(found(HEAD + lines + MODES, engine="vllm-0.29.0"), "removed-option")
    assert "leave the flag out (last in 0.16)" in problem.what
    assert problem.hint == "drop it"


def test_one_token_with_a_flag_and_a_value_is_told_as_two(found):
    (problem,) = only(found(HEAD + "options:\n  - --max-model-len auto\n"), "one-token")
    assert problem.hint == "max-model-len: auto"
    (problem,) = only(found(HEAD + 'options: {"--max-model-len auto": true}\n'), "one-token")
    assert problem.hint == "max-model-len: auto"


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("expression", "derive: [{set: max-num-seqs, to: '1 +'}]"),
        ("unknown-option", """require: [{that: 'o["max-num-sqs"] > 1', else: x}]"""),
        ("rule-option", """require: [{that: 'o["max_num_seqs"] > 1', else: x}]"""),
        ("condition-type", "require: [{that: '1 + 1', else: x}]"),
        ("unknown-fact-name", "require: [{that: f.kernel.relase == 'x', else: x}]"),
        ("unknown-fact-name", "require: [{that: f.gpu.size() > 1, else: x}]"),
        ("reason-for-nothing", "why: {max-model-len: never set here}"),
        ("rule-order", """derive: [{set: seed, to: 'o["max-num-seqs"]'}, {set: max-num-seqs, to: '2'}]"""),
        ("expression", "require: [{that: 'true', else: '${o[1]}'}]"),
    ],
)
def test_a_rule_that_cannot_be_right_is_told(found, rule, text):
    report = found(HEAD + GOOD + MODES + text + "\n")
    (problem,) = only(report, rule)
    assert ".yaml:7:" in problem.at


def test_a_fact_of_each_gpu_and_a_call_on_the_list_are_no_misspelling(found):
    rule = "require: [{that: 'f.gpus.size() > 0 && f.gpus.all(g, g.memory_gib > 1.0)', else: x}]\n"
    assert found(HEAD + GOOD + MODES + rule).problems == []


def test_a_mode_that_the_profile_does_not_have_is_told_although_no_combination_names_it(found):
    report = found(HEAD + GOOD.replace("'off'", "fast") + MODES)
    (problem,) = only(report, "unknown-name")
    assert problem.what == "unknown mode 'fast'"


def test_a_profile_of_which_no_launch_resolves_is_a_problem_with_the_reasons(found):
    report = found(HEAD + GOOD + MODES + "require: [{that: 'false', else: never this way}]\n")
    (problem,) = only(report, "never-resolves")
    assert "never this way" in problem.what
    assert report.resolved == 0


def test_the_text_counts_refusals_by_reason(found):
    text = as_text(found(HEAD + GOOD + MODES))
    assert "x: profile 'mine' has no contract for the cache mode 'lmcache'" in text
    assert text.splitlines()[-1].endswith("0 problems")


def test_sarif_has_rule_ids_places_and_relative_paths(found):
    log = json.loads(as_sarif(found(HEAD + "options: {model: a/b}\nmoods: 1\n")))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    (result,) = run["results"]
    assert result["ruleId"] == run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "unknown-key"
    (location,) = result["locations"]
    assert location["physicalLocation"]["region"] == {"startLine": 6, "startColumn": 1}


def test_junit_counts_what_it_holds(found):
    suite = ET.fromstring(as_junit(found(HEAD + GOOD + MODES + "require: [{that: '1', else: x}]\n")))  # noqa: S314 -- our own text
    assert int(suite.get("tests")) == len(suite.findall("testcase"))
    assert int(suite.get("failures")) == len(suite.findall("testcase/failure")) > 0
    assert int(suite.get("skipped")) == len(suite.findall("testcase/skipped"))


def test_every_format_tells_the_same_problems(found):
    report = found(HEAD + "options: {model: a/b}\nmoods: 1\n")
    assert all("moods" in render(report) for render in FORMATS.values())


def test_the_shipped_documents_have_no_problem():
    report = check(open_library(), {})
    assert report.problems == []
    assert report.resolved > 150


def test_moving_every_profile_to_another_engine_lists_what_breaks():
    report = check(open_library(), {}, engine="vllm-0.33.0")
    told = {problem.what.split()[0] for problem in report.problems}
    assert {"gdn-decode-kernel", "swa-block-size", "max-parallel-prefills", "prefill-compute-share"} <= told
