"""The homes by name: what each makes of the containers of a launch, and what it needs to know first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lilserve.render.compose import compose_text
from lilserve.render.docker import docker_text
from lilserve.render.kubernetes import kubernetes_text
from lilserve.render.leaderworkerset import LEADER, leaderworkerset_text
from lilserve.render.quadlet import quadlet_text
from lilserve.render.ranks import ranks_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lilserve.render.container import Container


class Target(NamedTuple):
    """A home. `several` is whether it takes one container a rank; `leader` the address that it gives rank 0 itself."""

    text: Callable[[Sequence[Container]], str]
    several: bool = False
    leader: str | None = None


TARGETS: dict[str, Target] = {
    "docker": Target(lambda ranks: docker_text(ranks[0])),
    "compose": Target(lambda ranks: compose_text(ranks[0])),
    "quadlet": Target(lambda ranks: quadlet_text(ranks[0])),
    "kubernetes": Target(lambda ranks: kubernetes_text(ranks[0])),
    "leaderworkerset": Target(leaderworkerset_text, several=True, leader=LEADER),
    "ranks": Target(ranks_text, several=True),
}
