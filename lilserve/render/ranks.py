"""The containers of all ranks in, one `docker run` a machine out, for boards that are started by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lilserve.errors import Problem, refuse
from lilserve.render.container import value_of
from lilserve.render.docker import docker_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lilserve.render.container import Container


def ranks_text(ranks: Sequence[Container]) -> str:
    """A comment and a command a rank, the leader's first. Raises ConfigurationError for a launch on one machine."""
    leader = ranks[0]
    address = value_of(leader.plan, "master-addr")
    problems = []
    if len(ranks) < 2:  # noqa: PLR2004 -- a leader and a worker
        problems.append(Problem("this launch runs on one machine", hint="-- --nnodes 2", code="nnodes"))
    elif not address:
        problems.append(
            Problem("no machine is named the leader", hint="-- --nnodes 2 --master-addr 10.0.0.1", code="nnodes")
        )
    elif leader.network != "host":
        hint = "--network host"
        problems.append(Problem("ranks on several machines find each other on the hosts' own network", hint=hint))
    refuse(problems)
    heads = (
        f"# rank {rank}: {'on ' + str(address) if rank == 0 else 'on another machine'}\n" for rank in range(len(ranks))
    )
    return "".join(head + docker_text(one) for head, one in zip(heads, ranks, strict=True))
