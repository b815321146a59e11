"""The figures of time that a plan gives."""

from __future__ import annotations

import pytest
from run_plans import pair

from lilserve.run.limits import CACHE, DRAINED, ENGINE, GIB, limits_of


def test_every_outer_figure_is_larger_than_the_inner():
    drain = 2 / 3  # the share of --shutdown-timeout in profiles/common.yaml
    shares = [drain, DRAINED, ENGINE.killed, ENGINE.left, CACHE.killed, CACHE.left, 1.0]
    assert shares == sorted(set(shares))


def test_the_grace_of_the_plan_bounds_the_stop_and_its_size_the_start():
    limits = limits_of(pair(grace=45.0, l1_bytes=64 * GIB))
    assert limits.grace == 45.0
    assert limits.ready == 180.0 + 128.0


@pytest.mark.parametrize(("timeout", "drains"), [(None, False), (0, False), (20, True)])
def test_an_engine_with_a_timeout_for_its_shutdown_drains(timeout, drains):
    assert limits_of(pair(options={"shutdown-timeout": timeout})).drain is drains


def test_a_hang_in_service_is_found_within_half_a_minute():
    assert limits_of(pair()).hang < 30.0
