"""A resolution in, the frozen plan out, or every problem of the launch at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lilserve.cache.service import cache_service
from lilserve.cache.tiers import endless_tiers
from lilserve.engine.controls import CONTROLS, SELECTING
from lilserve.errors import Problem, refuse
from lilserve.keypath import pointer
from lilserve.layers.layer import EXPLICIT
from lilserve.notice import Notice
from lilserve.plan.argv import engine_argv
from lilserve.plan.digest import digest
from lilserve.plan.judge import judge
from lilserve.plan.model import Applied, Leaf, Option, Plan
from lilserve.plan.redact import redact_argv

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lilserve.cache.model import Service
    from lilserve.documents.library import Library
    from lilserve.documents.model import Document
    from lilserve.resolution.merge import Merged
    from lilserve.resolution.resolve import Resolution

STOP_GRACE = "stop-grace"
CACHE_FAMILY, CONNECTOR = "LMCACHE_", "kv-transfer-config"


def build_plan(resolution: Resolution, library: Library) -> Plan:
    """What will run. Raises ConfigurationError with all problems of resolution, values and cache server together."""
    chosen, catalog = resolution.chosen, resolution.chosen.catalog
    before = len(resolution.scope.problems)
    service = cache_service(resolution, _command(chosen.engine, "cache-command"))
    problems, judged = judge(resolution)
    command = _command(chosen.engine, "command")
    if not command:
        problems.append(
            Problem(
                f"engine {chosen.engine[-1].id!r} has no command",
                chosen.engine[-1].at("id"),
                hint="command: [vllm, serve]",
            )
        )
    problems += endless_tiers(_cache_sources(resolution, service))
    refuse([*resolution.problems, *problems, *resolution.scope.problems[before:]])
    options = {
        name: _option(name, merged, control=name not in catalog.raw)
        for name, merged in sorted(resolution.options.items())
    }
    values = {name: option.value for name, option in options.items()}
    argv = engine_argv(command, values, catalog, resolution.outside.unknown)
    environment, removed = _variables(resolution)
    texts = {name: leaf.written.value for name, leaf in environment.items()}
    grace = resolution.options.get(STOP_GRACE)
    files = {path: text for one in resolution.overlays for path, text in (one.document.data.get("files") or {}).items()}
    return Plan(
        profile=chosen.profile[-1].id,
        hardware=chosen.hardware[-1].id,
        cache_mode=resolution.settled.cache_mode,
        engine=chosen.engine[-1].id,
        catalog=catalog.id,
        release=catalog.release,
        argv=argv,
        options=options,
        environment=environment,
        removed=removed,
        dropped=tuple(sorted(set(resolution.outside.dropped))),
        cache_service=service,
        overlays=tuple(Applied(one.document.id, one.because) for one in resolution.overlays),
        notices=tuple(dict.fromkeys([*resolution.notices, *judged, *_notices(resolution, library)])),
        stop_grace=values.get(STOP_GRACE) or 0,
        stop_grace_set=grace is not None and grace.explicit(),
        digest=digest(argv, texts, service, values.get(STOP_GRACE), files),
        files=files,
        facts=resolution.selection.facts,
        hardware_figures=resolution.scope.figures["h"],
        documents={document.path: document.digest for document in documents_of(resolution)},
    )


def _cache_sources(resolution: Resolution, service: Service | None) -> Iterator[tuple[str, Any, str | None]]:
    """Whatever reaches a cache server or its connector: name, value and where it was written."""
    for name, merged in (*resolution.environment.items(), *resolution.options.items()):
        written = next((trail[-1] for trail in merged.live.values()), None)
        if written is not None and (name.startswith(CACHE_FAMILY) or name == CONNECTOR):
            yield name, merged.value, written.at or written.origin
    if service is not None:
        flags = zip(service.argv, service.argv[1:], strict=False)
        yield from ((flag, text, None) for flag, text in (*flags, *service.environment.items()))


def _command(chain: Sequence[Document], key: str) -> tuple[str, ...]:
    """The command that the last engine document of a chain with one gives."""
    return next((tuple(document.data[key]) for document in reversed(chain) if key in document.data), ())


def _option(name: str, merged: Merged, *, control: bool) -> Option:
    leaves = {pointer(path): Leaf(trail) for path, trail in merged.live.items()}
    displaced = {pointer(path): Leaf(trail) for path, trail in merged.displaced.items()}
    return Option(name, merged.value, leaves, displaced, control)


def _variables(resolution: Resolution) -> tuple[dict[str, Leaf], dict[str, Leaf]]:
    environment, removed = {}, {}
    for name, merged in sorted(resolution.environment.items()):
        if merged.live:
            environment[name] = Leaf(merged.live[()])
        elif merged.displaced:
            removed[name] = Leaf(merged.displaced[()])
    return environment, removed


def documents_of(resolution: Resolution) -> Iterator[Document]:
    """Every document that takes part in a resolution."""
    chosen = resolution.chosen
    yield from (*chosen.profiles, *chosen.hardware, *chosen.preset, *chosen.engine)
    yield from (one.document for one in resolution.overlays)
    yield from (
        document for document in (resolution.settled.cache, resolution.selection.settings) if document is not None
    )


def _notices(resolution: Resolution, library: Library) -> Iterator[Notice]:
    """What became of what was written: replaced documents, unused derivations, tokens no catalog knows."""
    for document in documents_of(resolution):
        shipped = library.replaced.get((document.kind, document.id))
        if shipped is not None:
            yield Notice(
                "replaced-document",
                f"{document.kind} {document.id} is {document.path}, in place of {shipped.path}",
                document.id,
            )
    for name in sorted(resolution.derived - resolution.scope.read):
        if name not in resolution.chosen.catalog.raw:
            yield Notice("unused-derivation", f"{name} was derived and nothing uses it", name)
    for name in sorted(_idle(resolution)):
        yield Notice("unused-control", f"{name} is set, and nothing in this launch reads it", name)
    for group in resolution.outside.unknown:
        yield Notice(
            "allowed-unknown",
            f"{' '.join(redact_argv(group))} is passed on unchecked: {resolution.chosen.catalog.id} does not know it",
            group[0].partition("=")[0],
        )


def _idle(resolution: Resolution) -> Iterator[str]:
    """Controls that an operator wrote, no document knows and no rule took into account."""
    for name, merged in resolution.options.items():
        trails = (*merged.live.values(), *merged.displaced.values())
        known = any(one.rank < EXPLICIT for trail in trails for one in trail)
        counted = name not in CONTROLS or name in (*SELECTING, STOP_GRACE) or name in resolution.scope.used
        if merged.explicit() and not known and not counted:
            yield name
