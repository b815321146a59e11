"""A container in, the arguments by which docker's SDK creates it out. Nothing is asked or started."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lilserve.render.docker import INTERVAL, RETRIES, TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lilserve.render.container import Container
    from lilserve.render.gpus import Gpus

SECOND = 1_000_000_000  # nanoseconds


def creation(one: Container, secrets: Mapping[str, str]) -> dict[str, Any]:
    """Everything but the host's side (`host_side`). `secrets` are the values of the names that are passed by name."""
    published = one.port is not None and one.network == "bridge"
    return {
        "image": one.image,
        "command": list(one.command),
        "name": one.name,
        "detach": True,
        "environment": {**one.environment, **secrets},
        "labels": dict(one.labels),
        "healthcheck": _health(one),
        "stop_timeout": one.grace.container,
        "platform": one.platform,
        "ports": [one.port] if published else None,
        # The client's own proxy settings are no part of the plan.
        "use_config_proxy": False,
    }


def host_side(one: Container, seccomp: str | None) -> dict[str, Any]:
    """What the host gives: GPUs, memory, mounts, network. `seccomp` is `unconfined` or a profile's text."""
    limit = -1 if one.memlock is None else one.memlock
    published = one.port is not None and one.network == "bridge"
    return {
        "init": True,
        # Docker cannot tell exit 2, which no retry cures, from a crash.
        "restart_policy": {"Name": "no"},
        "device_requests": _requests(one.gpus),
        "ipc_mode": "host" if one.shm is None else "private",
        "shm_size": one.shm,
        "ulimits": [{"Name": "memlock", "Soft": limit, "Hard": limit}],
        "security_opt": [f"seccomp={seccomp}"] if seccomp else None,
        "binds": [mount.text() if mount.read_only else f"{mount.text()}:rw" for mount in one.mounts],
        "network_mode": one.network,
        "port_bindings": {one.port: one.port} if published else None,
    }


def _health(one: Container) -> dict[str, Any] | None:
    if one.health is None:
        return None
    return {
        "test": ["CMD", *one.health],
        "interval": INTERVAL * SECOND,
        "timeout": TIMEOUT * SECOND,
        "retries": RETRIES,
        "start_period": one.load_budget * SECOND,
    }


def _requests(gpus: Gpus) -> list[dict[str, Any]] | None:
    if gpus.cdi:
        return [{"Driver": "cdi", "DeviceIDs": list(gpus.cdi)}]
    if gpus.ids:
        return [{"Driver": "", "DeviceIDs": list(gpus.ids), "Capabilities": [["gpu"]]}]
    return [{"Driver": "", "Count": gpus.amount, "Capabilities": [["gpu"]]}] if gpus.amount else None
