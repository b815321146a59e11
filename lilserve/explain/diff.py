"""Two plans in, what differs in what they run out. The selection is only the header."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lilserve.explain.data import environment_texts, service_data
from lilserve.plan.redact import redact_argv

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lilserve.plan.model import Plan


def difference(one: Plan, other: Plan) -> dict[str, Any]:
    """Flags, variables and cache server that were added, removed or changed, from `one` to `other`, redacted.

    A secret that differs shows as changed without its values. `same` says whether both run the same thing.
    """
    return {
        "from": _header(one),
        "to": _header(other),
        "same": one.digest == other.digest,
        "flags": _changes(_flags(one.argv), _flags(other.argv)),
        "environment": _changes(one.texts(), other.texts(), environment_texts(one), environment_texts(other)),
        "cache_service": _service(one, other),
        "stop_grace": None if one.stop_grace == other.stop_grace else {"from": one.stop_grace, "to": other.stop_grace},
    }


def _header(plan: Plan) -> dict[str, str]:
    return {
        "profile": plan.profile,
        "hardware": plan.hardware,
        "cache_mode": plan.cache_mode,
        "engine": plan.engine,
        "digest": plan.digest,
    }


def _flags(argv: Sequence[str]) -> dict[str, str]:
    """Each flag with its values as one text; the command itself is the flag of the empty name."""
    flags: dict[str, str] = {}
    current = ""
    for token in argv:
        if token.startswith("--"):
            current = token
            flags[current] = ""
        else:
            flags[current] = f"{flags.get(current, '')} {token}".strip()
    return flags


def _changes(
    one: Mapping[str, str],
    other: Mapping[str, str],
    shown: Mapping[str, str] | None = None,
    shown_other: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    before = shown if shown is not None else _safe(one)
    after = shown_other if shown_other is not None else _safe(other)
    return {
        "added": {name: after[name] for name in other if name not in one},
        "removed": {name: before[name] for name in one if name not in other},
        "changed": {
            name: {"from": before[name], "to": after[name]}
            for name in one
            if name in other and one[name] != other[name]
        },
    }


def _safe(flags: Mapping[str, str]) -> dict[str, str]:
    return {flag: " ".join(redact_argv([flag, text])[1:]) for flag, text in flags.items()}


def _service(one: Plan, other: Plan) -> dict[str, Any] | None:
    before, after = service_data(one.cache_service), service_data(other.cache_service)
    if one.cache_service == other.cache_service:
        return None
    if before is None or after is None:
        return {"added": after, "removed": before}
    return {
        "flags": _changes(_flags(before["argv"]), _flags(after["argv"])),
        "environment": _changes(before["environment"], after["environment"]),
        "changed": {
            key: {"from": before[key], "to": after[key]}
            for key in ("health_url", "shm_name", "shm_bytes")
            if before[key] != after[key]
        },
    }


def difference_text(data: Mapping[str, Any]) -> str:
    """The same as lines that begin with +, - or ~."""
    head = [f"--- {_selection(data['from'])}", f"+++ {_selection(data['to'])}"]
    body = [*_lines(data["flags"]), *_lines(data["environment"]), *_service_lines(data["cache_service"])]
    if data["stop_grace"]:
        body.append(f"~ stop-grace {data['stop_grace']['from']} -> {data['stop_grace']['to']}")
    return "\n".join([*head, *(body or ["both run the same thing" if data["same"] else "only overlay files differ"])])


def _selection(header: Mapping[str, str]) -> str:
    return f"{header['profile']} on {header['hardware']}, cache {header['cache_mode']}, engine {header['engine']}"


def _lines(changes: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    yield from (f"- {prefix}{name} {text}".rstrip() for name, text in changes["removed"].items())
    yield from (f"+ {prefix}{name} {text}".rstrip() for name, text in changes["added"].items())
    yield from (f"~ {prefix}{name} {both['from']} -> {both['to']}" for name, both in changes["changed"].items())


def _service_lines(service: Mapping[str, Any] | None) -> Iterator[str]:
    if service is None:
        return
    for sign, key in (("-", "removed"), ("+", "added")):
        if service.get(key):
            yield f"{sign} cache server: {' '.join(service[key]['argv'])}"
    for part in ("flags", "environment"):
        if part in service:
            yield from _lines(service[part], "cache server: ")
    for name, both in (service.get("changed") or {}).items():
        yield f"~ cache server: {name} {both['from']} -> {both['to']}"
