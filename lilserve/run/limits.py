"""A plan in, every figure of time that supervision keeps to out. Seconds throughout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lilserve.plan.model import Plan

GIB = 1 << 30


class Shares(NamedTuple):
    """Shares of stop-grace, counted from its beginning, at which a side is killed and at which it is left behind."""

    killed: float
    left: float


# The engine's own drain (--shutdown-timeout, two thirds of the grace in profiles/common.yaml) is over at DRAINED; the
# cache's flush has what the engine leaves of the time until it is killed; and whoever waits for us waits longer than
# the whole.
DRAINED = 0.72
ENGINE = Shares(0.76, 0.79)
CACHE = Shares(0.94, 0.97)


@dataclass(frozen=True, slots=True)
class Limits:
    """How long each thing may take, in seconds.

    `ready` bounds the cache server's start; the engine's has no bound here, since weights may come over a network
    and vLLM bounds its own start. `drain` says that the engine finishes its requests when it is asked to end.
    """

    grace: float
    ready: float
    drain: bool = False
    interval: float = 10.0
    timeout: float = 5.0
    retry: float = 1.0
    misses: int = 3
    progress: float = 15.0
    starting: float = 0.25
    linger: float = 1.0

    @property
    def hang(self) -> float:
        """The longest time from the beginning of a hang until the cache server counts as hung."""
        return self.interval + self.misses * self.timeout + (self.misses - 1) * self.retry


def limits_of(plan: Plan) -> Limits:
    """The limits of a plan: three minutes for imports on a cold disk, and two seconds a GiB that is touched."""
    size = plan.cache_service.l1_bytes if plan.cache_service else None
    drain = plan.options.get("shutdown-timeout")
    return Limits(
        grace=plan.stop_grace,
        ready=180.0 + 2.0 * (size or 0) / GIB,
        drain=bool(drain and drain.value),
    )
