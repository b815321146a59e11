"""A container in, the equivalent `docker run` out: as tokens, and as one line that a shell splits back into them."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lilserve.render.container import Container
    from lilserve.render.gpus import Gpus

# How often a container is asked whether it is well, how long it may take to say, and how many silences are a failure.
INTERVAL, TIMEOUT, RETRIES = 10, 10, 3


def docker_tokens(one: Container) -> list[str]:
    """The command by tokens. A secret is a name, which docker takes from the environment of who runs it."""
    return ["docker", "run", *(token for group in _groups(one) for token in group), one.image, *one.command]


def docker_text(one: Container) -> str:
    """The same as one line for a shell."""
    return shlex.join(docker_tokens(one)) + "\n"


def _groups(one: Container) -> Iterator[Sequence[str]]:
    yield "--detach", "--name", one.name
    # Docker cannot tell exit 2, which no retry cures, from a crash; restarts belong to a manager that can (quadlet).
    yield "--init", "--restart", "no", "--stop-timeout", str(one.grace.container)
    yield from (("--label", f"{name}={text}") for name, text in one.labels.items())
    yield from (("--platform", one.platform),) if one.platform else ()
    yield from _gpus(one.gpus)
    yield ("--ipc", "host") if one.shm is None else ("--ipc", "private", "--shm-size", str(one.shm))
    limit = "-1" if one.memlock is None else str(one.memlock)
    yield "--ulimit", f"memlock={limit}:{limit}"
    yield from (("--security-opt", f"seccomp={one.seccomp}"),) if one.seccomp else ()
    yield from (("--volume", mount.text()) for mount in one.mounts)
    yield "--network", one.network
    if one.port and one.network == "bridge":
        yield "--publish", f"{one.port}:{one.port}"
    if one.health:
        yield "--health-cmd", shlex.join(one.health)
        yield "--health-interval", f"{INTERVAL}s", "--health-timeout", f"{TIMEOUT}s"
        yield "--health-retries", str(RETRIES), "--health-start-period", f"{one.load_budget}s"
    yield from (("--env", f"{name}={text}") for name, text in one.environment.items())
    yield from (("--env", name) for name in one.secrets)


def _gpus(gpus: Gpus) -> Iterator[Sequence[str]]:
    if gpus.cdi:
        yield from (("--device", name) for name in gpus.cdi)
    elif gpus.ids:
        # The inner quotes are docker's: it reads the value as CSV, and a comma would end the field.
        yield "--gpus", f'"device={",".join(gpus.ids)}"'
    elif gpus.amount:
        yield "--gpus", "all" if gpus.amount < 0 else str(gpus.amount)
