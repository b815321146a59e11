"""A plan in, every figure of time that supervision keeps to out. Seconds throughout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lilserve.plan.model import Plan

GIB = 1 << 30


class Shares(NamedTuple):
    """Shares of stop-grace, counted from its beginning: the whole group is asked, it is killed, it is left behind."""

    all_asked: float
    killed: float
    left: float


# The engine's own drain (--shutdown-timeout, two thirds of the grace in profiles/common.yaml) is over before its group
# is asked; the cache's flush has what the engine leaves of the time until it is killed; and whoever waits for us waits
# longer than the whole.
ENGINE = Shares(0.72, 0.76, 0.79)
CACHE = Shares(0.91, 0.94, 0.97)


@dataclass(frozen=True, slots=True)
class Limits:
    """How long each thing may take, in seconds.

    `ready` bounds the cache server's start; the engine's has no bound here, since weights may come over a network
    and vLLM bounds its own start. A hang is found after at most `interval + misses * timeout + (misses - 1) * retry`.
    """

    grace: float
    ready: float
    interval: float = 10.0
    timeout: float = 5.0
    retry: float = 1.0
    misses: int = 3
    progress: float = 15.0
    starting: float = 0.25
    linger: float = 1.0

    @property
    def hang(self) -> float:
        """The longest time from the last answer until the cache server counts as hung."""
        return self.interval + self.misses * self.timeout + (self.misses - 1) * self.retry


def limits_of(plan: Plan) -> Limits:
    """The limits of a plan: three minutes for imports on a cold disk, and two seconds a GiB that is touched."""
    size = plan.cache_service.l1_bytes if plan.cache_service else None
    return Limits(grace=plan.stop_grace, ready=180.0 + 2.0 * (size or 0) / GIB)
