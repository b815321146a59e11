"""A supervised pair of stand-ins in a process of its own, and what is known of every process it made."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import lilserve

HERE = Path(__file__).parent
SHM = Path("/dev/shm")  # noqa: S108 -- where the stand-in's arena is, as the server's
PATIENCE = 20.0

# Whoever runs the tests under nohup ignores a hangup, and so would every process they start.
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def alive(pid):
    """Whether a process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Run:
    """One `run(plan, environ)`, by real processes and real signals."""

    def __init__(self, folder):
        self.folder = folder
        self.notes = folder / "notes"
        self.process = None

    def start(self, *, wrap=(), env=None, stdio=None, out=subprocess.PIPE, err=subprocess.PIPE, **words):
        words = {"notes": str(self.notes), **words}
        command = [*wrap, sys.executable, str(HERE / "run_plans.py"), json.dumps(words)]
        environ = os.environ | {"PYTHONPATH": str(Path(lilserve.__file__).parents[1])} | (env or {})
        streams = {"stdin": stdio, "stdout": stdio or out, "stderr": stdio or err}
        self.process = subprocess.Popen(command, env=environ, cwd=self.folder, errors="replace", **streams)
        return self

    def noted(self, what):
        """The process ids that wrote this note."""
        if not self.notes.exists():
            return []
        lines = [line.split() for line in self.notes.read_text(encoding="ascii").splitlines()]
        return [int(pid) for word, pid in lines if word == what]

    def until(self, condition, what):
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, f"{what} did not happen: {self.out()}"
            time.sleep(0.01)
        return self

    def ready(self, count=2):
        return self.until(lambda: len(self.noted("ready")) >= count, "ready")

    def kill(self, role, number):
        os.kill(self.noted(role)[-1], number)
        return self

    def signal(self, number):
        self.process.send_signal(number)
        return self

    def out(self):
        if self.process.poll() is None:
            self.process.kill()
        return self.process.communicate()[1]

    def end(self):
        """The exit status and what was told; nothing of the run may be alive then."""
        said, told = self.process.communicate(timeout=PATIENCE)
        self.said, self.told = said or "", (told or "").splitlines()
        assert [
            pid for role in ("engine", "cache", "worker", "escaped") for pid in self.noted(role) if alive(pid)
        ] == []
        return self.process.returncode

    def close(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdout, self.process.stderr) if self.process else ():
            if pipe:
                pipe.close()
        for role in ("engine", "cache", "worker", "escaped"):
            for pid in filter(alive, self.noted(role)):
                os.kill(pid, signal.SIGKILL)


@pytest.fixture
def supervised(tmp_path):
    run = Run(tmp_path)
    yield run
    run.close()


@pytest.fixture
def arena():
    """A name of an arena that no other test has; nothing of it is left behind."""
    name = f"lmcache_l1_pool_test-{os.getpid()}-{time.monotonic_ns()}"
    yield name
    for path in (SHM / name, SHM / f"{name}.lock"):
        path.unlink(missing_ok=True)
