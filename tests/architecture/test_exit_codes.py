"""One exit code a class of errors, and one boundary where errors become text and a status (DESIGN.md section 8)."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import lilserve
from lilserve.cli import main as boundary
from lilserve.errors import ConfigurationError, HostError, LilServeError, NotReadyError, Problem

TABLE = {ConfigurationError: 2, HostError: 3, NotReadyError: 4, LilServeError: 1}


def errors():
    """Every class of error there is, whichever module defines it."""
    for module in walk_packages(lilserve.__path__, "lilserve."):
        if "__main__" not in module.name and "overlays" not in module.name:
            import_module(module.name)
    found, todo = [], [LilServeError]
    while todo:
        found.append(todo.pop())
        todo += found[-1].__subclasses__()
    return found


def test_each_class_of_errors_has_an_exit_code_of_its_own():
    codes = {one: one.exit_code for one in errors()}
    assert len(set(codes.values())) == len(codes), codes


@pytest.mark.parametrize(("error", "code"), TABLE.items())
def test_the_codes_are_those_of_the_table(error, code):
    assert error.exit_code == code


@pytest.mark.parametrize("error", TABLE)
def test_the_boundary_turns_an_error_into_words_and_its_code(monkeypatch, capsys, error):
    def fail(*_args, **_options):
        raise error(Problem("it went wrong", "here:1:2", "another way", "do that", (("name", 3, "there"),)))

    monkeypatch.setattr(boundary.lil_serve, "main", fail)
    assert boundary.main([]) == error.exit_code
    assert capsys.readouterr().err.splitlines() == [
        "error: it went wrong",
        "  name = 3   there",
        "  at here:1:2",
        "  allowed: another way",
        "  hint: do that",
    ]


def test_ctrl_c_is_130(monkeypatch):
    def interrupted(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(boundary.lil_serve, "main", interrupted)
    assert boundary.main([]) == 130


def test_only_the_boundary_turns_errors_into_text():
    """No other module of the command line catches LilServeError: one place decides how a refusal looks."""
    folder = Path(boundary.__file__).parent
    catching = [
        path.name
        for path in sorted(folder.glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ExceptHandler) and isinstance(node.type, ast.Name) and node.type.id == "LilServeError"
    ]
    assert catching == ["main.py"]
