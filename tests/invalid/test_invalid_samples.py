"""Every way a document can be wrong, a file each; what is said about it is a snapshot beside this file."""

from __future__ import annotations

from pathlib import Path

import pytest
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from lilserve.cli.report import lines
from lilserve.documents.load import load
from lilserve.documents.models import KINDS

SAMPLES = sorted(Path(__file__).parent.glob("*.yaml"))


class Messages(SingleFileSnapshotExtension):
    """One text file a sample."""

    file_extension = "txt"
    _write_mode = WriteMode.TEXT


@pytest.mark.parametrize("sample", SAMPLES, ids=[path.stem for path in SAMPLES])
def test_a_wrong_document_is_told_every_problem_at_its_line(sample, snapshot):
    problems = load(sample.read_bytes(), sample.name, {})
    assert isinstance(problems, list)
    assert all(problem.at and problem.at.startswith(sample.name + ":") for problem in problems)
    assert "\n".join(line for problem in problems for line in lines(problem)) == snapshot(extension_class=Messages)


def test_every_kind_has_wrong_samples():
    assert {path.name.split(".")[0] for path in SAMPLES} >= set(KINDS)
