"""A plan in, plain data for people and programs out: redacted, every value with its origin, place and what it beat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lilserve.keypath import parse
from lilserve.origin import REMOVED
from lilserve.plan.redact import redact, redact_argv, redact_text, secret_name
from lilserve.sha256 import sha256

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lilserve.cache.model import Service
    from lilserve.origin import Written
    from lilserve.plan.model import Leaf, Option, Plan

PLAN_VERSION = 1


def plan_data(plan: Plan) -> dict[str, Any]:
    """The plan as `--print-config` prints it (DESIGN.md section 7). The same plan gives the same data."""
    return {
        "version": PLAN_VERSION,
        "profile": plan.profile,
        "hardware": plan.hardware,
        "cache_mode": plan.cache_mode,
        "engine": {"id": plan.engine, "catalog": plan.catalog},
        "argv": redact_argv(plan.argv),
        "options": {name: option_data(option) for name, option in plan.options.items()},
        "environment": {name: leaf_data(leaf, name) for name, leaf in plan.environment.items()},
        "removed": {name: leaf_data(leaf, name) for name, leaf in plan.removed.items()},
        "cache_service": service_data(plan.cache_service),
        "stop_grace": plan.stop_grace,
        "overlays": [{"id": overlay.id, "because": overlay.because} for overlay in plan.overlays],
        "files": {path: sha256(text.encode()).hexdigest() for path, text in plan.files.items()},
        "notices": [
            {"code": n.code, "text": redact_text(n.text), "about": n.about, "level": n.level} for n in plan.notices
        ],
        "digest": plan.digest,
    }


def option_data(option: Option) -> dict[str, Any]:
    """One option: its value with one origin, or a mapping with the origin of each leaf; then what was displaced."""
    value = redact(option.value, option.name)
    data: dict[str, Any] = {"value": value}
    if set(option.leaves) == {""}:
        data |= leaf_data(option.leaves[""], option.name)
    else:
        data["leaves"] = {at: leaf_data(leaf, name_of(option.name, at)) for at, leaf in option.leaves.items()}
    displaced = {at: _history(leaf.trail, name_of(option.name, at)) for at, leaf in option.displaced.items()}
    return {**data, **({"displaced": displaced} if displaced else {})}


def leaf_data(leaf: Leaf, name: str) -> dict[str, Any]:
    """Value, origin and place of one leaf, and what it beat, the weakest first."""
    data = written_data(leaf.written, name)
    return {**data, **({"over": _history(leaf.trail[:-1], name)} if len(leaf.trail) > 1 else {})}


def written_data(written: Written, name: str) -> dict[str, Any]:
    """One writing of a value; a removal has no value."""
    removed = written.value is REMOVED
    data: dict[str, Any] = {"removed": True} if removed else {"value": redact(written.value, name)}
    data |= {"origin": written.origin, "at": written.at}
    if written.inputs:
        data["inputs"] = redact(dict(written.inputs))
    if written.why:
        data["why"] = written.why
    return data


def service_data(service: Service | None) -> dict[str, Any] | None:
    """The cache server as `cache_service` shows it."""
    if service is None:
        return None
    return {
        "argv": redact_argv(service.argv),
        "environment": redact(dict(service.environment)),
        "health_url": service.health_url,
        "shm_name": service.shm_name,
        "shm_bytes": service.shm_bytes,
    }


def name_of(option: str, at: str) -> str:
    """The name under which a leaf is judged to be a secret: its own, or its option's if that already is one."""
    path = parse(at)
    return option if not path or secret_name(option) else path[-1]


def _history(trail: tuple[Written, ...], name: str) -> list[dict[str, Any]]:
    return [written_data(written, name) for written in trail]


def environment_texts(plan: Plan) -> Mapping[str, str]:
    """The listed variables as they may be shown."""
    return {name: redact(text, name) for name, text in plan.texts().items()}
