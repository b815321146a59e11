"""Bytes of a file in, a document out: from the compiled form when it is of these very bytes, else by parsing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lilserve.documents.model import Document
from lilserve.sha256 import sha256

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lilserve.errors import Problem


DUPLICATE = "duplicate-key"
# Mappings whose values are the writer's own: there null says that a weaker value is removed.
DATA = ("options", "environment", "facts", "config", "example", "to", "value")


def load(raw: bytes, path: str, compiled: Mapping[str, Any]) -> Document | list[Problem]:
    """The document in `raw`, or every problem it has. `compiled` maps digests to what parsing them gave."""
    digest = sha256(raw).hexdigest()
    entry = compiled.get(digest)
    if entry is None:
        entry = parsed(raw, path)
        if isinstance(entry, list):
            return entry
    data, places = entry["data"], entry["places"]
    return Document(data["kind"], data.get("id", path), path, digest, data, places)


def parsed(raw: bytes, path: str) -> dict[str, Any] | list[Problem]:
    """`data` and `places` of a valid document, or its problems."""
    # The YAML reader and pydantic cost more than a whole resolution: a launch from compiled documents needs neither.
    from lilserve.documents.source import parse  # noqa: PLC0415
    from lilserve.documents.validate import validate  # noqa: PLC0415

    source = parse(raw, path)
    problems = list(source.problems)
    if all(problem.code == DUPLICATE for problem in problems):  # the data is whole, so its other problems are real
        problems += validate(source)
    return problems or {"data": _written(source.data), "places": source.places}


def _written(block: Any) -> Any:
    """A block without the keys whose value is null, which is the same as not writing them; data keeps its nulls."""
    if isinstance(block, list):
        return [_written(item) for item in block]
    if not isinstance(block, dict):
        return block
    return {
        key: value if key in DATA else _written(value)
        for key, value in block.items()
        if value is not None or key in DATA
    }
