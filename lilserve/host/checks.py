"""Facts of a host and a plan in, every reason why it cannot run there out. A fact nobody knows refuses nothing."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from lilserve.errors import Problem
from lilserve.host.uring import try_uring

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lilserve.plan.model import Plan

    Facts = Mapping[str, Any]

GIB = 1 << 30
SPARE = 1  # GiB of shared memory beside the cache's own, for the engine's rings and NCCL
ARCHITECTURES = {"linux/amd64": "x86_64", "linux/arm64": "aarch64"}
# 12.0a runs on 12.0 alone, 12.0f on its family, 12.0 on later minors; +PTX is compiled again for whatever is later.
_TARGET = re.compile(r"(?:sm_)?(?P<major>\d+)\.?(?P<minor>\d)(?P<kind>[af]?)(?P<ptx>\+PTX)?", re.IGNORECASE)
_PER_VARIABLE = {"TORCH_CUDA_ARCH_LIST": "{}.{}a", "CUTE_DSL_ARCH": "sm_{}{}a"}


def problems_of(plan: Plan, facts: Facts, uring: Callable[[], Problem | None] = try_uring) -> list[Problem]:
    """Every problem of a plan on a host, in the order of the rows below.

    `facts` are those of `lilserve.host.facts`; `uring` tries io_uring on this very host and is called only for a
    plan whose machine needs it.
    """
    found = [problem for row in CHECKS for problem in row.judge(plan, facts)]
    refused = uring() if plan.hardware_figures.get("io_uring") else None
    return [*found, *([refused] if refused else ())]


class Check(NamedTuple):
    """One thing that is judged; the code is what linters and people call it."""

    code: str
    judge: Callable[[Plan, Facts], Iterator[Problem]]


def fact(facts: Facts, *path: str) -> Any:
    """The fact at a path, or None where nobody could tell."""
    found: Any = facts
    for key in path:
        found = found.get(key) if hasattr(found, "get") else None
    return found


def _page_size(plan: Plan, facts: Facts) -> Iterator[Problem]:
    needed, has = plan.hardware_figures.get("page_size"), fact(facts, "kernel", "page_size")
    if needed and has and needed != has:
        yield Problem(
            f"the kernel has pages of {has // 1024} KiB, and {plan.hardware} needs {needed // 1024} KiB",
            hint=f"boot your distribution's {needed // 1024} KiB kernel instead of its {has // 1024}k flavour; "
            f"getconf PAGESIZE must print {needed}",
            code="page-size",
        )


def _processor(plan: Plan, facts: Facts) -> Iterator[Problem]:
    image = plan.hardware_figures.get("image_arch")
    needed = plan.hardware_figures.get("cpu") or ARCHITECTURES.get(str(image))
    has = fact(facts, "cpu", "arch")
    if needed in ARCHITECTURES.values() and has and needed != has:
        yield Problem(
            f"the processor is {has}, and {plan.hardware} has {needed}",
            hint="--hardware auto",
            code="processor",
        )


def _architectures(plan: Plan, facts: Facts) -> Iterator[Problem]:
    gpus: Sequence[Mapping[str, Any]] = facts.get("gpus") or ()
    capabilities = dict.fromkeys(str(gpu["compute_capability"]) for gpu in gpus if gpu.get("compute_capability"))
    documented = (plan.hardware_figures.get("gpu") or {}).get("compute_capability")
    if not capabilities and documented:  # a host that cannot tell is what its machine document says
        capabilities = {str(documented): None}
    for name, spelling in _PER_VARIABLE.items():
        leaf = plan.environment.get(name)
        for capability in capabilities if leaf else ():
            if leaf and not _runs_on(str(leaf.written.value), capability):
                at = leaf.written.at or leaf.written.origin
                yield Problem(
                    f"{name} is {leaf.written.value}, and the GPU has compute capability {capability}",
                    at=at,
                    hint=f"--env {name}={spelling.format(*capability.split('.'))}, or name the right --hardware",
                    code="gpu-architecture",
                )


def _runs_on(targets: str, capability: str) -> bool:
    major, _, minor = capability.partition(".")
    if not (major.isdigit() and minor.isdigit()):
        return True
    found = [_TARGET.fullmatch(text) for text in re.split(r"[ ;,]+", targets.strip()) if text]
    known = [match for match in found if match]
    return not known or any(_fits(match, int(major), int(minor)) for match in known)


def _fits(target: re.Match[str], major: int, minor: int) -> bool:
    of = (int(target["major"]), int(target["minor"]))
    if target["kind"].lower() == "a":
        return of == (major, minor)
    return (of[0] == major and of[1] <= minor) or (bool(target["ptx"]) and of <= (major, minor))


def _shared_memory(plan: Plan, facts: Facts) -> Iterator[Problem]:
    needed = plan.cache_service.shm_bytes if plan.cache_service else None
    total = fact(facts, "shm", "total_bytes")
    if needed and total is not None and total < needed:
        size = f"{math.ceil(needed / GIB) + SPARE}g"
        has = f"{total / GIB:.1f} GiB" if total >= GIB / 10 else f"{total >> 20} MiB"
        yield Problem(
            f"/dev/shm has {has}, and the cache's shared memory takes {needed / GIB:.1f} GiB",  # noqa: S108 -- its name
            hint=f"docker run --shm-size={size}; in Compose shm_size: {size}; or pass a smaller --cache-l1-gib",
            code="shared-memory",
        )


def _memory(plan: Plan, facts: Facts) -> Iterator[Problem]:
    needed = (plan.cache_service.l1_bytes or 0) / GIB if plan.cache_service else 0
    available = fact(facts, "memory", "available_gib")
    if available is not None and needed > available:
        yield Problem(
            f"the cache's L1 takes {needed:.1f} GiB of memory, and {available:.1f} GiB are available",
            hint=f"--cache-l1-gib {max(1, math.floor(available * 0.9))}",
            code="memory",
        )


def _memlock(plan: Plan, facts: Facts) -> Iterator[Problem]:
    needed, has = plan.hardware_figures.get("memlock_bytes"), fact(facts, "limits", "memlock_bytes")
    if needed and has is not None and has < needed:
        yield Problem(
            f"this process may lock {has} bytes of memory, and {plan.hardware} needs {needed}",
            hint=f"docker run --ulimit memlock={needed}:{needed}; under systemd LimitMEMLOCK={needed}",
            code="memlock",
        )


CHECKS = (
    Check("page-size", _page_size),
    Check("processor", _processor),
    Check("gpu-architecture", _architectures),
    Check("shared-memory", _shared_memory),
    Check("memory", _memory),
    Check("memlock", _memlock),
)
