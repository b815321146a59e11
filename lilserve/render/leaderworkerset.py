"""The containers of a leader and a worker in, a LeaderWorkerSet out: vLLM's own multi-node backend, no Ray, no shell.

The cluster names the leader and numbers the workers; Kubernetes itself puts both into the commands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lilserve.errors import Problem, refuse
from lilserve.render.container import value_of
from lilserve.render.kubernetes import service
from lilserve.render.pods import claims, cluster_can, metadata, pod, secret_comments, selector
from lilserve.render.yaml_text import yaml_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lilserve.render.container import Container

LEADER = "$(LWS_LEADER_ADDRESS)"
INDEX = "$(LWS_WORKER_INDEX)"
# What LeaderWorkerSet labels each pod with; the leader's is 0.
WORKER_INDEX = "leaderworkerset.sigs.k8s.io/worker-index"


def leaderworkerset_text(ranks: Sequence[Container]) -> str:
    """The manifests as one stream. `ranks` are the containers of rank 0 and, standing for all others, rank 1."""
    return secret_comments(ranks[0]) + yaml_text(*leaderworkerset_data(ranks))


def leaderworkerset_data(ranks: Sequence[Container]) -> list[dict[str, Any]]:
    """The manifests as data. Raises ConfigurationError for a launch on one machine."""
    leader = ranks[0]
    nodes = value_of(leader.plan, "nnodes")
    if not isinstance(nodes, int) or len(ranks) < 2:  # noqa: PLR2004 -- a leader and a worker
        refuse(
            [
                Problem(
                    "this launch runs on one machine",
                    hint="lil-serve render kubernetes, or -- --nnodes 2",
                    code="nnodes",
                )
            ]
        )
    cluster_can(leader)
    worker = ranks[1]
    group = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": metadata(leader),
        "spec": {
            "replicas": 1,
            "startupPolicy": "LeaderCreated",
            "leaderWorkerTemplate": {
                "size": nodes,
                # One lost rank stops the others in their next collective: all of them start again together.
                "restartPolicy": "RecreateGroupOnPodRestart",
                "leaderTemplate": pod(leader, late={"--master-addr": LEADER}),
                "workerTemplate": pod(worker, probes=False, late={"--master-addr": LEADER, "--node-rank": INDEX}),
            },
        },
    }
    chosen = {**selector(leader), WORKER_INDEX: "0"}
    return [*claims(leader, "ReadWriteMany"), group, service(leader, chosen)]
