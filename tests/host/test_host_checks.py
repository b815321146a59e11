"""Facts of a host judged against a plan: what refuses, with its cure, and what an unknown fact does."""

from __future__ import annotations

import ctypes
import errno
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from lilserve.cache.model import Service
from lilserve.errors import Problem
from lilserve.host.checks import CHECKS, problems_of
from lilserve.host.uring import try_uring, uring_problem
from lilserve.origin import Written
from lilserve.plan.model import Leaf

GIB = 1 << 30


@dataclass
class Asked:
    """The part of a plan that checks read."""

    hardware: str = "board"
    hardware_figures: dict = field(default_factory=dict)
    environment: dict = field(default_factory=dict)
    cache_service: Service | None = None


def asked(*, environment=(), gib=None, **figures):
    size = None if gib is None else int(gib * GIB)
    service = None if gib is None else Service(("s",), {}, "http://h:1/x", "arena", size, l1_bytes=size)
    leaves = {name: Leaf((Written(value, "hardware:board", "hardware/board.yaml:9:3"),)) for name, value in environment}
    return Asked(hardware_figures=figures, environment=leaves, cache_service=service)


def gpu(capability):
    return {"gpus": [{"name": "GPU", "compute_capability": capability}]}


def codes(plan, facts):
    return [problem.code for problem in problems_of(plan, facts, uring=lambda: None)]


def test_an_unknown_fact_refuses_nothing():
    plan = asked(
        page_size=4096, cpu="aarch64", memlock_bytes=1 << 40, gib=64, environment=[("TORCH_CUDA_ARCH_LIST", "12.0a")]
    )
    assert codes(plan, {}) == []
    assert codes(plan, {"kernel": {}, "cpu": {}, "memory": {}, "shm": {}, "limits": {}, "gpus": [{"name": "x"}]}) == []


def test_the_codes_of_the_rows_are_unique():
    assert len({row.code for row in CHECKS}) == len(CHECKS)


def test_large_pages_are_refused_with_the_cure():
    [problem] = problems_of(asked(page_size=4096), {"kernel": {"page_size": 65536}})
    assert problem.what == "the kernel has pages of 64 KiB, and board needs 4 KiB"
    assert "4 KiB kernel instead of its 64k flavour" in problem.hint
    assert codes(asked(page_size=4096), {"kernel": {"page_size": 4096}}) == []


@pytest.mark.parametrize(
    ("targets", "capability", "fits"),
    [
        ("12.0a", "12.0", True),
        ("12.0a", "12.1", False),
        ("12.1a", "12.0", False),
        ("12.0", "12.1", True),
        ("12.1", "12.0", False),
        ("12.0f", "12.1", True),
        ("9.0;12.0a 12.1a", "12.1", True),
        ("9.0a,10.0a", "12.0", False),
        ("9.0+PTX", "12.1", True),
        ("Blackwell", "12.1", True),
        ("", "12.1", True),
    ],
)
def test_the_targets_of_an_image_must_run_on_the_gpu(targets, capability, fits):
    found = codes(asked(environment=[("TORCH_CUDA_ARCH_LIST", targets)]), gpu(capability))
    assert found == ([] if fits else ["gpu-architecture"])


def test_a_wrong_target_is_refused_where_it_was_written_with_the_right_one():
    plan = asked(environment=[("TORCH_CUDA_ARCH_LIST", "12.0a"), ("CUTE_DSL_ARCH", "sm_120a")])
    torch, cute = problems_of(plan, gpu("12.1"))
    assert torch.what == "TORCH_CUDA_ARCH_LIST is 12.0a, and the GPU has compute capability 12.1"
    assert torch.at == "hardware/board.yaml:9:3"
    assert torch.hint.startswith("--env TORCH_CUDA_ARCH_LIST=12.1a")
    assert cute.hint.startswith("--env CUTE_DSL_ARCH=sm_121a")


@pytest.mark.parametrize(
    ("figures", "arch", "found"),
    [
        ({"cpu": "aarch64"}, "x86_64", ["processor"]),
        ({"cpu": "aarch64"}, "aarch64", []),
        ({"image_arch": "linux/arm64"}, "x86_64", ["processor"]),
        ({"cpu": "AMD EPYC"}, "x86_64", []),
        ({}, "x86_64", []),
    ],
)
def test_the_processor_must_be_the_machines(figures, arch, found):
    assert codes(asked(**figures), {"cpu": {"arch": arch}}) == found


def test_a_containers_64_megabytes_are_refused_with_the_exact_options():
    [problem] = problems_of(asked(gib=24), {"shm": {"total_bytes": 64 << 20}})
    assert problem.what == "/dev/shm has 64 MiB, and the cache's shared memory takes 24.0 GiB"  # noqa: S108 -- its name
    assert "docker run --shm-size=25g; in Compose shm_size: 25g" in problem.hint
    assert codes(asked(gib=24), {"shm": {"total_bytes": 24 * GIB}}) == []


def test_memory_and_locked_memory_must_suffice():
    assert codes(asked(gib=24), {"memory": {"available_gib": 20.0}}) == ["memory"]
    [problem] = problems_of(asked(memlock_bytes=8 << 20), {"limits": {"memlock_bytes": 65536}})
    assert "docker run --ulimit memlock=8388608:8388608" in problem.hint


def test_io_uring_is_tried_only_for_a_machine_that_needs_it():
    refused = Problem("no", code="io-uring")
    assert problems_of(asked(), {}, uring=lambda: refused) == []
    assert problems_of(asked(io_uring=True), {}, uring=lambda: refused) == [refused]


def test_a_seccomp_profile_and_a_memory_limit_are_told_apart():
    assert "seccomp" in uring_problem(errno.EPERM).hint
    assert "--ulimit memlock=8388608" in uring_problem(errno.ENOMEM).hint
    assert "ENOSYS" in uring_problem(errno.ENOSYS).what
    assert "EINVAL" in uring_problem(errno.EINVAL).what


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOMEM])
def test_what_the_kernel_answers_is_what_is_told(monkeypatch, number):
    def syscall(*_):
        ctypes.set_errno(number)
        return -1

    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: SimpleNamespace(syscall=syscall))
    assert errno.errorcode[number] in try_uring().what


def test_trying_it_for_real_leaves_nothing_open():
    found = try_uring()
    assert found is None or found.code == "io-uring"
