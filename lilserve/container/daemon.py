"""The container daemon, asked through docker's SDK; its refusals become ours, with the cure where one is known."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import docker
import requests
from docker import errors

from lilserve.container.creation import creation, host_side
from lilserve.container.state import MANAGED, State, state_of
from lilserve.errors import HostError, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from lilserve.render.container import Container

FAILURES = (errors.DockerException, requests.exceptions.RequestException)

# What daemons say, and what helps.
CURES = (
    (
        r"rlimit type 8|RLIMIT_MEMLOCK",
        "this daemon may not raise memlock so far: pass a smaller --memlock, or raise the daemon's own",
    ),
    (
        r"could not select device driver|nvidia-container|unresolvable CDI",
        "install the NVIDIA container toolkit; nvidia-ctk runtime configure",
    ),
    (r"port is already allocated|address already in use", "lil-serve status shows who has it; or pass -- --port 8001"),
    (r"container-init binary not found", "install catatonit, podman's init: without one zombies gather"),
    (r"rlimit", "the daemon sets a limit above its own; podman: default_ulimits in containers.conf"),
    (r"no space left", "docker system df shows what fills the disk"),
    (r"does not match the specified platform|no matching manifest", "an image for this machine's processor"),
    (r"permission denied", "add yourself to the docker group, or use sudo"),
)


class Image(NamedTuple):
    """An image as the daemon has it; `platform` is `linux/arm64` or alike."""

    id: str
    platform: str


class Daemon:
    """One daemon, docker's or podman's with its Docker API."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.address = environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"
        try:
            self._api = docker.from_env(environment=dict(environ)).api
            version = self._api.version()
        except FAILURES as error:
            raise HostError(_unreachable(self.address, error)) from error
        names = [str(part.get("Name", "")) for part in version.get("Components") or ()]
        self.podman = any("podman" in name.lower() for name in names)
        self.version = str(version.get("Version", ""))

    def find(self, name: str) -> State | None:
        """The container of that name, whoever's it is."""
        try:
            return state_of(self._api.inspect_container(name))
        except errors.NotFound:
            return None
        except FAILURES as error:
            raise HostError(_refused("look up a container", error)) from error

    def ours(self) -> list[State]:
        """Every container with our label, by name."""
        found = self._do(
            "list containers", lambda: self._api.containers(all=True, filters={"label": f"{MANAGED}=true"})
        )
        states = (self.find(str(row["Id"])) for row in found)
        return sorted((state for state in states if state is not None), key=lambda state: state.name)

    def image(self, reference: str) -> Image | None:
        """The image, where the daemon has it."""
        try:
            attrs: dict[str, Any] = self._api.inspect_image(reference)  # type: ignore[no-untyped-call]  # the stubs lack it
        except errors.NotFound:
            return None
        except FAILURES as error:
            raise HostError(_refused("look up an image", error)) from error
        return Image(str(attrs["Id"]), f"{attrs.get('Os', 'linux')}/{attrs.get('Architecture', '')}")

    def pull(self, reference: str, platform: str | None) -> None:
        """Fetch the image. Raises HostError when nobody has it."""
        name, colon, tag = reference.rpartition(":")
        split = (name, tag) if colon and "/" not in tag and "@" not in reference else (reference, None)
        self._do(f"pull {reference}", lambda: self._api.pull(split[0], tag=split[1], platform=platform))

    def create(self, one: Container, secrets: Mapping[str, str], seccomp: str | None) -> str:
        """Create it and return its id."""
        side = host_side(one, seccomp)

        def make() -> Any:
            return self._api.create_container(
                **creation(one, secrets), host_config=self._api.create_host_config(**side)
            )["Id"]

        return str(self._do(f"create {one.name}", make))

    def start(self, state_id: str) -> None:
        self._do("start the container", lambda: self._api.start(state_id))

    def stop(self, state: State) -> None:
        """SIGTERM, and SIGKILL after the container's own stop timeout."""
        self._do(f"stop {state.name}", lambda: self._api.stop(state.id, timeout=state.stop))

    def remove(self, state_id: str) -> None:
        """Remove it with its anonymous volumes; named ones are the caches and stay."""
        self._do("remove the container", lambda: self._api.remove_container(state_id, v=True))

    def logs(self, state_id: str, *, follow: bool, tail: int | Literal["all"]) -> Iterator[bytes]:
        """Its output, both streams."""
        found = self._do("read logs", lambda: self._api.logs(state_id, stream=True, follow=follow, tail=tail))
        try:
            yield from found
        except FAILURES as error:
            raise HostError(_refused("read logs", error)) from error

    def recent(self, state_id: str, tail: int) -> list[str]:
        """Its last lines."""
        return b"".join(self.logs(state_id, follow=False, tail=tail)).decode("utf-8", "replace").splitlines()

    def _do(self, what: str, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except FAILURES as error:
            raise HostError(_refused(what, error)) from error


def _refused(what: str, error: Exception) -> Problem:
    text = str(getattr(error, "explanation", None) or error).strip()
    hint = next((cure for pattern, cure in CURES if re.search(pattern, text, re.IGNORECASE)), None)
    return Problem(f"the daemon did not {what}: {text[:1].lower()}{text[1:]}", hint=hint, code="daemon")


def _unreachable(address: str, error: Exception) -> Problem:
    denied = "permission denied" in str(error).lower()
    why = "it does not let this user in" if denied else "nobody answers"
    hint = (
        "add yourself to the docker group, or use sudo"
        if denied
        else "systemctl start docker; or for podman systemctl --user start podman.socket "
        "and DOCKER_HOST=unix://$XDG_RUNTIME_DIR/podman/podman.sock"
    )
    return Problem(f"no container daemon at {address}: {why}", hint=hint, code="daemon")
