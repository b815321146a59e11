r"""A container in, a podman quadlet (`NAME.container`) out, which systemd runs as a service.

Every value goes through three readers: podman's generator splits and unescapes a line as systemd would, and writes the
`ExecStart` in which systemd itself expands `%` and `$`. So each word is quoted in C's manner, and both are doubled.
`Notify=healthy` needs podman 5.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lilserve.errors import Problem, refuse
from lilserve.render.docker import INTERVAL, RETRIES, TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lilserve.render.container import Container

_PLAIN = re.compile(r"[A-Za-z0-9_@:/.,=+-]+")
_ESCAPES = {
    "\\": r"\\",
    '"': r"\"",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
    "\a": r"\a",
    "\b": r"\b",
    "\f": r"\f",
    "\v": r"\v",
}
_CONTROL = re.compile(r'[\\"\x01-\x1f\x7f]')
_LOST = "\x80"  # the generator writes it as one byte, which is no text
CONFIGURATION = 2  # the exit status that no restart cures (DESIGN.md section 8)
STOPPED = 143  # 128 + SIGTERM: a stop that was asked for


def quadlet_text(one: Container) -> str:
    """The file. Raises ConfigurationError for what podman's generator loses: an empty argument, or one that is `;`.

    Secrets come from podman's store, under the names of their variables.
    """
    refuse(_lost(one))
    lines = [
        f"# {one.plan.profile} on {one.plan.hardware}, plan {one.plan.digest}",
        *(f"# printenv {name} | tr -d '\\n' | podman secret create {name} -" for name in one.secrets),
        "[Unit]",
        f"Description={one.plan.profile} on {one.plan.hardware}".replace("%", "%%"),
        "Wants=network-online.target",
        "After=network-online.target",
        "",
        "[Container]",
        *(f"{key}={text}" for key, text in _container(one)),
        "",
        "[Service]",
        "Restart=on-failure",
        "RestartSec=5",
        f"RestartPreventExitStatus={CONFIGURATION}",
        f"SuccessExitStatus={STOPPED}",
        f"TimeoutStartSec={one.load_budget + one.grace.unit}",
        f"TimeoutStopSec={one.grace.unit}",
        "",
        "[Install]",
        "WantedBy=default.target",
    ]
    return "\n".join(lines) + "\n"


def _container(one: Container) -> Iterator[tuple[str, str]]:
    yield "ContainerName", one.name
    yield "Image", one.image
    yield "RunInit", "true"
    yield from (("Label", word(f"{name}={text}")) for name, text in one.labels.items())
    yield "PodmanArgs", f"--stop-timeout={one.grace.container}"
    if one.platform:
        yield "PodmanArgs", f"--platform={one.platform}"
    yield from (("AddDevice", name) for name in _devices(one))
    if one.shm is None:
        yield "PodmanArgs", "--ipc=host"
    else:
        yield "ShmSize", str(one.shm)
    limit = "-1" if one.memlock is None else str(one.memlock)
    yield "Ulimit", f"memlock={limit}:{limit}"
    if one.seccomp:
        yield "SeccompProfile", word(one.seccomp)
    yield from (("Volume", word(mount.text())) for mount in one.mounts)
    if one.network != "bridge":
        yield "Network", one.network
    elif one.port:
        yield "PublishPort", f"{one.port}:{one.port}"
    if one.health:
        yield "HealthCmd", " ".join(one.health)
        yield "HealthInterval", f"{INTERVAL}s"
        yield "HealthTimeout", f"{TIMEOUT}s"
        yield "HealthRetries", str(RETRIES)
        yield "HealthStartPeriod", f"{one.load_budget}s"
        yield "Notify", "healthy"
    yield from (("Environment", word(f"{name}={text}")) for name, text in one.environment.items())
    yield from (("Secret", f"{name},type=env,target={name}") for name in one.secrets)
    yield "Exec", " ".join(word(token) for token in one.command)


def word(text: str) -> str:
    """One word of a line: doubled `%` and `$`, and quoted unless it is plain."""
    text = text.replace("%", "%%").replace("$", "$$")
    if _PLAIN.fullmatch(text):
        return text
    return '"' + _CONTROL.sub(lambda found: _ESCAPES.get(found[0]) or f"\\x{ord(found[0]):02x}", text) + '"'


def _devices(one: Container) -> Iterator[str]:
    """CDI names: podman knows GPUs by no other. A count takes the first ones."""
    if one.gpus.cdi:
        yield from one.gpus.cdi
    elif one.gpus.ids:
        yield from (f"nvidia.com/gpu={name}" for name in one.gpus.ids)
    elif one.gpus.amount < 0:
        yield "nvidia.com/gpu=all"
    else:
        yield from (f"nvidia.com/gpu={index}" for index in range(one.gpus.amount))


def _lost(one: Container) -> Iterator[Problem]:
    for index, token in enumerate(one.command):
        if token in ("", ";"):
            yield _problem(f"argument {index} of the command is {token!r}, which podman's generator takes for an end")
    for text in (*one.command, *one.environment.values()):
        if _LOST in text:
            yield _problem("a value holds the control character U+0080, which podman's generator garbles")


def _problem(what: str) -> Problem:
    return Problem(what, hint="lil-serve render compose, or docker", code="quadlet")
