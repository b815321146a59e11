"""What a daemon says of a container in, the part that decisions are made of out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

MANAGED, SHAPE = "lil-serve.managed", "lil-serve.shape"
HEALTHY = "healthy"


class State(NamedTuple):
    """A container as its daemon sees it. `health` is empty where none is asked for, `status` is docker's own word.

    `exit` is the status of one that has ended, `stop` the seconds it is given to end.
    """

    id: str
    name: str
    labels: Mapping[str, str]
    image: str
    status: str
    health: str
    exit: int | None
    started: str
    stop: int

    @property
    def ours(self) -> bool:
        """Whether it carries our label; nothing else is ever touched."""
        return self.labels.get(MANAGED) == "true"

    @property
    def running(self) -> bool:
        return self.status in ("running", "paused", "restarting")

    @property
    def ready(self) -> bool:
        """Whether it serves, as far as anybody can ask it."""
        return self.status == "running" and self.health in ("", HEALTHY)


def state_of(attrs: Mapping[str, Any]) -> State:
    """The state in what `inspect` answers."""
    state, config = attrs.get("State") or {}, attrs.get("Config") or {}
    status = str(state.get("Status") or "unknown")
    ended = status in ("exited", "dead")
    health = (state.get("Health") or {}).get("Status") or ""
    return State(
        id=str(attrs["Id"]),
        name=str(attrs.get("Name") or "").lstrip("/"),
        labels=dict(config.get("Labels") or {}),
        image=str(attrs.get("Image") or ""),
        status=status,
        health="" if health == "none" else str(health),
        exit=int(state.get("ExitCode") or 0) if ended else None,
        started=str(state.get("StartedAt") or ""),
        stop=int(config.get("StopTimeout") or 10),
    )
