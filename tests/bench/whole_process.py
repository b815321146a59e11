"""Paired runs of whole processes: a printed plan against the imports that comparable tools cannot avoid.

Runs alternate, so that a machine whose speed drifts slows both; what counts is the median of the ratios of pairs.
"""

from __future__ import annotations

import argparse
import compileall
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import lilserve
from lilserve.cli.compile import compile_package

BAR, AIM = 0.75, 5.0
PACKAGE = Path(lilserve.__file__).parent
LAUNCH = ["--profile", "qwen38-flash-next", "--hardware", "rtx-pro-6000-pcie", "--print-config", "--", "--cache-mode"]


def commands() -> dict[str, list[str]]:
    program = [sys.executable, "-m", "lilserve", *LAUNCH]
    return {
        "print-config vram": [*program, "vram"],
        "print-config lmcache": [*program, "lmcache"],
        "import jsonschema, yaml": [sys.executable, "-c", "import jsonschema, yaml"],
        "bare interpreter": [sys.executable, "-c", "pass"],
    }


def seconds(command: list[str], environ: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=environ)
    return time.perf_counter() - start


def prepare() -> dict[str, str]:
    """An installed package has bytecode and compiled documents; a checkout gets both here."""
    for name, text in compile_package().items():
        (PACKAGE / name).write_text(text, encoding="utf-8")
    compileall.compile_dir(str(PACKAGE), quiet=1)
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", "--runs", type=int, default=21)
    runs = parser.parse_args().runs
    environ = prepare()
    with tempfile.TemporaryDirectory() as elsewhere:
        os.chdir(elsewhere)
        times: dict[str, list[float]] = {name: [] for name in commands()}
        for _ in range(runs + 1):
            for name, command in commands().items():
                times[name].append(seconds(command, environ))
    times = {name: series[1:] for name, series in times.items()}  # the first run of each warms the caches
    base, bare = times["import jsonschema, yaml"], times["bare interpreter"]
    failed = False
    for name, series in times.items():
        ratio = statistics.median(a / b for a, b in zip(series, base, strict=True))
        aim = statistics.median(a / b for a, b in zip(series, bare, strict=True))
        print(f"{name:<26} {statistics.median(series) * 1000:6.1f} ms  {ratio:5.2f} of the imports  {aim:4.1f} x bare")
        failed |= name.startswith("print-config") and ratio > BAR
    print(f"bar {BAR} of the imports, aim {AIM} x bare: {'missed' if failed else 'met'}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
