"""A supervisor at rest: its share of a core, and how soon it notices that a child ended.

`python -m tests.bench.supervisor_rest --seconds 30 --deaths 20`. The limits are those of a real launch, so health is
asked as often as in service. CPU time is the scheduler's own, in nanoseconds. Exit status 1 past a bar of DESIGN.md 11.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lilserve.run.limits import limits_of
from tests.run.run_plans import HERE, pair

SHARE = 0.002  # of one core
NOTICED = 0.050  # s
ROOT = Path(__file__).parents[2]


def launch(folder: Path) -> subprocess.Popen[bytes]:
    """A supervised pair under a launch's own limits, answering."""
    limits = limits_of(pair())
    figures = {name: getattr(limits, name) for name in ("ready", "interval", "timeout", "retry", "misses", "starting")}
    words = json.dumps({"notes": str(folder / "notes"), "figures": figures})
    process = subprocess.Popen(
        [sys.executable, str(HERE / "run_plans.py"), words],
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    line(process, b"the engine answers", 30.0)
    return process


def line(process: subprocess.Popen[bytes], said: bytes, seconds: float) -> None:
    """Read what is told until a line has these words."""
    assert process.stderr
    told, end = b"", time.monotonic() + seconds
    while said not in told:
        ready, _, _ = select.select([process.stderr], [], [], max(0.0, end - time.monotonic()))
        part = os.read(process.stderr.fileno(), 65536) if ready else b""
        if not part:
            raise RuntimeError(f"no {said!r} in {told!r}")
        told += part


def on_cpu(pid: int) -> float:
    """Seconds that a process has run."""
    return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[0]) / 1e9


def at_rest(folder: Path, seconds: float) -> float:
    """The share of one core over so many seconds of service."""
    process = launch(folder)
    try:
        time.sleep(1.0)
        before, begun = on_cpu(process.pid), time.monotonic()
        time.sleep(seconds)
        return (on_cpu(process.pid) - before) / (time.monotonic() - begun)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate()


def noticed(folder: Path, role: str) -> float:
    """Seconds from the kill of a side to the line that tells it."""
    process = launch(folder)
    rows = (folder / "notes").read_text(encoding="ascii").splitlines()
    pid = next(int(row.split()[1]) for row in rows if row.split()[0] == role)
    begun = time.monotonic()
    os.kill(pid, signal.SIGKILL)
    line(process, b"ended by SIGKILL", 10.0)
    took = time.monotonic() - begun
    process.communicate()
    return took


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--deaths", type=int, default=20)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        share = at_rest(Path(folder), asked.seconds)
    sys.stdout.write(f"at rest {share:.4%} of one core over {asked.seconds:.0f} s, bar {SHARE:.1%}\n")
    times = []
    for number in range(asked.deaths):
        with tempfile.TemporaryDirectory() as folder:
            times.append(noticed(Path(folder), ("engine", "cache")[number % 2]))
    median, worst = statistics.median(times), max(times)
    sys.stdout.write(
        f"a child's end noticed after {median * 1e3:.1f} ms (median of {len(times)}), at most {worst * 1e3:.1f} ms, "
        f"bar {NOTICED * 1e3:.0f} ms\n"
    )
    return 1 if share > SHARE or worst > NOTICED else 0


if __name__ == "__main__":
    sys.exit(main())
