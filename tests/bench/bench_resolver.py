"""Plans a second in one process, how that grows with the number of plans, and the memory it takes."""

from __future__ import annotations

import gc
import resource
import statistics
import time
import tracemalloc

import pytest

from lilserve.documents.library import open_library
from lilserve.lint.check import check
from lilserve.plan.build import build_plan
from lilserve.resolution.resolve import resolve
from lilserve.resolution.selection import Selection

PLANS_A_SECOND = 300
PEAK_MIB = 120
KEPT_BYTES = 3072
CHECK_SECONDS = 20
SELECTION = Selection("qwen38-flash-next", "rtx-pro-6000-pcie", tokens=("--cache-mode", "lmcache"))


@pytest.fixture(scope="module")
def library():
    return open_library()


def plan(library):
    return build_plan(resolve(library, SELECTION), library)


def test_plans_a_second(benchmark, library):
    benchmark(plan, library)
    rate = 1 / benchmark.stats.stats.median
    print(f"\n{rate:.0f} plans a second, bar {PLANS_A_SECOND}")
    assert rate >= PLANS_A_SECOND


def test_time_is_linear_in_plans(library):
    def seconds(count):
        start = time.perf_counter()
        for _ in range(count):
            plan(library)
        return (time.perf_counter() - start) / count

    plan(library)
    ratio = statistics.median(seconds(800) / seconds(100) for _ in range(5))
    print(f"\na plan among 800 takes {ratio:.2f} of one among 100")
    assert ratio < 1.2


def test_memory_of_many_plans(library):
    """cel-expr-python 0.1.3 keeps the arguments of every Python function that a rule calls; the rest must be freed."""
    for _ in range(50):
        plan(library)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(500):
        plan(library)
    gc.collect()
    grown = (tracemalloc.get_traced_memory()[0] - before) / 500
    tracemalloc.stop()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\n{grown:.0f} bytes kept a plan, bar {KEPT_BYTES}; peak of the process {peak:.0f} MiB, bar {PEAK_MIB}")
    assert grown < KEPT_BYTES
    assert peak < PEAK_MIB


def test_check_of_everything(library):
    start = time.perf_counter()
    report = check(library, {})
    took = time.perf_counter() - start
    print(f"\n{report.resolved} launches resolved, {len(report.refused)} refused in {took:.1f} s, bar {CHECK_SECONDS}")
    assert took < CHECK_SECONDS
