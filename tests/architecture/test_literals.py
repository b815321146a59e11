"""No Python file names a model or a machine: a model, a machine or a rule is a YAML file."""

from __future__ import annotations

import ast
from pathlib import Path

from lilserve.documents.library import open_library

PACKAGE = Path(__file__).parents[2] / "lilserve"
WORDS = {"cpu", "native"}  # ordinary words that are also ids


def literals(path):
    """Every text literal of a file that is no docstring, with its line."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    prose = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.value, node.lineno


def test_no_literal_equals_the_id_of_a_shipped_profile_or_machine():
    named = {document.id for kind in ("profile", "hardware") for document in open_library().all(kind)}
    ids = named - WORDS - {"common"}
    files = sorted(PACKAGE.rglob("*.py"))
    found = [
        f"{path.relative_to(PACKAGE)}:{line}: {text}" for path in files for text, line in literals(path) if text in ids
    ]
    assert len(files) > 50
    assert len(ids) > 10
    assert found == []


def test_no_identifier_in_code_spells_a_shipped_model():
    """A name such as `if_qwen38_flash_next` would hide one too."""
    ids = {document.id.replace("-", "_") for document in open_library().all("profile")} - {"common"}
    found = [
        f"{path.relative_to(PACKAGE)}: {name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for name in ids
        if name in path.read_text(encoding="utf-8")
    ]
    assert found == []
