"""A plan in; every reason why it cannot run on this host at once, or what it needs claimed and cleared."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lilserve.errors import ConfigurationError, HostError, Problem
from lilserve.run.arena import SHM, Arena, claim, offloaded
from lilserve.run.directories import directory_problems, fitted, take
from lilserve.run.environment import engine_environment, service_environment
from lilserve.run.ports import addresses, taken
from lilserve.run.program import find_program, missing
from lilserve.run.room import gib, memory, shared_memory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lilserve.cache.model import Service
    from lilserve.plan.model import Plan


@dataclass(frozen=True, slots=True)
class Claim:
    """What this run owns until it is released, and the server as this host can hold it."""

    service: Service
    arena: Arena | None
    directory: int | None
    notices: tuple[str, ...]

    def kept(self) -> tuple[int, ...]:
        """Descriptors that the server inherits, so that the locks live as long as it does."""
        held = (self.arena.descriptor if self.arena else None, self.directory)
        return tuple(descriptor for descriptor in held if descriptor is not None)

    def release(self) -> None:
        """Remove the arena and free both locks; nothing of the run may be alive."""
        if self.arena:
            self.arena.release()
        if self.directory is not None:
            os.close(self.directory)


def preflight(plan: Plan, service: Service, environ: Mapping[str, str], found: Sequence[Problem] = ()) -> Claim:
    """Check everything, then claim; what somebody `found` before is told with the rest.

    Raises ConfigurationError for a missing program, HostError for the host.
    """
    absent = list(_programs(plan, service, environ))
    if absent:
        raise ConfigurationError(*absent)
    problems = list(found)
    problems += [problem for address in addresses(plan) if (problem := taken(address))]
    if service.disk_path:
        problems += directory_problems(service.disk_path, environ.get("HOME"))
    arena = claim(service.shm_name) if service.shm_name else None
    if isinstance(arena, Problem):
        problems.append(arena)
        arena = None
    stale = arena.stale if arena else 0
    problems += shared_memory(service.shm_bytes, stale, SHM) if service.shm_bytes else ()
    problems += memory(service.l1_bytes or service.shm_bytes or 0, stale)
    directory = take(service.disk_path) if service.disk_path and not problems else None
    if isinstance(directory, Problem):
        problems.append(directory)
    if problems:
        _give_back(arena)
        raise HostError(*{problem.code + problem.what: problem for problem in problems}.values())
    fitting, cut = fitted(service)
    notices = (*_clear(arena), *clear_offloaded(), *((cut,) if cut else ()))
    return Claim(fitting, arena, directory if isinstance(directory, int) else None, notices)


def _programs(plan: Plan, service: Service, environ: Mapping[str, str]) -> Iterator[Problem]:
    if find_program(service.argv, service_environment(plan, service, environ)) is None:
        yield missing(service.argv, "the cache server")
    if find_program(plan.argv, engine_environment(plan, environ)) is None:
        yield missing(plan.argv, "the engine")


def _give_back(arena: Arena | None) -> None:
    """Let go of a claimed arena; a predecessor's stays for the run that will clear it, with its lock file."""
    if arena is None:
        return
    if arena.stale:
        os.close(arena.descriptor)
    else:
        arena.release()


def _clear(arena: Arena | None) -> Iterator[str]:
    if arena is not None and arena.stale:
        arena.clear()
        yield f"removed {arena.path} ({gib(arena.stale)}), which an earlier run left behind"


def clear_offloaded() -> Iterator[str]:
    """Remove what a crashed engine's own offloading left in shared memory, and say what."""
    for path in offloaded():
        with suppress(OSError):
            size = os.stat(path).st_size
            os.unlink(path)
            yield f"removed {path} ({gib(size)}), which an earlier run left behind"
