"""Run by an engine's own Python: argvs as JSON in, what its real parser makes of each as JSON out."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import importlib
import json
import os
import sys
from typing import Any


def plain(value: Any) -> Any:
    """A parsed value as JSON: enums by value, sections of the config as mappings of what was given."""
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(inner) for inner in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def parsed(parser: Any, argv: list[str]) -> dict[str, Any]:
    """The namespace, or the parser's own words where it refuses."""
    words = []
    parser.error = words.append
    try:
        return {"namespace": plain(vars(parser.parse_args(argv)))} if not words else {"refused": words}
    except (SystemExit, Exception) as error:  # noqa: BLE001 -- whatever the engine raises is its refusal
        return {"refused": [*words, str(error)]}


def main() -> None:
    with contextlib.redirect_stdout(sys.stderr):
        engine = importlib.import_module("vllm")  # some releases greet on standard output
        inspect = importlib.import_module("lilserve.engine.inspect_engine")
        parser = inspect._parser(os.path.dirname(engine.__file__))  # the parser our catalogs come from
        results = [parsed(parser, argv) for argv in json.load(sys.stdin)]
    json.dump(results, sys.stdout, default=str)


main()
