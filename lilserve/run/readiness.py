"""What to ask each side and what its answers mean: alive, not yet, or not what was planned. Pure but for the arena."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from lilserve.run.events import Answered, Missed, Side, Wrong

if TYPE_CHECKING:
    from collections.abc import Callable

    from lilserve.cache.model import Service
    from lilserve.plan.model import Plan
    from lilserve.run.probe import Answer

    Verdict = Answered | Missed | Wrong

SHM = "/dev/shm"  # noqa: S108 -- the kernel's shared memory, where the server makes its pool
ALIVE = (401, 403)  # it answers, and asks who we are
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 -- read here, never bound
UNOBSERVED = ("uds", "ssl-keyfile", "ssl-certfile", "headless")


@dataclass(frozen=True, slots=True)
class Question:
    """A URL to ask of a side, and what an answer to it means."""

    url: str
    judge: Callable[[Answer], Verdict]


def questions(side: Side, plan: Plan, *, first: bool) -> list[Question]:
    """What to ask in turn; a side is well when every answer is. The first time, the cache also tells its pool."""
    service = plan.cache_service
    if side is Side.ENGINE or service is None:
        return [Question(engine_url(plan) or "", lambda answer: alive(Side.ENGINE, answer))]
    health = Question(service.health_url, lambda answer: alive(Side.CACHE, answer))
    status = Question(status_url(service), lambda answer: as_planned(answer, service))
    return [health, status] if first else [health]


def engine_url(plan: Plan) -> str | None:
    """Where the engine tells its health, or None where it has no plain HTTP address to ask."""
    options = {name: option.value for name, option in plan.options.items()}
    if any(options.get(name) for name in UNOBSERVED) or not options.get("port"):
        return None
    host = str(options.get("host") or "")
    host = EVERYWHERE.get(host, host)
    return f"http://[{host}]:{options['port']}/health" if ":" in host else f"http://{host}:{options['port']}/health"


def status_url(service: Service) -> str:
    """The status page stands beside the health page."""
    return urlunsplit(urlsplit(service.health_url)._replace(path="/status", query=""))


def alive(side: Side, answer: Answer) -> Verdict:
    """A 2xx is health, a 401 is life; a server that says of itself that it is unhealthy is neither."""
    if answer.status is None:
        return Missed(side, answer.why)
    if answer.status in ALIVE or (200 <= answer.status < 300 and _mapping(answer).get("status") != "unhealthy"):  # noqa: PLR2004 -- HTTP
        return Answered(side)
    return Missed(side, f"HTTP status {answer.status}")


def as_planned(answer: Answer, service: Service) -> Verdict:
    """Whether the pool and the transfer mode are the planned ones, as far as the server tells them.

    The stock server has no `engine_driven_shm_pool` on its status page; the pool is then measured where it lies.
    """
    if answer.status is None:
        return Missed(Side.CACHE, answer.why)
    status = _mapping(answer)
    mode = status.get("transfer_mode", status.get("supported_transfer_mode"))
    if isinstance(mode, str) and service.transfer_mode and mode not in (service.transfer_mode, "auto"):
        return Wrong(Side.CACHE, f"it moves blocks {mode}, not {service.transfer_mode}")
    if service.shm_name is None:
        return Answered(Side.CACHE)
    told = status.get("engine_driven_shm_pool")
    name, size = _told(told) if isinstance(told, dict) else (service.shm_name, _lies(service.shm_name))
    if name != service.shm_name or size < (service.shm_bytes or 0):
        return Wrong(
            Side.CACHE,
            f"its shared memory pool is {name or 'absent'} of {size} bytes, "
            f"not {service.shm_name} of {service.shm_bytes}; blocks would be pickled",
        )
    return Answered(Side.CACHE)


def _told(pool: dict[str, Any]) -> tuple[str, int]:
    try:
        return str(pool.get("shm_name") or "").lstrip("/"), int(pool.get("pool_size") or 0)
    except (TypeError, ValueError):
        return "", 0


def _lies(name: str) -> int:
    try:
        return os.stat(os.path.join(SHM, name)).st_size
    except OSError:
        return 0


def _mapping(answer: Answer) -> dict[str, Any]:
    try:
        found = json.loads(answer.body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
