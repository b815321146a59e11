"""A daemon in memory: what is asked of it is written down, and its containers do what a test says."""

from __future__ import annotations

from lilserve.cache.model import Service
from lilserve.container.daemon import Image
from lilserve.container.state import State
from lilserve.origin import Written
from lilserve.plan.model import Leaf, Option, Plan
from lilserve.render.container import Wishes, container_of

AMD, ARM = "linux/amd64", "linux/arm64"
HELD = Image("id-1", AMD)


def leaf(value):
    return Leaf((Written(value, "test"),))


def plan(environment=None, *, service=False, figures=None):
    """A plan by hand."""
    options = {"host": "0.0.0.0", "port": 8000}  # noqa: S104 -- the default of every launch
    pool = Service(("cache",), {}, "http://127.0.0.1:18001/healthcheck", "pool", 1 << 30) if service else None
    return Plan(
        profile="tiny",
        hardware="box",
        cache_mode="vram",
        engine="toy",
        catalog="none",
        release="0",
        argv=("engine", "serve", "org/model"),
        options={name: Option(name, value, {"": leaf(value)}) for name, value in options.items()},
        environment={name: leaf(text) for name, text in (environment or {}).items()},
        removed={},
        dropped=(),
        cache_service=pool,
        overlays=(),
        notices=(),
        stop_grace=30,
        stop_grace_set=False,
        digest="d" * 64,
        hardware_figures=figures or {},
    )


def container(made=None, **wishes):
    return container_of(made or plan(), Wishes(**{"name": "one", "image": "lil:1", **wishes}))


def state(name="one", status="running", **more):
    """A state of ours unless `labels` say otherwise."""
    given = {
        "labels": {"lil-serve.managed": "true"},
        "health": "",
        "exit": None,
        "started": "",
        "stop": 40,
        "image": "id-1",
    }
    return State(id=f"id-of-{name}", name=name, status=status, **{**given, **more})


class FakeDaemon:
    """Daemon as the program uses it."""

    address, version = "unix:///fake.sock", "1"

    def __init__(self, *states, image=HELD, podman=False, failing=None):
        self.states = {one.name: one for one in states}
        self.held, self.podman, self.failing = image, podman, failing
        self.done, self.lines, self.secrets = [], [], {}
        self.after_pull = Image("id-2", AMD)
        self.histories = {}

    def find(self, name):
        history = self.histories.get(name)
        if history:
            self.states[name.removeprefix("id-of-")] = history.pop(0)
        return next((one for one in self.states.values() if name in (one.name, one.id)), None)

    def ours(self):
        return sorted((one for one in self.states.values() if one.ours), key=lambda one: one.name)

    def image(self, _reference):
        return self.held

    def pull(self, reference, _platform):
        self.done.append(("pull", reference))
        self.held = self.after_pull

    def create(self, one, secrets, _seccomp):
        self.done.append(("create", one.name))
        self.secrets = dict(secrets)
        self.states[one.name] = state(one.name, "created", labels=dict(one.labels), image=self.held.id)
        return f"id-of-{one.name}"

    def start(self, state_id):
        if self.failing:
            raise self.failing
        self.done.append(("start", state_id))
        name = state_id.removeprefix("id-of-")
        self.states[name] = self.states[name]._replace(status="running")

    def stop(self, one):
        self.done.append(("stop", one.name))

    def remove(self, state_id):
        self.done.append(("remove", state_id))
        self.states.pop(state_id.removeprefix("id-of-"), None)

    def recent(self, _state_id, tail):
        return self.lines[-tail:]
