"""A report in, its text, JSON, SARIF or JUnit form out; a table names them."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Callable

    from lilserve.errors import Problem
    from lilserve.lint.check import Report

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def as_text(report: Report) -> str:
    """A line per problem, compiler style; how often launches are refused for which reason; the count of launches."""
    lines = [f"{problem.at or '-'}: {_sentence(problem)} [{problem.code}]" for problem in report.problems]
    reasons = Counter(problem.what for launch in report.refused for problem in launch.refused)
    lines += [f"refused {count} x: {reason}" for reason, count in reasons.most_common()]
    count = len(report.problems)
    lines.append(
        f"{report.resolved} launches resolved, {len(report.refused)} refused, {count} problem{'s' * (count != 1)}"
    )
    return "\n".join(lines)


def as_json(report: Report) -> str:
    """Problems with rule, place and hint; refused launches with their reasons."""
    problems = [
        {"rule": one.code, "message": one.what, "at": one.at, "allowed": one.allowed, "hint": one.hint}
        for one in report.problems
    ]
    refused = {launch.name: [problem.what for problem in launch.refused] for launch in report.refused}
    return json.dumps(
        {"problems": problems, "resolved": report.resolved, "refused": refused}, indent=2, ensure_ascii=False
    )


def as_sarif(report: Report) -> str:
    """SARIF 2.1.0 with stable rule ids and relative paths."""
    rules = sorted({problem.code for problem in report.problems})
    driver = {"name": "lil-serve check", "rules": [{"id": rule} for rule in rules]}
    results = [_sarif_result(problem, rules) for problem in report.problems]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False)


def _sarif_result(problem: Problem, rules: list[str]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": problem.code,
        "ruleIndex": rules.index(problem.code),
        "level": "error",
        "message": {"text": _sentence(problem)},
    }
    path, line, column = place(problem.at)
    if path:
        region = {"startLine": line, "startColumn": column}
        result["locations"] = [{"physicalLocation": {"artifactLocation": {"uri": path}, "region": region}}]
    return result


def as_junit(report: Report) -> str:
    """JUnit XML: a failed case per problem, a skipped one per refused launch, and one that passed for the rest."""
    count = len(report.problems)
    suite = ET.Element(
        "testsuite",
        name="lil-serve check",
        tests=str(count + len(report.refused) + 1),
        failures=str(count),
        skipped=str(len(report.refused)),
        errors="0",
    )
    ET.SubElement(suite, "testcase", classname="launches", name=f"{report.resolved} resolved")
    for problem in report.problems:
        case = ET.SubElement(suite, "testcase", classname=problem.code, name=problem.at or problem.what)
        ET.SubElement(case, "failure", message=problem.what).text = _sentence(problem)
    for launch in report.refused:
        case = ET.SubElement(suite, "testcase", classname="launches", name=launch.name)
        ET.SubElement(case, "skipped", message="; ".join(problem.what for problem in launch.refused))
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True)


def place(at: str | None) -> tuple[str, int, int]:
    """`path:line:column` apart; the first line and column where it names none."""
    path, line, column = (*(at or "").rsplit(":", 2), "", "")[:3]
    return (path, int(line), int(column)) if line.isdigit() and column.isdigit() else ("", 1, 1)


def _sentence(problem: Problem) -> str:
    return "; ".join(
        filter(
            None,
            (problem.what, problem.allowed and f"allowed: {problem.allowed}", problem.hint and f"hint: {problem.hint}"),
        )
    )


FORMATS: dict[str, Callable[[Report], str]] = {"text": as_text, "json": as_json, "sarif": as_sarif, "junit": as_junit}
