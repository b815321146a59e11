"""A container in; it is up afterwards, whether it was before or not, or nothing of it is left and an error says why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lilserve.container.state import SHAPE, State
from lilserve.errors import ConfigurationError, HostError, Problem, refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lilserve.container.daemon import Daemon
    from lilserve.render.container import Container


def bring_up(
    daemon: Daemon,
    one: Container,
    environ: Mapping[str, str],
    seccomp: str | None,
    *,
    replace: bool,
    say: Callable[[str], None],
) -> State:
    """The container, started. One that already runs the same is left alone; one that has ended is made anew.

    Raises ConfigurationError when the name is taken by something else, HostError when the daemon cannot.
    """
    secrets = secret_values(one, environ)
    refuse(_impossible(daemon, one))
    image = daemon.image(one.image)
    if image is None:
        say(f"pulling {one.image}")
        daemon.pull(one.image, one.platform)
        image = daemon.image(one.image)
    if image is None:
        raise HostError(Problem(f"{one.image} is not there after it was pulled", code="image"))
    if one.platform and image.platform != one.platform:
        what = f"the image {one.image} is for {image.platform}, and {one.plan.hardware} is {one.platform}"
        raise ConfigurationError(Problem(what, hint=f"--image with one for {one.platform}", code="image"))
    found = daemon.find(one.name)
    if found is not None:
        if not found.ours:
            raise ConfigurationError(
                Problem(f"a container {one.name} is there and not ours", hint=f"--name {one.name}-2", code="name")
            )
        same = found.labels.get(SHAPE) == one.labels[SHAPE] and found.image == image.id
        if same and found.running:
            say(f"{one.name} is already up")
            return found
        if found.running and not replace:
            raise ConfigurationError(
                Problem(
                    f"{one.name} is up and runs something else",
                    hint=f"lil-serve down {one.name}, or lil-serve up --replace",
                    code="name",
                )
            )
        take_down(daemon, found, say)
    say(f"creating {one.name}")
    made = daemon.create(one, secrets, seccomp)
    try:
        daemon.start(made)
    except HostError:
        daemon.remove(made)
        raise
    started = daemon.find(made)
    if started is None:
        raise HostError(Problem(f"{one.name} is gone as soon as it was started", code="daemon"))
    return started


def take_down(daemon: Daemon, state: State, say: Callable[[str], None]) -> None:
    """Stop a container of ours within its own grace and remove it; its volumes stay."""
    if state.running:
        say(f"stopping {state.name} within {state.stop} s")
        daemon.stop(state)
    daemon.remove(state.id)
    say(f"removed {state.name}")


def secret_values(one: Container, environ: Mapping[str, str]) -> dict[str, str]:
    """The secrets by name: the plan's own, or those of the caller's environment. Raises for one that nobody has."""
    texts = {**environ, **one.plan.texts()}
    refuse(
        Problem(f"the secret {name} is not in the environment", hint=f"set {name} and try again", code="secret")
        for name in one.secrets
        if name not in texts
    )
    return {name: texts[name] for name in one.secrets}


def _impossible(daemon: Daemon, one: Container) -> list[Problem]:
    """What podman's Docker API does not do, whatever it answers."""
    if daemon.podman and any(one.gpus):
        return [
            Problem(
                f"podman {daemon.version} takes no GPU requests through its Docker API",
                hint="lil-serve render quadlet, which names GPUs as CDI devices",
                code="podman",
            )
        ]
    return []
