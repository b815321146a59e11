"""The shipped machines and the lanes that run on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from policy_plans import codes, mapping, value, values

from lilserve.resolution.expressions import Unknown, compile_text
from lilserve.resolution.selection import listed

if TYPE_CHECKING:
    from conftest import Launcher


def detected(launch: Launcher, facts: dict[str, Any]) -> list[str]:
    """The machines whose `detect` rule holds for these facts."""
    rules = [(one.id, one.data["detect"]) for one in launch.library.all("hardware") if "detect" in one.data]
    assert len(rules) == 5
    found = [(name, compile_text(rule).outcome({"f": facts})) for name, rule in rules]
    assert all(outcome in (True, False) or isinstance(outcome, Unknown) for _, outcome in found)
    return [name for name, outcome in found if outcome is True]


@pytest.mark.parametrize(
    ("names", "machines"),
    [
        (["NVIDIA RTX PRO 6000 Blackwell Workstation Edition"] * 2, ["rtx-pro-6000-pcie"]),
        (["NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition"], ["rtx-pro-6000-pcie"]),
        (["NVIDIA GeForce RTX 5090"], ["rtx-5090"]),
        (["NVIDIA GeForce RTX 5090 Laptop GPU"], []),
        (["NVIDIA GeForce RTX 5090", "NVIDIA RTX PRO 6000 Blackwell Workstation Edition"], []),
        (["NVIDIA GB10"], ["dgx-spark"]),
        (["NVIDIA GB300"], ["dgx-station-gb300"]),
        (["NVIDIA H100 80GB HBM3"], []),
        ([], ["cpu"]),
    ],
)
def test_a_machine_is_told_by_the_names_of_its_gpus(launch: Launcher, names: list[str], machines: list[str]) -> None:
    assert detected(launch, {"gpus": [{"name": name} for name in names]}) == machines


def test_without_a_tool_that_tells_gpus_no_machine_is_told(launch: Launcher) -> None:
    assert detected(launch, {}) == []


def test_every_machine_with_a_gpu_says_what_it_has(launch: Launcher) -> None:
    for name in set(listed(launch.library, "hardware")) - {"native", "cpu"}:
        figures = launch.plan("qwen38-flash-next", name).hardware_figures
        assert figures["gpu"]["memory_gib"] > 0
        assert figures["gpu"]["compute_capability"]
        assert figures["gpu"]["unified"] in (True, False)


def test_the_spark_needs_small_pages_and_its_own_image(launch: Launcher) -> None:
    figures = launch.plan("glm53-flash", "dgx-spark").hardware_figures
    assert (figures["page_size"], figures["image_arch"], figures["cpu"]) == (4096, "linux/arm64", "aarch64")


def test_the_spark_runs_the_original_checkpoint_of_qwen(launch: Launcher) -> None:
    plan = launch.plan("qwen38-flash-next", "dgx-spark")
    assert (value(plan, "--quantization"), value(plan, "--load-format")) == ("modelopt_mixed", "instanttensor")
    assert plan.texts()["VLLM_PLE_CPU_OFFLOAD"] == "0"
    chosen = launch.plan("qwen38-flash-next", "dgx-spark", "--checkpoint csf")
    assert value(chosen, "--quantization") == "nvfp4_csf"


def test_the_lane_of_the_station(launch: Launcher) -> None:
    plan = launch.plan("ds41-flash", "dgx-station-gb300")
    expected = {
        "--tensor-parallel-size": "1", "--max-model-len": "1048576", "--max-num-seqs": "24",
        "--max-num-batched-tokens": "8192", "--long-prefill-token-threshold": "6144",
        "--gpu-memory-utilization": "0.977", "--max-cudagraph-capture-size": "144",
    }  # fmt: skip
    assert {flag: value(plan, flag) for flag in expected} == expected
    assert mapping(plan, "--speculative-config")["num_speculative_tokens"] == 5
    assert mapping(plan, "--speculative-config")["draft_tensor_parallel_size"] == 1


@pytest.mark.parametrize(
    ("hardware", "expected"),
    [
        ("rtx-5090", {"gpu-memory-utilization": 0.95, "max-num-seqs": 4}),
        ("rtx-pro-6000-pcie", {"max-num-seqs": 8}),
        ("dgx-spark", {"gpu-memory-utilization": 0.5, "max-num-seqs": 8, "async-scheduling": True}),
        ("dgx-station-gb300", {"gpu-memory-utilization": 0.92, "async-scheduling": True}),
    ],
)
def test_the_stock_model_on_each_machine(launch: Launcher, hardware: str, expected: dict[str, Any]) -> None:
    options = launch.plan("qwen36-35b-a3b", hardware).options
    assert {name: options[name].value for name in expected} == expected


def test_native_chooses_nothing(launch: Launcher) -> None:
    plan = launch.plan("glm53-flash", "native")
    written = [leaf.written.origin for leaf in plan.environment.values()]
    written += [leaf.written.origin for option in plan.options.values() for leaf in option.leaves.values()]
    assert not any(origin.startswith("hardware:") for origin in written)
    assert launch.plan("glm53-flash").digest == plan.digest


@pytest.mark.parametrize(
    ("seats", "pool"), [(4, 7650410496), (8, 7650410496), (9, 7650410496 - 67108864), (32, 7650410496 - 24 * 67108864)]
)
def test_each_seat_above_eight_takes_64_mib_of_the_pool(launch: Launcher, seats: int, pool: int) -> None:
    plan = launch.plan(None, None, f"--max-num-seqs {seats}", preset="glm53-flash-tp2")
    assert value(plan, "--kv-cache-memory-bytes") == str(pool)
    assert values(plan, "--cudagraph-capture-sizes") == [str(4 * seat) for seat in range(1, seats + 1)]


def test_so_many_seats_that_no_pool_is_left_are_refused(launch: Launcher) -> None:
    assert "leave no KV pool" in launch.refused(None, None, "--max-num-seqs 122", preset="glm53-flash-tp2")


@pytest.mark.parametrize(("dcp", "pool"), [(1, 19327352832), (2, 18253611008), (3, 18253611008), (6, 18253611008)])
def test_the_pool_of_six_gpus_depends_on_who_shares_a_context(launch: Launcher, dcp: int, pool: int) -> None:
    plan = launch.plan(None, None, f"-dcp {dcp}", preset="glm53-csf-tp6")
    assert value(plan, "--kv-cache-memory-bytes") == str(pool)
    own = launch.plan(None, None, f"-dcp {dcp} --kv-cache-memory-bytes 1000", preset="glm53-csf-tp6")
    assert value(own, "--kv-cache-memory-bytes") == "1000"


def test_three_gpus_run_without_a_cache_beside_them(launch: Launcher) -> None:
    assert "without lmcache" in launch.refused(None, None, "--cache-mode lmcache", preset="glm53-flash-tp3")
    plan = launch.plan(preset="glm53-flash-tp3")
    assert (value(plan, "--moe-backend"), "--enable-expert-parallel" in plan.argv) == ("flashinfer_cutlass", True)
    assert value(plan, "--quantization") == "modelopt_mixed"


@pytest.mark.parametrize("preset", ["glm53-flash-dgx-spark-x2", "qwen38-dgx-spark-x2"])
def test_two_boards_run_one_launch_and_only_the_first_answers(launch: Launcher, preset: str) -> None:
    first = launch.plan(None, None, "--node-rank 0 --master-addr 10.0.0.1", preset=preset)
    second = launch.plan(None, None, "--node-rank 1 --master-addr 10.0.0.1", preset=preset)
    own = {"--headless", "0", "1"}
    assert [token for token in first.argv if token not in own] == [token for token in second.argv if token not in own]
    assert ("--headless" in first.argv, "--headless" in second.argv) == (False, True)
    assert (value(first, "--nnodes"), value(first, "--tensor-parallel-size")) == ("2", "2")
    assert "several-machines" in codes(launch.plan(preset=preset))
    assert "several-machines" not in codes(first)
