"""A plan and a person's wishes in, the one container that every home runs out; or every reason why not, at once."""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, NamedTuple

from lilserve.errors import Problem, refuse
from lilserve.notice import Notice
from lilserve.receipt.seal import seal
from lilserve.render.gpus import Gpus, read_gpus
from lilserve.render.grace import LOAD_BUDGET, Grace, grace_of
from lilserve.render.image import DEFAULT, image_problems, platform_of
from lilserve.render.kernels import kernel_key
from lilserve.render.mounts import Mount, held, read_mounts
from lilserve.render.secrets import unrenderable, variables_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lilserve.plan.model import Plan

GIB = 1 << 30
PROGRAM = "lil-serve"
LOOPBACK = ("127.0.0.1", "::1", "localhost")
# Shared memory beside a cache's own pool: the engine's rings, NCCL and the multimodal cache.
ENGINE_SHM = 8 * GIB
# What io_uring locks; finite, because many daemons refuse to raise the limit above their own (F30).
MEMLOCK = 8 << 20
ARGUMENT = (128 << 10) - 1  # bytes of one argument that Linux takes
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


class Wishes(NamedTuple):
    """What a person says about the home and no plan knows. `present` are the names of the caller's variables."""

    image: str = DEFAULT
    name: str | None = None
    gpus: str | None = None
    ipc: str | None = None
    memlock: str | None = None
    volumes: tuple[str, ...] = ()
    network: str = "bridge"
    secrets: tuple[str, ...] = ()
    load_budget: int = LOAD_BUDGET
    platform: str | None = None
    seccomp: str | None = None
    strict: bool = False
    present: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Container:
    """What runs, in no home's words yet. Sizes in bytes, times in seconds.

    `argv`, `environment` and `secrets` (names alone) are the engine's; `command` is what the image's entrypoint,
    `lil-serve`, gets: the seal and behind `--` the argv. `shm` is None where the host's shared memory is used,
    `memlock` None where it is unlimited, `port` None where nothing listens. `health` is a command, its program first.
    """

    plan: Plan
    name: str
    image: str
    platform: str | None
    command: tuple[str, ...]
    environment: Mapping[str, str]
    secrets: tuple[str, ...]
    labels: Mapping[str, str]
    gpus: Gpus
    shm: int | None
    memlock: int | None
    mounts: tuple[Mount, ...]
    network: str
    port: int | None
    health: tuple[str, ...] | None
    load_budget: int
    grace: Grace
    seccomp: str | None
    notices: tuple[Notice, ...]


def container_of(plan: Plan, wishes: Wishes) -> Container:
    """The container of a plan. Raises ConfigurationError with every problem of plan and wishes together."""
    problems = [
        *unrenderable(plan, wishes.secrets),
        *image_problems(wishes.image, plan, wishes.platform, strict=wishes.strict),
        *_reachable(plan, wishes),
    ]
    name = wishes.name or default_name(plan)
    if not _NAME.fullmatch(name):
        problems.append(
            Problem(
                f"--name {name!r} is no name", None, "lower case letters, digits and dashes", f"--name {_slug(name)}"
            )
        )
    if wishes.load_budget <= 0:
        problems.append(Problem("--load-budget must be positive", hint=f"--load-budget {LOAD_BUDGET}", code="usage"))
    gpus = read_gpus(plan, wishes.gpus, problems)
    blocks = plan.cache_service.disk_path if plan.cache_service else None
    kernels = f"lil-serve-kernels-{kernel_key(plan, wishes.image)}"
    mounts = read_mounts(wishes.volumes, kernels, blocks, problems)
    memlock = _memlock(plan, wishes.memlock, problems)
    refuse(problems)
    sealed = seal(plan)
    if len(sealed.encode()) > ARGUMENT:
        refuse([Problem(f"the modules of overlays are more than the {ARGUMENT} bytes that one argument holds")])
    variables = variables_of(plan, wishes.secrets, wishes.present)
    made = Container(
        plan=plan,
        name=name,
        image=wishes.image,
        platform=wishes.platform or platform_of(plan),
        command=("run", "--sealed", sealed, "--", *plan.argv),
        environment=variables.shown,
        secrets=variables.named,
        labels={},
        gpus=gpus,
        shm=None if _host_memory(plan, wishes) else _shm(plan),
        memlock=memlock,
        mounts=mounts,
        network=wishes.network,
        port=port_of(plan),
        health=health_of(plan),
        load_budget=wishes.load_budget,
        grace=grace_of(plan),
        seccomp=wishes.seccomp,
        notices=tuple(_notices(plan, wishes, mounts)),
    )
    return _labelled(made)


def default_name(plan: Plan) -> str:
    """`lil-serve-PROFILE-PORT`, shortened to what every home takes as a name."""
    return _slug(f"lil-serve-{plan.profile}-{port_of(plan) or 'headless'}")


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower())[:63].strip("-") or PROGRAM


def value_of(plan: Plan, name: str) -> object:
    """The value of an option, or None where nothing sets it."""
    return plan.options[name].value if name in plan.options else None


def port_of(plan: Plan) -> int | None:
    """The port on which the engine answers, or None where it does not listen on one."""
    port = value_of(plan, "port")
    return port if isinstance(port, int) and not value_of(plan, "uds") and not value_of(plan, "headless") else None


def health_of(plan: Plan) -> tuple[str, ...] | None:
    """The command that asks the engine, and its cache server where it has one, whether they are well."""
    port = port_of(plan)
    if port is None:
        return None
    scheme = "https" if value_of(plan, "ssl-certfile") else "http"
    return (PROGRAM, "health", f"{scheme}://127.0.0.1:{port}/health")


def _labelled(made: Container) -> Container:
    """The container with the labels by which it is found again and compared; `shape` covers all but the labels."""
    plan = made.plan
    shape = {one.name: getattr(made, one.name) for one in fields(made) if one.name not in ("plan", "notices", "labels")}
    text = json.dumps(shape, sort_keys=True).encode("utf-8")
    labels = {
        "lil-serve.managed": "true",
        "lil-serve.profile": plan.profile,
        "lil-serve.hardware": plan.hardware,
        "lil-serve.cache-mode": plan.cache_mode,
        "lil-serve.plan-digest": plan.digest,
        "lil-serve.shape": hashlib.sha256(text).hexdigest(),
    }
    return replace(made, labels=labels)


def _reachable(plan: Plan, wishes: Wishes) -> Iterator[Problem]:
    host = value_of(plan, "host")
    if wishes.network != "host" and port_of(plan) and host in LOOPBACK:
        yield Problem(
            f"the engine listens on {host}, which inside a container is nobody else's",
            hint="-- --host 0.0.0.0, or --network host",
            code="host",
        )
    if value_of(plan, "uds"):
        yield Problem("a server on a unix socket is not reachable from outside its container", hint="-- --port 8000")


def _host_memory(plan: Plan, wishes: Wishes) -> bool:
    """Whether the host's shared memory is used: when asked for, or when a cache server maps GPU memory (CUDA IPC)."""
    service = plan.cache_service
    return wishes.ipc == "host" or (
        wishes.ipc is None and service is not None and service.transfer_mode == "lmcache_driven"
    )


def _shm(plan: Plan) -> int:
    """The pool of the cache rounded up to whole GiB, and the engine's own."""
    pool = plan.cache_service.shm_bytes if plan.cache_service else None
    return math.ceil((pool or 0) / GIB) * GIB + ENGINE_SHM


def _memlock(plan: Plan, text: str | None, problems: list[Problem]) -> int | None:
    if text is None:
        return max(MEMLOCK, int(plan.hardware_figures.get("memlock_bytes") or 0))
    if text == "unlimited":
        return None
    if not text.isdigit():
        problems.append(
            Problem(
                f"--memlock {text!r} is no limit", None, "bytes, or `unlimited`", f"--memlock {MEMLOCK}", code="memlock"
            )
        )
        return MEMLOCK
    needed = int(plan.hardware_figures.get("memlock_bytes") or 0)
    if int(text) < needed:
        problems.append(
            Problem(f"--memlock {text} is less than the {needed} bytes this launch locks", hint=f"--memlock {needed}")
        )
    return int(text)


def _notices(plan: Plan, wishes: Wishes, mounts: Sequence[Mount]) -> Iterator[Notice]:
    model = value_of(plan, "model")
    if isinstance(model, str) and model.startswith("/") and not held(model, mounts):
        yield Notice(
            "model-path", f"the model {model} is a path, and nothing is mounted there: --volume {model}:{model}:ro"
        )
    if plan.hardware_figures.get("io_uring") and wishes.seccomp is None:
        yield Notice(
            "io-uring",
            "this launch reads through io_uring, which the default seccomp profile of Docker and containerd forbids; "
            "pass --seccomp PROFILE with one that allows it",
        )
    if wishes.gpus is None and not read_gpus(plan, None, []).number():
        yield Notice(
            "no-gpus",
            f"{plan.hardware} names no GPU, so none is reserved; --gpus all reserves them",
            level="information",
        )


def one_machine(plans: Sequence[Plan]) -> Plan:
    """The only plan there is. Raises ConfigurationError for a launch on several machines."""
    nodes = value_of(plans[0], "nnodes")
    if isinstance(nodes, int) and nodes > 1:
        problem = Problem(
            f"this launch runs on {nodes} machines, and this target is one",
            hint="lil-serve render leaderworkerset, or lil-serve render ranks for commands by hand",
            code="nnodes",
        )
        refuse([problem])
    return plans[0]


def tell(notices: Iterable[Notice]) -> list[str]:
    """Notices as lines for a person."""
    return [f"notice: {notice.text}" for notice in notices]
