"""Every case of corrections.yaml, against the shipped documents."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from policy_plans import overlays, said, value, values, why

if TYPE_CHECKING:
    from conftest import Launcher

CASES = yaml.safe_load(Path(__file__).with_name("corrections.yaml").read_text(encoding="utf-8"))


def cases(section: str) -> Any:
    rows = CASES[section]
    assert rows
    return pytest.mark.parametrize("case", rows, ids=[f"{section}{index}" for index in range(len(rows))])


def test_no_section_of_the_file_is_left_untested() -> None:
    source = Path(__file__).read_text(encoding="utf-8")
    assert {section for section in CASES if f'@cases("{section}")' in source} == set(CASES)


def speculating(launch: Launcher, rows: int) -> str:
    """A profile whose seats verify so many rows, and its id."""
    launch.policy({
        "kind": "profile", "id": "sample", "engine": "lil", "options": {"model": "sample", "tensor-parallel-size": 1},
        "modes": {"off": {}, "mtp": {"draft-tokens": max(rows - 1, 1), "config": {"method": "mtp"}}},
    })  # fmt: skip
    return f"--mode {'off' if rows == 1 else 'mtp'}"


@cases("capture_ladder")
def test_sizes_are_rungs_of_the_seats_times_the_rows_of_a_seat(launch: Launcher, case: dict[str, Any]) -> None:
    if "profile" in case:
        plan = launch.plan(case["profile"], case["hardware"])
    else:
        mode = speculating(launch, case["rows_per_seat"])
        plan = launch.plan("sample", None, f"{mode} --max-num-seqs {case['seats']} --capture-ladder {case['ladder']}")
    assert plan.options["max-num-seqs"].value == case["seats"]
    assert values(plan, "--cudagraph-capture-sizes") == [str(size) for size in case["sizes"]]
    assert value(plan, "--max-cudagraph-capture-size") == str(case["seats"] * case["rows_per_seat"])
    assert "capture-ladder" in overlays(plan)


@cases("capture_warnings")
def test_a_cap_that_leaves_seats_without_a_graph_is_said_with_the_numbers(
    launch: Launcher, case: dict[str, Any]
) -> None:
    mode = speculating(launch, case["rows_per_seat"])
    cap = case["max_cudagraph_capture_size"]
    tokens = (
        f"{mode} --max-num-seqs {case['seats']} --capture-ladder {case['ladder']} --max-cudagraph-capture-size {cap}"
    )
    plan = launch.plan("sample", None, tokens)
    assert value(plan, "--max-cudagraph-capture-size") == str(cap)
    if "engine_truncates_to" in case:
        assert f"cuts it to {case['engine_truncates_to']}" in said(plan, "capture-cap-off-grid")
    if "covers_seats" in case:
        text = said(plan, "seats-without-graph")
        assert f"covers {case['covers_seats']} of {case['seats']} seats" in text
        assert f"derived value is {case['seats'] * case['rows_per_seat']}" in text


@cases("gpu_memory_utilization")
def test_utilization_is_raised_by_what_graphs_take(launch: Launcher, case: dict[str, Any]) -> None:
    profile, hardware = case.get("profile"), case.get("hardware")
    if profile is None:
        profile, hardware = "sample", "board"
        estimates = "1" if case["profiler_estimates_graphs"] else "0"
        launch.policy({
            "kind": "profile", "id": "sample", "engine": "lil",
            "options": {"model": "sample", "tensor-parallel-size": 1, "gpu-memory-utilization": case["base"]},
            "environment": {"VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS": estimates},
        })  # fmt: skip
        launch.policy({
            "kind": "hardware", "id": "board", "ceiling": {"gpu-memory-utilization": case["ceiling"]},
            "per-profile": {"sample": {"graph-fraction": case["graph_fraction"]}},
        })  # fmt: skip
    explicit = f"--gpu-memory-utilization {case['base']}" if case.get("explicit") else ""
    plan = launch.plan(profile, hardware, explicit)
    assert value(plan, "--gpu-memory-utilization") == repr(case["corrected"])
    assert ("graph-memory" in overlays(plan)) is case["profiler_estimates_graphs"]
    if case.get("notice"):
        assert "corrected it would be 0.977" in said(plan, "explicit-utilization-kept")
    elif case["corrected"] != case["base"]:
        assert f"{case['base']} + {case['graph_fraction']}" in why(plan, "gpu-memory-utilization")


@cases("kv_pool")
def test_the_plan_says_what_the_correction_gains(launch: Launcher, case: dict[str, Any]) -> None:
    launch.policy({
        "kind": "profile", "id": "sample", "engine": "lil",
        "options": {"model": "sample", "tensor-parallel-size": 1, "gpu-memory-utilization": 0.9},
    })  # fmt: skip
    launch.policy({
        "kind": "hardware", "id": "board", "gpu": {"memory-gib": case["device_gib"]},
        "per-profile": {"sample": {
            "graph-fraction": case["fraction"], "pool-gib": case["pool_gib"], "pool-tokens": case["pool_tokens"],
        }},
    })  # fmt: skip
    text = why(launch.plan("sample", "board"), "gpu-memory-utilization")
    found = re.search(r"gains ([\d.]+) GiB, which hold (\d+) tokens", text)
    assert found is not None, text
    assert float(found[1]) == pytest.approx(case["gained_gib"], rel=case["tolerance"])
    assert int(found[2]) == pytest.approx(case["gained_tokens"], rel=case["tolerance"])


@cases("wsl2")
def test_wsl2_pins_memory_where_its_kernel_can(launch: Launcher, case: dict[str, Any]) -> None:
    plan = launch.plan("qwen38-flash-next", "rtx-5090", facts={"kernel": {"release": case["kernel"]}})
    pinned = {name: text for name, text in plan.texts().items() if "WSL2" in name}
    assert pinned == case["environment"]
    if pinned:
        assert plan.environment["VLLM_WSL2_ENABLE_PIN_MEMORY"].written.origin == "overlay:wsl2-pinned-memory"
    if "warns" in case:
        assert case["warns"] in said(plan, "wsl2-old-kernel")
    else:
        assert "wsl2-old-kernel" not in overlays(plan)


@cases("architecture")
def test_the_architecture_list_is_the_machines_and_stands_in_its_class(launch: Launcher, case: dict[str, Any]) -> None:
    plan = launch.plan("qwen38-flash-next", case["hardware"])
    for name in ("TORCH_CUDA_ARCH_LIST", "CUTE_DSL_ARCH"):
        written = plan.environment[name].written
        assert (written.value, written.origin) == (case[name], f"hardware:{case['hardware']}")
        assert written.at is not None
        assert written.at.startswith("hardware/blackwell-sm")


@cases("mxfp8_head")
def test_the_mxfp8_head_is_for_heads_and_machines_that_can(launch: Launcher, case: dict[str, Any]) -> None:
    selection = (case["profile"], case["hardware"])
    if "refused" in case:
        assert case["refused"] in launch.refused(*selection, overlays=(case["overlay"],))
        launch.plan(*selection)  # it is the overlay that is refused
    else:
        plan = launch.plan(*selection, overlays=(case["overlay"],))
        assert case["environment"].items() <= plan.texts().items()
        assert "target head only" in said(plan, "target-head-only")


@cases("unified_memory")
def test_unified_memory_leaves_the_host_its_part(launch: Launcher, case: dict[str, Any]) -> None:
    if "refused" in case:
        said_of_it = launch.refused("qwen38-flash-next", case["hardware"], f"--cache-mode {case['cache_mode']}")
        assert case["refused"] in said_of_it
    else:
        plan = launch.plan("qwen38-flash-next", case["hardware"])
        assert plan.options["gpu-memory-utilization"].value == case["gpu_memory_utilization"]
        launch.plan("qwen38-flash-next", case["hardware"], f"--gpu-memory-utilization {case['ceiling']}")
        above = round(case["ceiling"] + 0.01, 2)
        assert f"can give {case['ceiling']}" in launch.refused(
            "qwen38-flash-next", case["hardware"], f"--gpu-memory-utilization {above}"
        )


@cases("ple_table")
def test_auto_alone_lets_the_hosts_memory_decide_where_the_table_lies(launch: Launcher, case: dict[str, Any]) -> None:
    facts = {"memory": {"total_gib": case["host_ram_gib"]}}
    selection = (case["profile"], case["hardware"])
    on_disk = '{"ple_table_memory":"disk"}'
    plan = launch.plan(*selection, "--table-placement auto", facts=facts)
    assert value(plan, "--additional-config") == (on_disk if case["placement"] == "disk" else None)
    default = launch.plan(*selection, facts=facts)
    assert value(default, "--additional-config") is None
    small = any(notice.code == "small-host" for notice in default.notices)
    assert small is (case["placement"] == "disk")
