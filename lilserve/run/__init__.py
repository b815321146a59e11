"""A plan in; the process becomes the engine, or supervises it beside its cache server and an exit status comes out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lilserve.errors import HostError
from lilserve.run.execute import announce, become
from lilserve.run.preflight import clear_offloaded, preflight
from lilserve.run.tell import tell

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lilserve.cache.model import Service
    from lilserve.errors import Problem
    from lilserve.plan.model import Plan
    from lilserve.run.limits import Limits

__all__ = ["run"]


def run(plan: Plan, environ: Mapping[str, str], limits: Limits | None = None, *, found: Sequence[Problem] = ()) -> int:
    """Execute a plan. Without a cache server this process becomes the engine and the call does not return.

    With one, both are started and supervised until the last process of theirs is gone, and the exit status of
    DESIGN.md section 8 is returned. `found` are problems of this host that somebody saw already, told with the rest.
    Raises ConfigurationError (2) for a program that is not there and HostError (3)
    with everything that this host lacks; nothing has been started then.
    """
    if plan.cache_service is None:
        if found:
            raise HostError(*found)
        for notice in clear_offloaded():
            tell(notice)
        become(plan, environ)
    return _supervise(plan, plan.cache_service, environ, limits, found)


def _supervise(
    plan: Plan, service: Service, environ: Mapping[str, str], limits: Limits | None, found: Sequence[Problem]
) -> int:
    # What only supervision needs is imported here: to become an engine takes none of it.
    from lilserve.run.children import become_subreaper  # noqa: PLC0415 -- loads ctypes
    from lilserve.run.limits import limits_of  # noqa: PLC0415 -- as above
    from lilserve.run.loop import Loop  # noqa: PLC0415 -- as above
    from lilserve.run.waiting import Signals  # noqa: PLC0415 -- as above

    with Signals() as signals:
        become_subreaper()
        claim = preflight(plan, service, environ, found)
        try:
            announce(plan)
            for notice in claim.notices:
                tell(notice)
            return Loop(plan, environ, claim, limits or limits_of(plan), signals).run()
        finally:
            claim.release()
