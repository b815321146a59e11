"""Pairs of quick stand-ins, killed or stopped at random moments: what was left behind, and which status came out.

`python -m tests.bench.supervisor_faults --runs 1000 --seed 1`. Every run is a supervisor of its own, made by a fork, so
that nothing but the run itself is paid. This process is the subreaper above them all: whatever a supervisor left alive
or unreaped becomes a child of this one, and is counted. Exit status 1 on any violation.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lilserve.errors import Problem
from lilserve.run.arena import claim
from lilserve.run.children import become_subreaper
from tests.run.run_plans import drive, pair, quick

if TYPE_CHECKING:
    from collections.abc import Callable

SHM = Path("/dev/shm")  # noqa: S108 -- where arenas and their locks are
GRACE = 1.0
READY = 1.5
SPAN = 0.35  # s from the start within which a fault comes: preflight, both starts and service
FIGURES = quick(interval=0.1, timeout=0.15, retry=0.02, ready=READY)
FOUND = max(
    READY, 0.1 + 3 * 0.15 + 2 * 0.02
)  # s until a cache that does not answer is found, at the start and in service
PATIENCE = 20.0
STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
KILL, STOP, TERM = signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM


@dataclass
class Run:
    """One supervisor with its pair; `rest` is what must be seen of it in the end."""

    pid: int
    notes: Path
    arena: str
    begun: float

    def find(self, role: str) -> int | None:
        """The process id of a side, once it runs."""
        if not self.notes.exists():
            return None
        rows = [line.split() for line in self.notes.read_text(encoding="ascii").splitlines()]
        return next((int(row[1]) for row in rows if row[0] == role), None)

    def hit(self, role: str, number: int) -> bool:
        """Signal a side; False when it is not there."""
        pid = self.find(role)
        if pid is None:
            return False
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return False
        return True

    def ask(self, number: int) -> None:
        os.kill(self.pid, number)


class Fault(NamedTuple):
    """What happens to a run, and the statuses that are right after it."""

    name: str
    do: Callable[[Run, random.Random], set[int]]


def stop_it(run: Run, rng: random.Random) -> set[int]:
    number = rng.choice(STOPS)
    run.ask(number)
    return {128 + number}


def stop_it_twice(run: Run, rng: random.Random) -> set[int]:
    run.ask(signal.SIGINT)
    time.sleep(rng.uniform(0.001, 0.1))
    run.ask(signal.SIGINT)
    return {130}


def one_dies(role: str, status: int) -> Callable[[Run, random.Random], set[int]]:
    def do(run: Run, rng: random.Random) -> set[int]:
        return {status} if run.hit(role, KILL) else stop_it(run, rng)

    return do


def both_die(first: str, second: str, status: int) -> Callable[[Run, random.Random], set[int]]:
    def do(run: Run, rng: random.Random) -> set[int]:
        if not run.hit(first, KILL):
            return stop_it(run, rng)
        apart = rng.choice([0.0, 0.001, 0.05])
        time.sleep(apart)
        run.hit(second, KILL)
        return {status} if apart > 0.01 else {137, 1}  # closer than this they end in one moment

    return do


def cache_hangs(run: Run, rng: random.Random) -> set[int]:
    ready = run.find("engine") is not None
    if not run.hit("cache", STOP):
        return stop_it(run, rng)
    return {1} if ready else {1, 4}


def engine_hangs(run: Run, rng: random.Random) -> set[int]:
    run.hit("engine", STOP)
    return stop_it(run, rng)


def cache_dies_during_a_stop(run: Run, rng: random.Random) -> set[int]:
    statuses = stop_it(run, rng)
    time.sleep(rng.uniform(0.001, 0.05))
    run.hit("cache", KILL)
    return statuses


def supervisor_dies(run: Run, _rng: random.Random) -> set[int]:
    run.ask(KILL)
    return {-KILL}


FAULTS = (
    Fault("signal", stop_it),
    Fault("two interrupts", stop_it_twice),
    Fault("engine killed", one_dies("engine", 137)),
    Fault("cache killed", one_dies("cache", 1)),
    Fault("engine, then cache killed", both_die("engine", "cache", 137)),
    Fault("cache, then engine killed", both_die("cache", "engine", 1)),
    Fault("cache stopped", cache_hangs),
    Fault("engine stopped", engine_hangs),
    Fault("cache killed during a stop", cache_dies_during_a_stop),
    Fault("supervisor killed", supervisor_dies),
)


def features(rng: random.Random, fault: Fault) -> tuple[list[str], list[str]]:
    """Further arguments of the stand-ins: workers, orphans, escapes, slow and stubborn ends."""
    if fault.do is supervisor_dies:
        return [], []  # the kernel ends the leaders of a killed supervisor; theirs are theirs to end
    engine = ["--workers", str(rng.randrange(3)), "--zombies", str(rng.choice([0, 0, 3]))]
    engine += ["--escape"] if rng.random() < 0.2 else []
    engine += ["--stubborn"] if rng.random() < 0.1 else ["--flush", f"{rng.uniform(0, 0.1):.3f}"]
    cache = ["--delay", f"{rng.uniform(0, 0.1):.3f}", "--flush", f"{rng.uniform(0, 0.1):.3f}"]
    return engine, cache + (["--litter"] if rng.random() < 0.2 else [])


def start(rng: random.Random, fault: Fault, folder: Path, number: int) -> Run:
    notes = folder / f"notes-{number}"
    arena = f"lmcache_l1_pool_bench-{os.getpid()}-{number}"
    engine, cache = features(rng, fault)
    made = pair(engine=engine, cache=cache, notes=notes, grace=GRACE, arena=arena)
    begun = time.monotonic()
    signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)  # what comes before the run itself blocks them is kept for it
    pid = os.fork()
    if pid == 0:
        status = 70
        try:
            out = os.open(folder / f"log-{number}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(out, 1)
            os.dup2(out, 2)
            status = drive(made, FIGURES)
        finally:
            os._exit(status)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
    return Run(pid, notes, arena, begun)


def wait(pid: int) -> int | None:
    """The status of a supervisor, or None when it does not end."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(pid, KILL)
    os.waitpid(pid, 0)
    return None


def left(seconds: float) -> Counter[str]:
    """What is a child of this process now: nothing must be. Everything found is ended."""
    found: Counter[str] = Counter()
    end = time.monotonic() + seconds
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid:
            found["zombies"] += 1
        elif time.monotonic() > end:
            children = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()
            found["orphans"] += len(children)
            for child in children:
                os.kill(int(child), KILL)
            end += 1.0
        else:
            time.sleep(0.005)


def next_run_may_have(arena: str) -> bool:
    """Whether what a killed supervisor could not clear is free for the next one, which clears it."""
    claimed = claim(arena)
    if isinstance(claimed, Problem):
        return False
    claimed.release()
    return True


def judge(run: Run, fault: Fault, right: set[int], begun: float) -> tuple[Counter[str], float]:
    """Wait for the end and count the violations; the seconds from the fault to the end."""
    status = wait(run.pid)
    took = time.monotonic() - begun
    killed = fault.do is supervisor_dies
    found = left(3.0 if killed else 0.0)
    if killed:
        found.pop("zombies", None)  # nobody is left to reap them but this process
    found["wrong statuses"] += status not in right
    found["late stops"] += took > FOUND + GRACE + 0.7
    if killed:
        found["left locks"] += not next_run_may_have(run.arena)
    arena, lock = SHM / run.arena, SHM / f"{run.arena}.lock"
    found["left arenas"] += arena.exists()
    found["left locks"] += lock.exists()
    arena.unlink(missing_ok=True)
    lock.unlink(missing_ok=True)
    found += Counter()
    if found:
        sys.stderr.write(f"\n{fault.name}: {dict(found)}, status {status}, right {sorted(right)}\n")
    return found, took


def bench(runs: int, seed: int, folder: Path, *, quiet: bool) -> tuple[Counter[str], Counter[str], float]:
    violations: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    longest = 0.0
    for number in range(runs):
        rng = random.Random(seed * 1_000_003 + number)  # noqa: S311 -- a seed that repeats a run
        fault = FAULTS[number % len(FAULTS)]
        run = start(rng, fault, folder, number)
        time.sleep(rng.uniform(0.0, SPAN))
        begun = time.monotonic()
        right = fault.do(run, rng)
        found, took = judge(run, fault, right, begun)
        if found:
            log = folder / f"log-{number}"
            sys.stderr.write(log.read_text(encoding="utf-8", errors="replace") if log.exists() else "no log\n")
        violations += found
        kinds[fault.name] += 1
        longest = max(longest, took)
        if not quiet and sys.stderr.isatty():
            sys.stderr.write(f"\r{number + 1} of {runs}")
    return violations, kinds, longest


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--quiet", action="store_true", help="no progress")
    asked = parser.parse_args()
    become_subreaper()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        violations, kinds, longest = bench(asked.runs, asked.seed, Path(folder), quiet=asked.quiet)
    counted = ("orphans", "zombies", "left locks", "left arenas", "wrong statuses", "late stops")
    figures = ", ".join(f"{violations[name]} {name}" for name in counted)
    sys.stdout.write(f"{asked.runs} runs, {figures}; longest stop {longest:.2f} s of {GRACE} s grace; ")
    sys.stdout.write(f"seed {asked.seed}, {time.monotonic() - begun:.0f} s; {dict(kinds)}\n")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
