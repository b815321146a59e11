"""The engine that this interpreter imports in; its catalog as plain data out. Runs inside the engine's Python only."""

from __future__ import annotations

import glob
import importlib
import os
import re
from typing import TYPE_CHECKING, Any

from lilserve.engine.inspect_fields import annotations_of
from lilserve.engine.inspect_options import Hints, options

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

_READ = re.compile(r"""(?:environ(?:\.get)?\s*[\[(]|getenv\()\s*["']([A-Z][A-Z0-9_]+)["']""")

_REWRITTEN = (("-O", "optimization-level", "3"),)


def catalog(identifier: str, device: str | None = None) -> dict[str, Any]:
    """Everything the engine's own parser and environment table accept, under the name `identifier`."""
    os.environ["HF_HUB_OFFLINE"] = "1"  # a catalog is read without a network
    engine = importlib.import_module("vllm")
    folder = os.path.dirname(str(engine.__file__))
    if device:
        importlib.import_module("vllm.platforms").current_platform.device_type = device
    parser = _parser(folder)
    release = str(importlib.import_module("vllm.version").__version__).partition("+")[0]
    return {
        "version": 1,
        "id": identifier,
        "engine": identifier.removesuffix("-" + release),
        "release": release,
        "positional": "model",
        "options": _with_rewritten(options(parser, _hints(folder)), parser),
        "environment": variables(folder, importlib.import_module("vllm.envs").environment_variables),
    }


def _with_rewritten(table: dict[str, dict[str, Any]], parser: argparse.ArgumentParser) -> dict[str, dict[str, Any]]:
    """The table with the spellings that vLLM rewrites before argparse sees them: argparse knows nothing of those."""
    for flag, name, value in _REWRITTEN:
        if name in table and str(vars(parser.parse_args([flag, value]))[name.replace("-", "_")]) == value:
            table[name]["flags"].append(flag)
            table[name].setdefault("hidden", []).append(flag)
    return table


def _parser(folder: str) -> argparse.ArgumentParser:
    """The parser of `vllm serve`, wherever this release keeps it."""
    module = importlib.import_module(_cli_args(folder))
    try:
        tools = importlib.import_module("vllm.utils.argparse_utils")
    except ModuleNotFoundError:  # before the parser had a module of its own
        tools = importlib.import_module("vllm.utils")
    parser: argparse.ArgumentParser = module.make_arg_parser(tools.FlexibleArgumentParser())
    return parser


def _cli_args(folder: str) -> str:
    for path in sorted(glob.glob(os.path.join(folder, "entrypoints", "**", "cli_args.py"), recursive=True)):
        if "def make_arg_parser(" in _text(path):
            return "vllm." + os.path.relpath(path, folder).removesuffix(".py").replace(os.sep, ".")
    raise LookupError(f"no cli_args.py under {folder}/entrypoints makes an argument parser")


def _hints(folder: str) -> Hints:
    """What the engine's classes say beyond its parser: the annotations of options, and the classes of its sections."""
    arguments = importlib.import_module("vllm.engine.arg_utils").AsyncEngineArgs
    frontend = importlib.import_module(_cli_args(folder)).FrontendArgs
    sections = importlib.import_module("vllm.config")
    return Hints(
        {**annotations_of(frontend), **annotations_of(arguments)},
        annotations_of(sections.VllmConfig),
        {name: value for name, value in vars(sections).items() if isinstance(value, type)},
    )


def variables(folder: str, table: Any) -> list[str]:
    """Every name in the engine's table, every name `envs.py` reads, and every `VLLM_` name read anywhere else."""
    names = {*table, *_READ.findall(_text(os.path.join(folder, "envs.py")))}
    for path in _sources(folder):
        names |= {name for name in _READ.findall(_text(path)) if name.startswith("VLLM_")}
    return sorted(names)


def _sources(folder: str) -> Iterator[str]:
    for where, _, files in os.walk(folder):
        yield from (os.path.join(where, name) for name in files if name.endswith(".py"))


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()
