"""A container in, a Compose file out: exec-form arrays, every `$` doubled, secrets without a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lilserve.render.docker import INTERVAL, RETRIES, TIMEOUT
from lilserve.render.yaml_text import yaml_text

if TYPE_CHECKING:
    from lilserve.render.container import Container
    from lilserve.render.gpus import Gpus
    from lilserve.render.mounts import Mount


def compose_text(one: Container) -> str:
    """The file. A variable without a value comes from the environment of who runs `docker compose`."""
    return yaml_text(compose_data(one))


def compose_data(one: Container) -> dict[str, Any]:
    """The same as data, `$` doubled."""
    service: dict[str, Any] = {
        "image": one.image,
        "container_name": one.name,
        "platform": one.platform,
        "command": [doubled(token) for token in one.command],
        "environment": {name: doubled(text) for name, text in one.environment.items()} | dict.fromkeys(one.secrets),
        "labels": {name: doubled(text) for name, text in one.labels.items()},
        "init": True,
        "restart": "no",  # Compose cannot tell exit 2, which no retry cures, from a crash
        "stop_grace_period": f"{one.grace.container}s",
        "ipc": "host" if one.shm is None else "private",
        "shm_size": None if one.shm is None else str(one.shm),
        "ulimits": {"memlock": dict.fromkeys(("soft", "hard"), -1 if one.memlock is None else one.memlock)},
        "security_opt": [f"seccomp={doubled(one.seccomp)}"] if one.seccomp else None,
        "network_mode": one.network if one.network != "bridge" else None,
        "ports": [f"{one.port}:{one.port}"] if one.port and one.network == "bridge" else None,
        "volumes": [_mount(mount) for mount in one.mounts],
        "healthcheck": _health(one),
        "deploy": {"resources": {"reservations": {"devices": [_devices(one.gpus)]}}} if any(one.gpus) else None,
    }
    return {
        "name": one.name,
        "services": {one.name: {key: value for key, value in service.items() if value is not None}},
        "volumes": {mount.source: {"name": mount.source} for mount in one.mounts if not mount.bind},
    }


def doubled(text: str) -> str:
    """The text as Compose gives it back: it reads `$$` as `$` and everything else after a `$` as a variable."""
    return text.replace("$", "$$")


def _mount(mount: Mount) -> dict[str, Any]:
    data = {
        "type": "bind" if mount.bind else "volume",
        "source": doubled(mount.source),
        "target": doubled(mount.target),
    }
    return {**data, "read_only": True} if mount.read_only else data


def _health(one: Container) -> dict[str, Any] | None:
    if one.health is None:
        return None
    return {
        "test": ["CMD", *(doubled(token) for token in one.health)],
        "interval": f"{INTERVAL}s",
        "timeout": f"{TIMEOUT}s",
        "retries": RETRIES,
        "start_period": f"{one.load_budget}s",
    }


def _devices(gpus: Gpus) -> dict[str, Any]:
    if gpus.cdi:
        return {"driver": "cdi", "device_ids": list(gpus.cdi), "capabilities": ["gpu"]}
    chosen = {"device_ids": list(gpus.ids)} if gpus.ids else {"count": "all" if gpus.amount < 0 else gpus.amount}
    return {"driver": "nvidia", **chosen, "capabilities": ["gpu"]}
