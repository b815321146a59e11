"""An installed engine in; the catalog of what its own argument parser and environment table accept out.

As a script it is run by the engine's Python, which has no lilserve: `python inspect.py --id vllm-0.33.0 [--root DIR]`.
As a module it starts that child. Nothing but the standard library is imported before the engine itself is.
"""

from __future__ import annotations

import sys

if __name__ == "__main__":
    # Our own folder would hide the standard `inspect`; the tree that holds our package replaces it.
    sys.path[0] = __file__.rsplit("/", 3)[0]

import argparse
import contextlib
import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LIMIT = 300  # seconds; a cold engine takes about 20 to import on two cores


def catalog_from(
    python: str, identifier: str, *, pythonpath: str | None = None, device: str | None = None, limit: float = LIMIT
) -> str:
    """The catalog, as JSON text, of the engine that the interpreter `python` has.

    `pythonpath` is a folder whose `vllm` stands in front of an installed one; `device` names the kind of accelerator
    the build is for, where that differs from the machine's. Raises ValueError with one line when the child fails.
    """
    command = [python, os.path.abspath(__file__), "--id", identifier]
    command += ["--root", pythonpath] if pythonpath else []
    command += ["--device", device] if device else []
    try:
        # The command is ours, and the interpreter is the one that the caller asked about.
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)  # noqa: S603
    except OSError as error:
        raise ValueError(f"{python} cannot be started: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise ValueError(f"the engine of {python} did not show its options within {limit:g} s") from error
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise ValueError(f"the engine of {python} does not show its options: {last}")
    return done.stdout


def text_of(catalog: Mapping[str, Any]) -> str:
    """A catalog as JSON with a line for each option, each field of an option, and each variable, so that it diffs."""
    head = [
        f" {_compact(key)}: {_compact(catalog[key])}" for key in ("version", "id", "engine", "release", "positional")
    ]
    options = [f"  {_compact(name)}: {_lines(spec)}" for name, spec in sorted(catalog["options"].items())]
    names = [f"  {_compact(name)}" for name in sorted(set(catalog["environment"]))]
    body = [*head, _block("options", "{}", options), _block("environment", "[]", names)]
    return "{\n" + ",\n".join(body) + "\n}\n"


def _block(key: str, brackets: str, lines: list[str]) -> str:
    return f" {_compact(key)}: {brackets[0]}\n" + ",\n".join(lines) + f"\n {brackets[1]}"


def _lines(spec: Mapping[str, Any]) -> str:
    if "fields" not in spec:
        return _compact(spec)
    head = _compact({key: value for key, value in spec.items() if key != "fields"})
    fields = [f"   {_compact(name)}: {_compact(field)}" for name, field in sorted(spec["fields"].items())]
    return head[:-1] + ', "fields": {\n' + ",\n".join(fields) + "\n  }}"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


@contextlib.contextmanager
def _only_ours_on_stdout() -> Iterator[int]:
    """The real standard output, while everything the engine prints goes to standard error."""
    ours = os.dup(1)
    os.dup2(2, 1)
    try:
        yield ours
    finally:
        os.close(ours)


def main(arguments: list[str]) -> None:
    """The child: prints the catalog of the engine that this interpreter imports."""
    reader = argparse.ArgumentParser(description="print the catalog of the engine that this Python has")
    reader.add_argument("--id", required=True, help="the name of the catalog, such as vllm-0.33.0")
    reader.add_argument("--root", help="a folder whose vllm stands in front of an installed one")
    reader.add_argument("--device", help="the kind of accelerator that the build is for, such as cuda")
    given = reader.parse_args(arguments)
    from lilserve.engine.inspect_engine import catalog  # noqa: PLC0415 -- the parent has no use for it

    sys.path[0:1] = [given.root] if given.root else []  # our tree must not lend its packages to the engine
    with _only_ours_on_stdout() as ours:
        os.write(ours, b"")  # a closed standard output is told before the engine is imported
        text = text_of(catalog(given.id, given.device)).encode()
        while text:
            text = text[os.write(ours, text) :]


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Exception as error:  # noqa: BLE001 -- whatever an engine raises, its last line is what the parent shows
        sys.exit(" ".join(f"{type(error).__name__}: {error}".split()))
