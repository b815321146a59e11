"""What the shipped documents needed the language to say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from policy_plans import codes, value, why

from lilserve.resolution import functions
from lilserve.resolution.expressions import compile_text

if TYPE_CHECKING:
    from conftest import Launcher


def engine_list(cap: int) -> list[int]:
    """The default list of a stock engine, as its source builds it."""
    return [*[size for size in (1, 2, 4) if size <= cap], *range(8, min(cap + 1, 256), 8), *range(256, cap + 1, 16)]


def test_a_cap_on_the_grid_is_the_last_of_the_engines_own_list() -> None:
    caps = range(1, 1200)
    assert [functions.on_grid(cap) for cap in caps] == [engine_list(cap)[-1] for cap in caps]


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("on_grid(0)", 0),
        ("on_grid(-5)", 0),
        ("rows(null, 3)", 1),
        ('rows({"method": "mtp"}, 3)', 4),
        ('rows({"method": "mtp"}, null)', 1),
        ("smallest([0.5, 0.25])", 0.25),
        ("smallest([])", None),
        ('largest([1, "x", 7, 3])', 7),
        ("first([1, 2, 3], 2)", [1, 2]),
        ("first([1], -1)", []),
        ('get({"a": 1.5}, "a", 1.0)', 1.5),
        ('get({"a": 1.5}, "b", 1.0)', 1.0),
        ('slug("org/name v2")', "org--name--v2"),
        ('slug("..")', "--"),
        ('slug("../../etc")', "--..--etc"),
    ],
)
def test_functions_are_total(text: str, result: Any) -> None:
    assert compile_text(text).outcome({}) == result


def sample(launch: Launcher, **more: Any) -> None:
    launch.policy({"kind": "profile", "id": "sample", "engine": "lil", "options": {"model": "sample"}, **more})


def test_a_why_shows_figures_as_they_were_before(launch: Launcher) -> None:
    rule = {"set": "max-num-seqs", "to": 'o["max-num-seqs"] * 2', "why": 'twice ${o["max-num-seqs"]}'}
    sample(launch, options={"model": "sample", "max-num-seqs": 3}, derive=[rule])
    plan = launch.plan("sample")
    assert (value(plan, "--max-num-seqs"), why(plan, "max-num-seqs")) == ("6", "twice 3")


def test_a_machine_says_what_one_engine_alone_understands(launch: Launcher) -> None:
    launch.policy({
        "kind": "hardware", "id": "board", "environment": {"NCCL_PROTO": "LL"},
        "per-engine": {"lil": {"environment": {"NCCL_PROTO": "LL128"}}},
    })  # fmt: skip
    launch.policy({"kind": "engine", "id": "offspring", "extends": "lil"})
    sample(launch)
    for engine, protocol in (("lil", "LL128"), ("offspring", "LL128"), ("vllm", "LL")):
        written = launch.plan("sample", "board", engine=engine).environment["NCCL_PROTO"].written
        assert (written.value, written.origin) == (protocol, "hardware:board")


def test_an_overlay_asks_things_of_the_host(launch: Launcher) -> None:
    launch.policy({"kind": "overlay", "id": "asking", "host": {"memlock-bytes": 4096, "io-uring": True}})
    sample(launch)
    asking = launch.plan("sample", overlays=("asking",)).hardware_figures
    assert (asking["memlock_bytes"], asking["io_uring"]) == (4096, True)
    assert launch.plan("sample").hardware_figures["memlock_bytes"] is None


def test_what_a_fork_declares_is_added_to_what_was_observed(launch: Launcher) -> None:
    for backend in ("B12X", "FLASH_ATTN", "flash_attn"):
        assert value(launch.plan("qwen38-flash-next", None, f"--attention-backend {backend}"), "--attention-backend")
    assert "cannot be" in launch.refused("qwen38-flash-next", None, "--attention-backend B12Y")
    field = ["--speculative-config.attention_backend", "B12Y"]
    assert "cannot be" in launch.refused("qwen38-flash-next", None, field)


def test_a_list_by_hand_that_leaves_seats_out_is_said_under_any_ladder(launch: Launcher) -> None:
    tokens = "--capture-ladder dense --cudagraph-capture-sizes 4 8"
    assert "seats-without-graph" in codes(launch.plan("qwen38-flash-next", None, tokens))


def test_a_whole_number_is_a_share_too(launch: Launcher) -> None:
    sample(launch, options={"model": "sample", "gpu-memory-utilization": 1})
    assert value(launch.plan("sample"), "--gpu-memory-utilization") == "1.0"
    sample(launch, options={"model": "sample", "gpu-memory-utilization": 2})
    assert "at most 1" in launch.refused("sample")
