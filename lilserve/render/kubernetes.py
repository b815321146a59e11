"""A container in, the manifests of one machine out: claims, a Deployment and a Service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lilserve.render.pods import claims, cluster_can, metadata, pod, secret_comments, selector
from lilserve.render.yaml_text import yaml_text

if TYPE_CHECKING:
    from lilserve.render.container import Container


def kubernetes_text(one: Container) -> str:
    """The manifests as one stream. Raises ConfigurationError for what a cluster cannot do."""
    return secret_comments(one) + yaml_text(*kubernetes_data(one))


def kubernetes_data(one: Container) -> list[dict[str, Any]]:
    """The manifests as data, in the order in which they apply."""
    cluster_can(one)
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(one),
        "spec": {
            "replicas": 1,
            # Two of them at once would wait for each other's GPU.
            "strategy": {"type": "Recreate"},
            "progressDeadlineSeconds": one.load_budget + one.grace.pod,
            "selector": {"matchLabels": selector(one)},
            "template": pod(one),
        },
    }
    return [*claims(one, "ReadWriteOnce"), deployment, *([service(one, selector(one))] if one.port else [])]


def service(one: Container, chosen: dict[str, str]) -> dict[str, Any]:
    """The Service in front of the pods that `chosen` selects."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(one),
        "spec": {"selector": chosen, "ports": [{"name": "http", "port": one.port, "targetPort": "http"}]},
    }
