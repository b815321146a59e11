"""The process environment and a plan in, the whole environment of each process out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lilserve.overlays.place import with_modules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lilserve.cache.model import Service
    from lilserve.plan.model import Plan


def engine_environment(plan: Plan, environ: Mapping[str, str]) -> dict[str, str]:
    """What the engine gets: `environ` untouched, without the dropped and removed names, with the listed ones set.

    Credentials and everything else that no layer speaks of pass through; a selection variable or an alias does not,
    so that a second resolver inside the engine's process tree finds nothing to resolve. Modules of overlays stand in
    front of PYTHONPATH.
    """
    return with_modules(_passed(plan, environ), plan.files)


def service_environment(plan: Plan, service: Service, environ: Mapping[str, str]) -> dict[str, str]:
    """What the cache server gets: the engine's variables without the modules of overlays, and its own over them.

    The plan's variables belong to both processes: one hash seed, one thread count, and whatever LMCACHE_ name an
    operator sets. The server's own come last, so an empty CUDA_VISIBLE_DEVICES keeps it off the GPU.
    """
    return _passed(plan, environ) | dict(service.environment)


def _passed(plan: Plan, environ: Mapping[str, str]) -> dict[str, str]:
    gone = {*plan.dropped, *plan.removed}
    return {name: text for name, text in environ.items() if name not in gone} | plan.texts()
