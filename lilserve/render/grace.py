"""The plan's stop grace in, every grace around it out, each strictly larger than the one inside. Whole seconds.

engine's drain < stop-grace < the container's stop timeout < whoever waits for that.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lilserve.plan.model import Plan

MARGIN = 10  # for a container's runtime to see the end, reap and unmount
PRE_STOP = 5  # for endpoints to forget a pod before it stops accepting
LOAD_BUDGET = 1800  # weights from a cold disk or a hub, then kernels compiled and graphs captured


class Grace(NamedTuple):
    """`container` is what the runtime waits between SIGTERM and SIGKILL, `unit` what a service manager around it waits.

    `pod` is the termination grace of a pod: the wait before the stop, the stop, and a margin.
    """

    container: int
    unit: int
    pod: int


def grace_of(plan: Plan) -> Grace:
    """The graces around a plan."""
    whole = math.ceil(plan.stop_grace)
    return Grace(whole + MARGIN, whole + 2 * MARGIN, PRE_STOP + whole + MARGIN)
