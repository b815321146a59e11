"""The documents one can name: the shipped ones and those of every `--policy` directory, by kind and id."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lilserve.documents.compiled import read
from lilserve.documents.load import load
from lilserve.documents.model import Document
from lilserve.documents.shipped import package_file, shipped_files
from lilserve.errors import ConfigurationError, Problem, refuse, unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

MAX_FILES = 2000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Library:
    """Documents by (kind, id); `replaced` are the shipped ones that a user's document stands in for."""

    documents: Mapping[tuple[str, str], Document]
    replaced: Mapping[tuple[str, str], Document] = field(default_factory=dict)

    def get(self, kind: str, name: str, at: str | None = None) -> Document:
        """The document of that kind and id. Raises ConfigurationError with the nearest name when there is none."""
        found = self.documents.get((kind, name))
        if found is None:
            raise ConfigurationError(
                unknown(kind, name, [doc.id for doc in self.all(kind) if not doc.data.get("abstract")], at)
            )
        return found

    def all(self, kind: str) -> list[Document]:
        """Every document of a kind, in the order of ids."""
        return [self.documents[key] for key in sorted(self.documents) if key[0] == kind]

    def chain(self, kind: str, name: str, at: str | None = None) -> list[Document]:
        """The document and all that it extends, the most general first. Raises ConfigurationError for a cycle."""
        chain = [self.get(kind, name, at)]
        while (parent := chain[0].data.get("extends")) is not None:
            at = chain[0].at("extends")
            if any(parent == document.id for document in chain):
                raise ConfigurationError(Problem(f"{kind} {parent!r} extends itself", at, code="cycle"))
            chain.insert(0, self.get(kind, parent, at))
        return chain


def open_library(directories: Sequence[str] = ()) -> Library:
    """The shipped documents and those in `directories`. Raises ConfigurationError with all problems of all files."""
    compiled = read(package_file)
    problems: list[Problem] = []
    documents: dict[tuple[str, str], Document] = {}
    for document in _loaded(shipped_files(), compiled, problems):
        documents[document.kind, document.id] = document
    replaced: dict[tuple[str, str], Document] = {}
    own: dict[tuple[str, str], Document] = {}
    for document in _loaded(_policy_files(directories, problems), compiled, problems):
        key = (document.kind, document.id)
        if key in own:
            problems.append(
                Problem(f"{document.kind} {document.id!r} is also {own[key].path}", document.at("id"), code="shadow")
            )
        elif key in documents and document.data.get("replaces") is not True:
            problems.append(
                Problem(
                    f"{document.kind} {document.id!r} is a shipped document",
                    document.at("id"),
                    "another id, or a replacement that says so",
                    "replaces: true",
                    code="shadow",
                )
            )
        own[key] = document
        if key in documents:
            replaced[key] = documents[key]
    refuse(problems)
    return Library(documents | own, replaced)


def read_document(path: str, kind: str) -> Document:
    """One document outside the library, such as a settings file. Raises ConfigurationError."""
    found = load(_bytes(path), path, {})
    if isinstance(found, list):
        raise ConfigurationError(*found)
    if found.kind != kind:
        raise ConfigurationError(
            Problem(f"a {found.kind} where {kind} is wanted", found.at("kind"), hint=f"kind: {kind}")
        )
    return found


def _loaded(
    files: Iterable[tuple[str, bytes]], compiled: Mapping[str, Any], problems: list[Problem]
) -> Iterator[Document]:
    for path, raw in files:
        found = load(raw, path, compiled)
        if isinstance(found, Document):
            yield found
        else:
            problems.extend(found)


def _policy_files(directories: Sequence[str], problems: list[Problem]) -> Iterator[tuple[str, bytes]]:
    count = 0
    for directory in directories:
        if os.path.isfile(directory):
            yield directory, _bytes(directory)
            continue
        if not os.path.isdir(directory):
            problems.append(Problem(f"no such policy directory: {directory!r}", code="policy"))
            continue
        # Links to directories are not followed: a loop of them has no end and a document needs none.
        for folder, folders, names in os.walk(directory):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                if not name.endswith((".yaml", ".yml")) or name.startswith("."):
                    continue
                count += 1
                if count > MAX_FILES:
                    problems.append(
                        Problem(f"more than {MAX_FILES} documents in the policy directories", code="policy")
                    )
                    return
                path = os.path.join(folder, name)
                try:
                    yield path, _bytes(path)
                except ConfigurationError as error:
                    problems.extend(error.problems)


def _bytes(path: str) -> bytes:
    """The bytes of a regular file. Raises ConfigurationError; a device or a pipe is never opened."""
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            what = "a directory" if os.path.isdir(path) else "not a regular file"
            raise ConfigurationError(Problem(f"cannot read {path!r}: it is {what}", code="file"))
        with open(path, "rb") as file:
            return file.read((1 << 20) + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigurationError(Problem(f"cannot read {path!r}: {reason.lower()}", code="file")) from error
