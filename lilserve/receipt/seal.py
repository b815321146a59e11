"""A plan in, the one token out that carries all of it but argv and environment into a container, and back.

A container runs `lil-serve run --sealed TOKEN -- ARGV...`: the engine's argv stands in the command token by token, the
variables are the container's own, and the seal holds the rest: the names of the listed variables, the names the engine
must not see, the cache server, the stop grace, and a digest over all of it. What runs is what was rendered, or nothing.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lilserve.errors import ConfigurationError, Problem, refuse
from lilserve.origin import Written
from lilserve.plan.digest import digest
from lilserve.plan.model import Leaf, Option, Plan, Service

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SEAL_VERSION = 1
ORIGIN = "sealed"
# What running a plan reads of its options: where the engine listens, and whether it does at all.
ADDRESS = ("host", "port", "uds", "headless", "ssl-certfile", "ssl-keyfile")
# What judging a host reads of the machine document (lilserve.host.checks).
NEEDED = ("cpu", "image_arch", "page_size", "io_uring", "memlock_bytes")
ANYTHING = "*"


def seal(plan: Plan, *, service: bool = True, given_late: Sequence[str] = (), arena: str | None = None) -> str:
    """The seal of a plan as compact JSON, without any secret.

    `service` False leaves the cache server out, where the home starts it itself; `given_late` are flags whose value
    only the home knows (`--node-rank`), so the digest holds for any value of theirs; `arena` is the shared memory that
    a cache server on its own makes, to be claimed before it starts.
    """
    cache = plan.cache_service if service else None
    data = {
        "version": SEAL_VERSION,
        "digest": _digest(plan, cache, given_late),
        "plan": plan.digest,
        "profile": plan.profile,
        "hardware": plan.hardware,
        "cache_mode": plan.cache_mode,
        "engine": plan.engine,
        "catalog": plan.catalog,
        "release": plan.release,
        "environment": list(plan.environment),
        "without": sorted({*plan.removed, *plan.dropped}),
        "address": {name: plan.options[name].value for name in ADDRESS if name in plan.options},
        "needs": {name: plan.hardware_figures[name] for name in NEEDED if plan.hardware_figures.get(name)},
        "stop_grace": plan.stop_grace,
        "cache_service": cache and cache._asdict(),
        "given_late": list(given_late),
        "files": dict(plan.files),
        "arena": arena,
    }
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False)


def unseal(token: str, argv: Sequence[str], environ: Mapping[str, str]) -> Plan:
    """The plan that a seal, the argv beside it and the variables around it make.

    Raises ConfigurationError when the token is no seal, when a listed variable is missing, and when the whole is not
    what was sealed.
    """
    data = _read(token)
    refuse(
        Problem(
            f"{name} is part of the plan and not in the environment", hint=f"pass it by name: -e {name}", code="seal"
        )
        for name in data["environment"]
        if name not in environ
    )
    plan = Plan(
        profile=data["profile"],
        hardware=data["hardware"],
        cache_mode=data["cache_mode"],
        engine=data["engine"],
        catalog=data["catalog"],
        release=data["release"],
        argv=tuple(argv),
        options={name: Option(name, value, {"": _leaf(value)}) for name, value in data["address"].items()},
        environment={name: _leaf(environ[name]) for name in data["environment"]},
        removed={},
        dropped=tuple(data["without"]),
        cache_service=_service(data["cache_service"]),
        overlays=(),
        notices=(),
        stop_grace=data["stop_grace"],
        stop_grace_set=True,
        digest=data["plan"],
        hardware_figures=data["needs"],
        files=data["files"],
    )
    if _digest(plan, plan.cache_service, data["given_late"]) != data["digest"]:
        raise ConfigurationError(
            Problem(
                "the command or the environment is not the one that was rendered",
                hint="render it again from the selection; nothing in a rendering is meant to be edited",
                code="seal",
            )
        )
    return plan


def arena_of(token: str) -> str | None:
    """The shared memory that must be claimed before what is sealed runs."""
    name: str | None = _read(token).get("arena")
    return name


def _service(data: Mapping[str, Any] | None) -> Service | None:
    return Service(**{**data, "argv": tuple(data["argv"])}) if data else None


def _read(token: str) -> dict[str, Any]:
    try:
        data = json.loads(token)
    except ValueError:
        data = None
    if not isinstance(data, dict) or data.get("version") != SEAL_VERSION:
        raise ConfigurationError(
            Problem("--sealed takes what `lil-serve render` printed", hint="lil-serve render docker ...", code="seal")
        )
    return data


def _leaf(value: Any) -> Leaf:
    return Leaf((Written(value, ORIGIN),))


def _digest(plan: Plan, service: Service | None, given_late: Sequence[str]) -> str:
    """The plan's digest without what may change: of a late flag only the flag counts."""
    argv = plan.argv
    tokens = [ANYTHING if index and argv[index - 1] in given_late else token for index, token in enumerate(argv)]
    return digest(tokens, plan.texts(), service, plan.stop_grace, plan.files)
