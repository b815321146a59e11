"""A container in, the pod that runs it out: the parts that every Kubernetes workload shares.

Kubernetes expands `$(NAME)` in commands and values and reads `$$` as `$`, so every `$` is doubled. The cache server is
a sidecar in Kubernetes' own sense: it is started and healthy before the engine starts and stopped after the engine has.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lilserve.errors import Problem, refuse
from lilserve.origin import Written
from lilserve.plan.model import Leaf
from lilserve.receipt.seal import seal
from lilserve.render.container import PROGRAM
from lilserve.render.grace import PRE_STOP
from lilserve.render.image import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lilserve.plan.model import Plan, Service
    from lilserve.render.container import Container
    from lilserve.render.mounts import Mount

APP = "app.kubernetes.io/name"
MANAGED = "app.kubernetes.io/managed-by"
PERIOD = 10  # seconds between two probes
FAILURES = 3
CACHE_BUDGET = 600  # seconds a cache server may take: imports on a cold disk, and its pool touched page by page
CACHE = "cache"
SHM = "shm"
SHM_PATH = "/dev/shm"  # noqa: S108 -- the kernel's shared memory, not a place for temporary files
CLAIM = "200Gi"  # a claim cannot be made without a size; weights of the shipped models fit
GPU = "nvidia.com/gpu"
ARCHITECTURE = "kubernetes.io/arch"
# The short digest of a label; the whole stands in an annotation, because a label holds 63 characters.
SHORT = 16


def metadata(one: Container) -> dict[str, Any]:
    """Name, labels to select by, and the digests as annotations."""
    labels = {**selector(one), MANAGED: PROGRAM, "lil-serve/plan": one.plan.digest[:SHORT]}
    return {"name": one.name, "labels": labels, "annotations": notes(one)}


def notes(one: Container) -> dict[str, str]:
    """The container's labels, under the prefix that Kubernetes wants."""
    return {name.replace(".", "/", 1): text for name, text in one.labels.items()}


def selector(one: Container) -> dict[str, str]:
    """The label that finds the pods."""
    return {APP: one.name}


def pod(one: Container, *, probes: bool = True, late: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Metadata and spec. `late` are flags whose value the cluster fills in (`--node-rank`), as its own reference."""
    service = one.plan.cache_service
    engine = _engine(one, probes=probes, late=late or {})
    spec: dict[str, Any] = {
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": one.grace.pod,
        # The pause process reaps what the engine's workers leave behind.
        "shareProcessNamespace": True,
        "hostIPC": True if one.shm is None else None,
        "hostNetwork": True if one.network == "host" else None,
        "nodeSelector": {ARCHITECTURE: one.platform.partition("/")[2]} if one.platform else None,
        "securityContext": _security(one),
        "initContainers": [_sidecar(one, service)] if service else None,
        "containers": [engine],
        "volumes": [*(_volume(mount, index) for index, mount in enumerate(one.mounts)), _shm(one)],
    }
    labels = {**selector(one), "lil-serve/plan": one.plan.digest[:SHORT]}
    kept = {key: value for key, value in spec.items() if value is not None}
    return {"metadata": {"labels": labels, "annotations": notes(one)}, "spec": kept}


def claims(one: Container, mode: str) -> Iterator[dict[str, Any]]:
    """A claim for each named volume; `mode` is `ReadWriteOnce` or `ReadWriteMany`."""
    for mount in one.mounts:
        if not mount.bind:
            yield {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {"name": _claim(mount), "labels": {MANAGED: PROGRAM}},
                "spec": {"accessModes": [mode], "resources": {"requests": {"storage": CLAIM}}},
            }


def secret_comments(one: Container) -> str:
    """How each Secret object is made, as comments above the manifests."""
    command = '# kubectl create secret generic {} --from-literal={}="${}"\n'
    return "".join(command.format(secret_object(name), name, name) for name in one.secrets)


def cluster_can(one: Container) -> None:
    """Raise ConfigurationError for what a cluster decides by itself or cannot do."""
    problems: list[Problem] = []
    if one.gpus.ids or one.gpus.cdi or one.gpus.amount < 0:
        hint = f"--gpus {one.gpus.number() or 1}"
        problems.append(Problem("the scheduler chooses GPUs: it takes their number alone", hint=hint, code="gpus"))
    if one.image == DEFAULT:
        problems.append(
            Problem(f"a cluster cannot pull {DEFAULT} from your machine", hint="--image registry.example/lilserve:1.0")
        )
    if one.network == "none":
        problems.append(Problem("a pod has a network", hint="--network bridge, or host", code="usage"))
    refuse(problems)


def escaped(text: str) -> str:
    """The text as Kubernetes gives it back."""
    return text.replace("$", "$$")


def _engine(one: Container, *, probes: bool, late: Mapping[str, str]) -> dict[str, Any]:
    engine: dict[str, Any] = {
        "name": "engine",
        "image": one.image,
        "args": sealed_arguments(one.plan, late),
        "env": [*_variables(one.environment), *_references(one.secrets)],
        "ports": [{"name": "http", "containerPort": one.port}] if one.port else None,
        "resources": {"limits": {GPU: str(one.gpus.amount)}} if one.gpus.amount else None,
        "lifecycle": {"preStop": {"exec": {"command": ["sleep", str(PRE_STOP)]}}},
        **(_probes(one) if probes and one.health else {}),
        "volumeMounts": _mounts(one),
    }
    return {key: value for key, value in engine.items() if value is not None}


def _sidecar(one: Container, service: Service) -> dict[str, Any]:
    """The cache server: healthy before the engine starts, ended after it, started again when it fails."""
    own = {name: Leaf((Written(text, CACHE),)) for name, text in service.environment.items()}
    served = replace(
        one.plan, argv=service.argv, environment={**one.plan.environment, **own}, cache_service=None, options={}
    )
    probe = {
        "exec": {"command": [PROGRAM, "health", service.health_url]},
        "periodSeconds": PERIOD,
        "timeoutSeconds": PERIOD,
    }
    return {
        "name": CACHE,
        "image": one.image,
        "restartPolicy": "Always",
        "args": sealed_arguments(served, arena=service.shm_name),
        "env": [*_variables({**one.environment, **service.environment}), *_references(one.secrets)],
        "startupProbe": {**probe, "failureThreshold": math.ceil(CACHE_BUDGET / PERIOD)},
        "livenessProbe": {**probe, "failureThreshold": FAILURES},
        "volumeMounts": _mounts(one),
    }


def sealed_arguments(plan: Plan, late: Mapping[str, str] | None = None, arena: str | None = None) -> list[str]:
    """What `lil-serve` gets in one container of a pod, `$` doubled but in the cluster's own references."""
    late = late or {}
    argv = [escaped(token) for token in plan.argv]
    for index, token in enumerate(plan.argv[:-1]):
        if token in late:
            argv[index + 1] = late[token]
    return ["run", "--sealed", escaped(seal(plan, service=False, given_late=tuple(late), arena=arena)), "--", *argv]


def _probes(one: Container) -> dict[str, Any]:
    """HTTP where the kubelet can ask, sized from the load budget; with a cache server, alive means that both are."""
    if one.health is None:
        return {}
    scheme = one.health[-1].partition("://")[0].upper()
    http = {
        "httpGet": {"path": "/health", "port": "http", "scheme": scheme},
        "periodSeconds": PERIOD,
        "timeoutSeconds": PERIOD,
    }
    service = one.plan.cache_service
    both = (
        {
            "exec": {"command": [*one.health, service.health_url]},
            "periodSeconds": PERIOD,
            "timeoutSeconds": PERIOD,
        }
        if service
        else http
    )
    return {
        "startupProbe": {**http, "failureThreshold": math.ceil(one.load_budget / PERIOD)},
        "readinessProbe": {**http, "failureThreshold": FAILURES},
        "livenessProbe": {**both, "failureThreshold": FAILURES},
    }


def _variables(texts: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"name": name, "value": escaped(text)} for name, text in texts.items()]


def _references(names: Sequence[str]) -> list[dict[str, Any]]:
    """Each secret from the Secret object and the key of its own name (`secret_object`)."""
    return [{"name": name, "valueFrom": {"secretKeyRef": {"name": secret_object(name), "key": name}}} for name in names]


def secret_object(name: str) -> str:
    """The name of the Secret that holds a variable: `hf-token` for `HF_TOKEN`."""
    return name.lower().replace("_", "-").strip("-") or "secret"


def _security(one: Container) -> dict[str, Any] | None:
    if one.seccomp is None:
        return None
    if one.seccomp == "unconfined":
        return {"seccompProfile": {"type": "Unconfined"}}
    return {"seccompProfile": {"type": "Localhost", "localhostProfile": one.seccomp}}


def _mounts(one: Container) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"name": f"volume-{index}", "mountPath": mount.target} | ({"readOnly": True} if mount.read_only else {})
        for index, mount in enumerate(one.mounts)
    ]
    return [*found, {"name": SHM, "mountPath": SHM_PATH}]


def _volume(mount: Mount, index: int) -> dict[str, Any]:
    name = f"volume-{index}"
    if mount.bind:
        return {"name": name, "hostPath": {"path": mount.source}}
    return {"name": name, "persistentVolumeClaim": {"claimName": _claim(mount)}}


def _claim(mount: Mount) -> str:
    return mount.source.lower().replace("_", "-")


def _shm(one: Container) -> dict[str, Any]:
    """Memory of the pod's own, or the host's where a cache server needs it."""
    if one.shm is None:
        return {"name": SHM, "hostPath": {"path": SHM_PATH, "type": "Directory"}}
    return {"name": SHM, "emptyDir": {"medium": "Memory", "sizeLimit": str(one.shm)}}
