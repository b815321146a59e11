"""Launches against the shipped documents, through the real resolver; a test may add documents of its own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from lilserve.documents.library import Library, open_library
from lilserve.errors import ConfigurationError
from lilserve.plan.build import build_plan
from lilserve.resolution.resolve import resolve
from lilserve.resolution.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from lilserve.plan.model import Plan


@cache
def shipped() -> Library:
    """The library without documents of anybody's own; it does not change while tests run."""
    return open_library()


@dataclass
class Launcher:
    """Resolves launches; `policy` writes a document that the next launches see beside the shipped ones."""

    directory: Path

    @property
    def library(self) -> Library:
        return open_library([str(self.directory)]) if any(self.directory.iterdir()) else shipped()

    def policy(self, document: Mapping[str, Any]) -> None:
        path = self.directory / f"{document['kind']}-{document['id']}.yaml"
        path.write_text(yaml.safe_dump({"version": 1, **document}, sort_keys=False), encoding="utf-8")

    def plan(
        self, profile: str | None = None, hardware: str | None = None, tokens: str | Sequence[str] = "", **more: Any
    ) -> Plan:
        """The plan of a launch; `more` are other fields of a `Selection`. Raises ConfigurationError."""
        words = tuple(tokens.split() if isinstance(tokens, str) else tokens)
        library = self.library
        return build_plan(
            resolve(library, Selection(profile=profile, hardware=hardware, tokens=words, **more)), library
        )

    def refused(
        self, profile: str | None = None, hardware: str | None = None, tokens: str | Sequence[str] = "", **more: Any
    ) -> str:
        """All that is said of a launch which must be refused: problems and hints, one a line."""
        with pytest.raises(ConfigurationError) as caught:
            self.plan(profile, hardware, tokens, **more)
        return "\n".join(f"{problem.what} -> {problem.hint}" for problem in caught.value.problems)


@pytest.fixture
def launch(tmp_path: Path) -> Launcher:
    return Launcher(tmp_path)
