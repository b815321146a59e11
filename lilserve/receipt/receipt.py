"""A plan in, the record of what was resolved out; and later, whether another plan is still that one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lilserve.errors import ConfigurationError, Problem
from lilserve.explain.data import environment_texts, service_data
from lilserve.explain.diff import difference, difference_text
from lilserve.origin import Written
from lilserve.plan.model import Applied, Leaf, Plan, Service
from lilserve.plan.redact import redact_argv

if TYPE_CHECKING:
    from collections.abc import Mapping

RECEIPT_VERSION = 1
KIND = "receipt"
TEXTS = ("profile", "hardware", "cache_mode", "digest")


def receipt_data(plan: Plan, release: str) -> dict[str, Any]:
    """The receipt of a plan: digests, engine build, facts, redacted argv. The same plan and host give the same bytes.

    `release` is the version of lilserve that resolved it. No clock takes part: when it ran is for who stores it.
    """
    return {
        "version": RECEIPT_VERSION,
        "kind": KIND,
        "lilserve": release,
        "digest": plan.digest,
        "profile": plan.profile,
        "hardware": plan.hardware,
        "cache_mode": plan.cache_mode,
        "engine": {"id": plan.engine, "catalog": plan.catalog, "release": plan.release},
        "argv": redact_argv(plan.argv),
        "environment": dict(environment_texts(plan)),
        "cache_service": service_data(plan.cache_service),
        "stop_grace": plan.stop_grace,
        "overlays": [overlay.id for overlay in plan.overlays],
        "documents": dict(sorted(plan.documents.items())),
        "facts": dict(plan.facts),
    }


def check_receipt(data: Any, name: str) -> dict[str, Any]:
    """The receipt in what a file held. Raises ConfigurationError when it holds something else."""
    if not isinstance(data, dict) or data.get("kind") != KIND or data.get("version") != RECEIPT_VERSION:
        raise ConfigurationError(
            Problem(
                f"{name!r} is no receipt of version {RECEIPT_VERSION}",
                hint=f"lil-serve receipt ... > {name}",
                code="receipt",
            )
        )
    broken = [key for key in TEXTS if not isinstance(data.get(key), str)]
    if broken or not _well_formed(data):
        raise ConfigurationError(
            Problem(f"the receipt {name!r} is damaged", hint=f"lil-serve receipt ... > {name}", code="receipt")
        )
    return data


def _well_formed(data: Mapping[str, Any]) -> bool:
    engine, grace = data.get("engine"), data.get("stop_grace")
    return (
        _runs(data)
        and isinstance(engine, dict)
        and all(isinstance(engine.get(key), str) for key in ("id", "catalog", "release"))
        and isinstance(grace, int | float)
        and _is_service(data.get("cache_service"))
    )


def _is_service(service: Any) -> bool:
    if service is None:
        return True
    return (
        isinstance(service, dict)
        and _runs(service)
        and isinstance(service.get("health_url"), str)
        and isinstance(service.get("shm_name"), str | None)
        and isinstance(service.get("shm_bytes"), int | None)
    )


def _runs(data: Mapping[str, Any]) -> bool:
    """Whether there is an argv of texts, and an environment of texts."""
    argv, environment = data.get("argv"), data.get("environment")
    return (
        isinstance(argv, list)
        and isinstance(environment, dict)
        and all(isinstance(text, str) for text in (*argv, *environment.values()))
    )


def hold_to(receipt: Mapping[str, Any], plan: Plan, name: str) -> None:
    """Raise ConfigurationError with the difference when the plan is not the one of the receipt."""
    if receipt["digest"] == plan.digest:
        return
    lines = difference_text(difference(_recorded(receipt), _redacted(plan))).splitlines()
    silent = lines[2:] in ([], ["only overlay files differ"])
    told = ["a secret or a file of an overlay differs"] if silent else lines[2:]
    raise ConfigurationError(
        Problem(
            "\n  ".join([f"this launch is not the one of the receipt {name}", *lines[:2], *told]),
            hint="launch what the receipt holds, or write a new one: lil-serve receipt ...",
            code="locked",
        )
    )


def _recorded(receipt: Mapping[str, Any]) -> Plan:
    """The plan that a receipt remembers, its secrets as they were shown."""
    service = receipt["cache_service"]
    engine = receipt["engine"]
    return Plan(
        profile=receipt["profile"],
        hardware=receipt["hardware"],
        cache_mode=receipt["cache_mode"],
        engine=engine["id"],
        catalog=engine["catalog"],
        release=engine["release"],
        argv=tuple(receipt["argv"]),
        options={},
        environment={name: Leaf((Written(text, KIND),)) for name, text in receipt["environment"].items()},
        removed={},
        dropped=(),
        cache_service=_service(service),
        overlays=tuple(Applied(name, "") for name in receipt.get("overlays") or ()),
        notices=(),
        stop_grace=receipt["stop_grace"],
        stop_grace_set=True,
        digest=receipt["digest"],
    )


def _redacted(plan: Plan) -> Plan:
    """The plan as its own receipt would remember it, so that a secret which stayed the same is no difference."""
    return _recorded(receipt_data(plan, ""))


def _service(data: Mapping[str, Any] | None) -> Service | None:
    if data is None:
        return None
    shown = ("health_url", "shm_name", "shm_bytes")
    return Service(tuple(data["argv"]), dict(data["environment"]), *(data[key] for key in shown))
