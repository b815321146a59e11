"""What the values of selection options name in; directories, settings, facts and pairs out."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from lilserve.documents.library import read_document
from lilserve.engine.values import read_json
from lilserve.errors import ConfigurationError, Problem, refuse
from lilserve.resolution.facts import known_facts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lilserve.documents.model import Document

MAX_BYTES = 1 << 20


def policies(named: tuple[str, ...], environ: Mapping[str, str]) -> list[str]:
    """The policy directories: those of LIL_SERVE_POLICY, then those named by --policy. Raises ConfigurationError."""
    listed = [part for part in environ.get("LIL_SERVE_POLICY", "").split(os.pathsep) if part]
    refuse(
        Problem(
            f"{path!r} is a file",
            None,
            "a directory of documents",
            f"{shown}{os.path.dirname(path) or '.'}",
            code="policy",
        )
        for shown, paths in (("LIL_SERVE_POLICY=", listed), ("--policy ", named))
        for path in paths
        if os.path.isfile(path)
    )
    return [*listed, *named]


def read_settings(path: str) -> Document:
    """The settings in a file. Raises ConfigurationError, for a document of another kind with that alone."""
    try:
        return read_document(path, "settings")
    except ConfigurationError as error:
        if any(problem.code == "file" for problem in error.problems):
            raise
        from lilserve.documents.source import parse  # noqa: PLC0415 -- only a refusal reads YAML twice

        with open(path, "rb") as file:
            source = parse(file.read(MAX_BYTES + 1), path)
        if not isinstance(source.data, dict) or source.data.get("kind") == "settings":
            raise
        kind, line = source.data.get("kind"), source.places.get("/kind", "1:1")
        what = f"a {kind} where settings is wanted" if kind else "no kind, where settings is wanted"
        raise ConfigurationError(Problem(what, f"{path}:{line}", hint="kind: settings", code="kind")) from error


def read_facts(path: str) -> dict[str, Any]:
    """The facts in a JSON file. Raises ConfigurationError with everything that is wrong with them."""
    problems: list[Problem] = []
    hint = "lil-serve facts > facts.json"
    try:
        with open(path, encoding="utf-8") as file:
            claimed = read_json(file.read())
    except (OSError, ValueError) as error:  # a WrongValueError is a ValueError, and so is text that is not UTF-8
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise ConfigurationError(
            Problem(f"cannot read facts from {path!r}: {reason}", hint=hint, code="facts")
        ) from error
    if not isinstance(claimed, dict):
        raise ConfigurationError(Problem(f"{path!r} holds no facts: they are a JSON object", hint=hint, code="facts"))
    facts = known_facts(claimed, problems)
    refuse([problem._replace(at=path) for problem in problems])
    return facts


def read_pair(text: str) -> tuple[str, str]:
    """Name and value of NAME=VALUE. Raises ConfigurationError, which repeats no value."""
    name, equals, value = text.partition("=")
    named = name.isidentifier() and name.isascii()
    if not equals or not named or "\0" in text:
        told = f", not {name}" if named and not equals else ""
        raise ConfigurationError(Problem(f"--env takes NAME=VALUE{told}", hint="--env OMP_NUM_THREADS=2", code="usage"))
    return name, value
