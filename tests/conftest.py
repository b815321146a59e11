"""What every test may use: a toy world of documents in memory, and a project whose files go in and words come out."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest import mock

import pytest
from hypothesis import HealthCheck, settings

from lilserve.cli.main import main
from lilserve.documents.library import Library
from lilserve.documents.load import load
from lilserve.documents.model import Document
from lilserve.errors import ConfigurationError
from lilserve.plan.build import build_plan
from lilserve.resolution.resolve import resolve
from lilserve.resolution.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Sequence

TESTS = Path(__file__).parent
TOY = TESTS / "toy"
FACTS = TOY / "facts.json"

# Two cores run the whole suite, and a slow machine is no failure.
# CI looks at the same cases every time; a person's run looks at new ones.
settings.register_profile(
    "suite", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.load_profile("suite")


def document(text: str, path: str = "given.yaml") -> Document:
    """The document in a text; its problems are the test's failure."""
    found = load(textwrap.dedent(text).encode(), path, {})
    assert isinstance(found, Document), found
    return found


@dataclass(frozen=True, repr=False)
class Toy:
    """The documents of tests/toy and those of a test, resolved without a file, a process or a terminal."""

    base: tuple[Document, ...]
    facts: dict[str, Any]

    def library(self, *texts: str) -> Library:
        """The toy documents with these added, or put in the place of those with the same id."""
        added = [document(text, f"given-{index}.yaml") for index, text in enumerate(texts)]
        return Library({(one.kind, one.id): one for one in (*self.base, *added)})

    def settings(self, text: str) -> Document:
        return document(text, "settings.yaml")

    def resolve(self, *texts: str, tokens=(), **selection):
        chosen = {"profile": "alpha", "hardware": "box", "facts": self.facts, **selection}
        return resolve(self.library(*texts), Selection(tokens=tuple(tokens), **chosen))

    def plan(self, *texts: str, tokens=(), **selection):
        return build_plan(self.resolve(*texts, tokens=tokens, **selection), self.library(*texts))

    def refusal(self, *texts: str, tokens=(), **selection):
        """The problems of a launch that must be refused."""
        with pytest.raises(ConfigurationError) as caught:
            self.plan(*texts, tokens=tokens, **selection)
        return caught.value.problems

    def trail(self, name: str, *texts: str, path: str = "", tokens=(), **selection):
        """Origin and value of every writing of an option or a variable, the weakest first."""
        plan = self.plan(*texts, tokens=tokens, **selection)
        if name in plan.options:
            option = plan.options[name]
            leaf = option.leaves[path] if path in option.leaves else option.displaced[path]
        else:
            leaf = plan.environment[name] if name in plan.environment else plan.removed[name]
        return [(one.origin, one.value) for one in leaf.trail]


@pytest.fixture(scope="session")
def toy():
    base = tuple(document(path.read_text(), f"toy/{path.name}") for path in sorted(TOY.glob("*.yaml")))
    return Toy(base, json.loads(FACTS.read_text()))


class Words(NamedTuple):
    """What a command said and how it ended."""

    status: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)

    def refused(self, *fragments: str) -> None:
        """One clean error with these words in it: status 2, nothing on stdout, no traceback; notices may come first."""
        assert self.status == 2, self
        told = [line for line in self.err.splitlines() if not line.startswith("notice: ")]
        assert told[0].startswith("error: "), self
        assert "Traceback" not in self.err, self
        assert not self.out, self
        for fragment in fragments:
            assert fragment in self.err, self


def command(*args: str, env: dict[str, str] | None = None) -> Words:
    """The command in this process, with no variable but those given."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.dict(os.environ, {"PATH": os.defpath, **(env or {})}, clear=True),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        status = main(list(args))
    return Words(status, out.getvalue(), err.getvalue())


SELECTION = ("--profile", "alpha", "--hardware", "box", "--facts", str(FACTS))


@pytest.fixture(scope="session")
def toy_command():
    """The verb, then the arguments, with the toy selection between them; no file of the test takes part."""

    def run(verb: Sequence[str], *args: str, env: dict[str, str] | None = None) -> Words:
        return command(*verb, "--policy", str(TOY), *SELECTION, *args, env=env)

    return run


class Project:
    """A directory of files and the commands run in it, in this process or in one of their own."""

    SELECTION = ("--policy", "policy", *SELECTION)

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "policy").mkdir()
        for path in TOY.glob("*.yaml"):
            (root / "policy" / path.name).write_text(path.read_text())

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else textwrap.dedent(text).encode())
        return path

    def run(self, *args: str, env: dict[str, str] | None = None) -> Words:
        return command(*args, env=env)

    def show(self, *args: str, form: str = "json", env: dict[str, str] | None = None) -> Words:
        """The printed plan of the toy selection; what stands after `--` in `args` is the engine's."""
        return self.run(*self.SELECTION, f"--print-config={form}", *args, env=env)

    def process(self, *args: str, env: dict[str, str] | None = None, text: str | None = None) -> Words:
        """The command as a process of its own."""
        done = subprocess.run(
            [sys.executable, "-W", "error", "-m", "lilserve", *args],
            cwd=self.root,
            env={"PATH": os.defpath, "PYTHONDONTWRITEBYTECODE": "1", **(env or {})},
            capture_output=True,
            input=text,
            text=True,
            timeout=60,
            check=False,
        )
        return Words(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)


@pytest.fixture(scope="session")
def catalog(toy):
    """What the toy engine accepts: a shipped catalog and the options that tests/toy/engine.yaml declares."""
    return toy.resolve().chosen.catalog
