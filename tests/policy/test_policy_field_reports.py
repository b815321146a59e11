"""What people reported from these machines: each report cut down to the value that was wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from policy_plans import codes, mapping, overlays, said, value, values, why

from lilserve.documents.library import open_library
from lilserve.lint.launches import launches

if TYPE_CHECKING:
    from conftest import Launcher

QWEN = ("qwen38-flash-next", "rtx-pro-6000-pcie")


def test_f15_six_seats_and_six_drafts_get_a_list_up_to_exactly_42(launch: Launcher) -> None:
    seats = "--max-num-seqs 6 --draft-tokens 6 --max-cudagraph-capture-size 42"
    plan = launch.plan(*QWEN, f"{seats} --capture-ladder quarters")
    assert values(plan, "--cudagraph-capture-sizes") == ["7", "14", "21", "28", "35", "42"]
    assert value(plan, "--max-cudagraph-capture-size") == "42"
    bare = launch.plan(*QWEN, seats)
    assert values(bare, "--cudagraph-capture-sizes") == []
    assert "cuts it to 40" in said(bare, "capture-cap-off-grid")


def test_f16_a_cap_of_sequences_where_tokens_are_meant_is_said(launch: Launcher) -> None:
    plan = launch.plan(*QWEN, "--max-num-seqs 6 --draft-tokens 3 --max-cudagraph-capture-size 6")
    assert "covers 1 of 6 seats" in said(plan, "seats-without-graph")
    assert "derived value is 24" in said(plan, "seats-without-graph")


@pytest.mark.parametrize("cap", [8, 16, 32, 64])
def test_f16_a_cap_that_covers_every_seat_is_silent(launch: Launcher, cap: int) -> None:
    plan = launch.plan(*QWEN, f"--max-num-seqs {cap // 4} --max-cudagraph-capture-size {cap}")
    assert codes(plan).isdisjoint({"seats-without-graph", "capture-cap-off-grid", "dead-capture-sizes"})


def test_f17_no_shipped_launch_derives_a_value_that_nothing_uses() -> None:
    made = [launch for launch in launches(open_library(), {}) if launch.plan is not None]
    assert len(made) > 150
    unused = [
        (one.name, notice.text) for one in made for notice in one.plan.notices if notice.code == "unused-derivation"
    ]
    assert unused == []


def test_f17_a_value_that_nothing_uses_is_reported(launch: Launcher) -> None:
    launch.policy({
        "kind": "profile", "id": "sample", "engine": "lil", "options": {"model": "sample"},
        "derive": [{"set": "cache-disk-gib", "to": "64"}],
    })  # fmt: skip
    assert "cache-disk-gib" in said(launch.plan("sample"), "unused-derivation")


def test_f18_the_correction_its_arithmetic_and_its_source_are_in_the_plan(launch: Launcher) -> None:
    launch.policy({
        "kind": "profile", "id": "sample", "engine": "vllm",
        "options": {"model": "sample", "gpu-memory-utilization": 0.80},
    })  # fmt: skip
    launch.policy({
        "kind": "hardware", "id": "board", "per-profile": {"sample": {"graph-fraction": 0.042}},
    })  # fmt: skip
    plan = launch.plan("sample", "board")
    assert value(plan, "--gpu-memory-utilization") == "0.842"
    assert "0.8 + 0.042" in why(plan, "gpu-memory-utilization")
    written = plan.options["gpu-memory-utilization"].leaves[""].written
    assert (written.origin, written.inputs) == ("derived:graph-memory", {"gpu-memory-utilization": 0.8})
    because = next(overlay.because for overlay in plan.overlays if overlay.id == "graph-memory")
    assert "0.8 acts as 0.758" in because


def test_f18_a_value_above_the_ceiling_is_refused_and_not_lowered(launch: Launcher) -> None:
    launch.policy({
        "kind": "profile", "id": "sample", "engine": "vllm", "options": {"model": "sample"},
    })  # fmt: skip
    launch.policy({
        "kind": "hardware", "id": "board", "ceiling": {"gpu-memory-utilization": 0.85},
        "per-profile": {"sample": {"graph-fraction": 0.01, "options": {"gpu-memory-utilization": 0.9}}},
    })  # fmt: skip
    assert "can give 0.85" in launch.refused("sample", "board")


def spark(**gpu: float) -> dict[str, object]:
    return {"memory": {"total_gib": 121.69, "available_gib": 101.3}, "gpus": [{"name": "NVIDIA GB10", **gpu}]}


@pytest.mark.parametrize(
    "facts", [spark(free_gib=101.3, memory_gib=121.69), spark()], ids=["told by the driver", "told by the host"]
)
def test_f19_what_the_board_cannot_give_is_refused_with_the_largest_that_it_can(
    launch: Launcher, facts: dict[str, object]
) -> None:
    selection = ("qwen38-flash-next", "dgx-spark")
    refusal = launch.refused(*selection, "--gpu-memory-utilization 0.87", facts=facts)
    assert "101.3 of 121.69 GiB are free -> --gpu-memory-utilization 0.8324" in refusal
    launch.plan(*selection, "--gpu-memory-utilization 0.8324", facts=facts)
    assert "are free" in launch.refused(*selection, "--gpu-memory-utilization 0.8325", facts=facts)


def test_f19_only_the_gpus_that_the_engine_takes_count(launch: Launcher) -> None:
    card = {"name": "NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "memory_gib": 96.0}
    facts = {"gpus": [{**card, "free_gib": 95.0}, {**card, "free_gib": 40.0}]}
    launch.plan(*QWEN, facts=facts)
    assert "95 of 96, 40 of 96 GiB are free -> --gpu-memory-utilization 0.4166" in launch.refused(
        *QWEN, "-tp 2", facts=facts
    )
    launch.plan(*QWEN, "-tp 2", facts=facts, environ={"CUDA_VISIBLE_DEVICES": "2,3"})


def test_f19_without_facts_nothing_is_said_of_free_memory(launch: Launcher) -> None:
    assert not any("free" in notice.text for notice in launch.plan(*QWEN).notices)


def test_f22_pinned_memory_comes_with_the_measured_reason(launch: Launcher) -> None:
    plan = launch.plan(*QWEN, facts={"kernel": {"release": "6.6.87.2-microsoft-standard-WSL2"}})
    leaf = plan.environment["VLLM_WSL2_ENABLE_PIN_MEMORY"]
    assert leaf.written.value == "1"
    assert leaf.written.why == "measured +14 % at one stream and +18 % at four"


def test_f22_an_explicit_value_stays(launch: Launcher) -> None:
    facts = {"kernel": {"release": "6.6.87.2-microsoft-standard-WSL2"}}
    plan = launch.plan(*QWEN, facts=facts, assigned=(("VLLM_WSL2_ENABLE_PIN_MEMORY", "0"),))
    assert plan.texts()["VLLM_WSL2_ENABLE_PIN_MEMORY"] == "0"
    assert overlays(plan) == ["wsl2-pinned-memory"]


def test_f22_an_old_kernel_is_named_as_the_cause(launch: Launcher) -> None:
    plan = launch.plan(*QWEN, facts={"kernel": {"release": "4.19.104-microsoft-standard"}})
    assert "VLLM_WSL2_ENABLE_PIN_MEMORY" not in plan.texts()
    assert "4.19.104-microsoft-standard" in said(plan, "wsl2-old-kernel")


def test_f22_an_unknown_kernel_is_said_and_changes_nothing(launch: Launcher) -> None:
    plan = launch.plan(*QWEN)
    assert "unknown-fact" in codes(plan)
    assert overlays(plan) == []


def test_f28_a_disk_tier_has_its_eviction_block_and_a_place_of_its_own(launch: Launcher) -> None:
    tier = "--cache-mode lmcache --cache-disk-path /var/cache/kv --cache-disk-gib 200"
    service = launch.plan(*QWEN, tier).cache_service
    assert service is not None
    assert service.argv[-2] == "--l2-adapter"
    adapter = json.loads(service.argv[-1])
    place = adapter.pop("base_path")
    assert adapter == {
        "type": "fs_native", "num_workers": 4, "use_odirect": False, "max_capacity_gb": 200,
        "eviction": {"eviction_policy": "LRU", "trigger_watermark": 0.8, "eviction_ratio": 0.2},
    }  # fmt: skip
    assert place.startswith("/var/cache/kv/local-inference-lab--Qwen3.8-Flash-Next")
    for other in ("-tp 2", "--block-size 128", "--kv-cache-dtype fp8_e4m3", "--checkpoint original"):
        elsewhere = launch.plan(*QWEN, f"{tier} {other}").cache_service
        assert elsewhere is not None
        assert json.loads(elsewhere.argv[-1])["base_path"] != place


@pytest.mark.parametrize("half", ["--cache-disk-path /var/cache/kv", "--cache-disk-gib 200"])
def test_f28_half_a_disk_tier_is_refused(launch: Launcher, half: str) -> None:
    assert "needs both" in launch.refused(*QWEN, f"--cache-mode lmcache {half}")


def test_f28_a_disk_tier_written_by_hand_is_refused(launch: Launcher) -> None:
    launch.policy({
        "kind": "profile", "id": "sample", "extends": "qwen38-flash-next",
        "cache": {"lmcache": {"arguments": [
            {"flag": "--l2-adapter", "value": '{"type":"fs_native","max_capacity_gb":200}'},
        ]}},
    })  # fmt: skip
    assert "--l2-adapter belongs to the cache mode" in launch.refused("sample", None, "--cache-mode lmcache")


def test_f34_one_number_sets_the_drain_inside_it(launch: Launcher) -> None:
    assert value(launch.plan(*QWEN), "--shutdown-timeout") is None
    plan = launch.plan(*QWEN, "--stop-grace 60")
    assert (plan.stop_grace, value(plan, "--shutdown-timeout")) == (60, "40")
    own = launch.plan(*QWEN, "--stop-grace 60 --shutdown-timeout 5")
    assert value(own, "--shutdown-timeout") == "5"


@pytest.mark.parametrize("profile", ["qwen38-flash-next", "glm53-flash", "ds4-flash", "ds41-flash"])
@pytest.mark.parametrize("cache", ["vram", "lmcache"])
def test_f36_a_context_of_auto_is_handled_by_type(launch: Launcher, profile: str, cache: str) -> None:
    plan = launch.plan(profile, "rtx-pro-6000-pcie", f"--max-model-len auto --cache-mode {cache}")
    assert value(plan, "--max-model-len") == "auto"
    assert "text_config" not in mapping(plan, "--hf-overrides")
