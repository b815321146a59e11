"""The rules of the shipped models, each by the value it gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from policy_plans import codes, mapping, said, value, values

if TYPE_CHECKING:
    from conftest import Launcher

PCIE = "rtx-pro-6000-pcie"
LAB = "local-inference-lab/"


# Checkpoints and speculation


@pytest.mark.parametrize(
    ("profile", "checkpoint", "model", "quantization", "load_format"),
    [
        ("qwen38-flash-next", "csf", LAB + "Qwen3.8-Flash-Next-NVFP4-MXFP8-CSF-QAD", "nvfp4_csf", "nvfp4_csf"),
        ("qwen38-flash-next", "original", LAB + "Qwen3.8-Flash-Next-NVFP4", "modelopt_mixed", "instanttensor"),
        ("glm53", "original", LAB + "GLM-5.3-NVFP4", "modelopt_fp4", "instanttensor"),
        ("ds4-flash", "original", "deepseek-ai/DeepSeek-V4-Flash-0731", None, "instanttensor"),
        ("ds4-flash", "csf", LAB + "DeepSeek-V4-Flash-0731-lossless-CSF", "mxfp4_csf", "mxfp4_csf"),
    ],
)  # fmt: skip
def test_a_checkpoint_chooses_model_quantization_and_loader_together(
    launch: Launcher, profile: str, checkpoint: str, model: str, quantization: str | None, load_format: str
) -> None:
    plan = launch.plan(profile, PCIE, f"--checkpoint {checkpoint}")
    assert model in plan.argv
    assert (value(plan, "--quantization"), value(plan, "--load-format")) == (quantization, load_format)


def test_another_model_keeps_the_rest_and_drops_the_pinned_revision(launch: Launcher) -> None:
    plan = launch.plan("qwen38-flash-next", PCIE, "--model me/mine")
    assert "me/mine" in plan.argv
    assert value(plan, "--revision") is None
    assert "revision" not in mapping(plan, "--speculative-config")
    assert (value(plan, "--quantization"), value(plan, "--load-format")) == ("nvfp4_csf", "nvfp4_csf")
    pinned = launch.plan("qwen38-flash-next", PCIE, "--model me/mine --revision abc")
    assert mapping(pinned, "--speculative-config")["revision"] == "abc"


def test_a_draft_model_of_its_own_does_not_follow_the_targets_revision(launch: Launcher) -> None:
    config = mapping(launch.plan("glm53", PCIE, "--draft-model me/draft"), "--speculative-config")
    assert config["model"] == "me/draft"
    assert "revision" not in config


def test_vision_has_one_checkpoint_and_the_rest_of_its_parent(launch: Launcher) -> None:
    plan = launch.plan("ds4-vision", PCIE)
    assert "deepseek-ai/DeepSeek-V4-Flash-Vision-Exp" in plan.argv
    assert (value(plan, "--max-num-seqs"), value(plan, "--block-size")) == ("4", "256")
    assert mapping(plan, "--speculative-config")["num_speculative_tokens"] == 3
    assert plan.texts()["VLLM_PCIE_ONESHOT_ALLREDUCE_MAX_SIZE"] == "64KB"
    assert "csf" in launch.refused("ds4-vision", PCIE, "--checkpoint csf")


@pytest.mark.parametrize(
    ("config", "mode", "drafts"),
    [
        ('{"method":"ngram","num_speculative_tokens":4}', "ngram", 4),
        ('{"method":"dflash","model":"x","num_speculative_tokens":2}', "dflash2", 2),
        ('{"model":"x"}', "custom", None),
    ],
)
def test_a_speculative_config_written_by_hand_owns_the_mode(
    launch: Launcher, config: str, mode: str, drafts: int | None
) -> None:
    plan = launch.plan("qwen38-flash-next", PCIE, ["--speculative-config", config])
    assert value(plan, "--speculative-config") == config
    assert plan.options["mode"].value == mode
    assert plan.options["draft-tokens"].value == drafts


def test_draft_tokens_beside_a_config_that_says_otherwise_are_refused(launch: Launcher) -> None:
    config = ["--speculative-config", '{"method":"mtp","num_speculative_tokens":4}', "--draft-tokens", "2"]
    assert "draft-tokens is 2" in launch.refused("qwen38-flash-next", PCIE, config)


def test_dspark_drafts_with_the_target_whichever_it_is(launch: Launcher) -> None:
    config = mapping(launch.plan("ds4-flash", PCIE, "--model /weights"), "--speculative-config")
    assert config["model"] == "/weights"


@pytest.mark.parametrize(
    ("profile", "dtype", "fits"),
    [
        ("qwen38-flash-next", "fp8_e4m3", True),
        ("qwen38-flash-next", "bfloat16", False),
        ("qwen38-flash-next", "nvfp4_ds_mla", False),
        ("glm53-flash", "nvfp4_ds_mla", True),
        ("mimo26-flash", "bfloat16", True),
        ("glm53", "nvfp4_ds_mla", False),
    ],
)
def test_a_model_takes_the_kv_dtypes_that_it_was_shown_with(
    launch: Launcher, profile: str, dtype: str, fits: bool
) -> None:
    tokens = f"--kv-cache-dtype {dtype}"
    if fits:
        assert value(launch.plan(profile, PCIE, tokens), "--kv-cache-dtype") == dtype
    else:
        assert f"does not take kv-cache-dtype {dtype}" in launch.refused(profile, PCIE, tokens)


# Context and parallelism


@pytest.mark.parametrize(
    ("length", "factor"), [(262144, None), (262145, 2.0), (524288, 2.0), (524289, 4.0), (1048576, 4.0)]
)
def test_longer_contexts_of_qwen_are_stretched_by_yarn(launch: Launcher, length: int, factor: float | None) -> None:
    overrides = mapping(launch.plan("qwen38-flash-next", PCIE, f"--max-model-len {length}"), "--hf-overrides")
    if factor is None:
        assert overrides == {}
        return
    assert overrides["text_config"]["rope_parameters"] == {
        "rope_type": "yarn", "factor": factor, "original_max_position_embeddings": 262144, "rope_theta": 10000000,
        "partial_rotary_factor": 0.25, "mrope_section": [11, 11, 10], "mrope_interleaved": True,
    }  # fmt: skip


def test_contexts_past_yarn_are_refused_unless_somebody_says_how(launch: Launcher) -> None:
    assert "1048576" in launch.refused("qwen38-flash-next", PCIE, "--max-model-len 2000000")
    own = ["--max-model-len", "2000000", "--hf-overrides", '{"a":1}']
    assert mapping(launch.plan("qwen38-flash-next", PCIE, own), "--hf-overrides") == {"a": 1}


def test_ranks_of_qwen_that_share_a_context_interleave_by_four(launch: Launcher) -> None:
    flags = ("--cp-kv-cache-interleave-size", "--dcp-kv-cache-interleave-size")
    shared = launch.plan("qwen38-flash-next", PCIE, "-tp 2 -dcp 2")
    assert [value(shared, flag) for flag in flags] == ["4", "4"]
    alone = launch.plan("qwen38-flash-next", PCIE, "-tp 2")
    assert [value(alone, flag) for flag in flags] == [None, None]


def test_a_context_is_shared_by_a_divisor_of_the_ranks(launch: Launcher) -> None:
    assert "does not divide" in launch.refused("glm53-flash", PCIE, "-tp 4 -dcp 3")


@pytest.mark.parametrize(
    ("tokens", "gather", "dma"),
    [
        ("", "0", "6MB"), ("-dcp 2", "1", "off"),
        ("--dcp-ckv-gather on", "1", "6MB"), ("-dcp 2 --dcp-ckv-gather off", "0", "off"),
    ],
)  # fmt: skip
def test_ranks_of_glm_that_share_a_context_gather(launch: Launcher, tokens: str, gather: str, dma: str) -> None:
    texts = launch.plan("glm53-flash", PCIE, tokens).texts()
    assert (texts["VLLM_B12X_MLA_CKV_GATHER"], texts["VLLM_PCIE_DMA_MIN_BYTES"]) == (gather, dma)
    assert "VLLM_PCIE_DMA_MIN_BYTES" not in launch.plan("glm53-flash", "native", tokens).texts()


@pytest.mark.parametrize(
    ("target", "recurrent", "fits"),
    [
        ("auto", "auto", True), ("2048", "512", True), ("512", "2048", True), ("2048", "auto", True),
        ("2048", "1536", False), ("100", "auto", False), ("auto", "32", False), ("0", "64", False),
    ],
)  # fmt: skip
def test_pages_of_glm_are_multiples_that_fit_each_other(
    launch: Launcher, target: str, recurrent: str, fits: bool
) -> None:
    tokens = f"--target-page-size {target} --recurrent-page-size {recurrent}"
    if not fits:
        assert "page" in launch.refused("glm53-flash", PCIE, tokens)
        return
    texts = launch.plan("glm53-flash", PCIE, tokens).texts()
    assert texts["VLLM_GLM53_SPLIT_TARGET_BLOCK_SIZE"] == target
    assert texts["VLLM_GLM53_SPLIT_MAMBA_BLOCK_SIZE"] == recurrent


def test_ranks_of_the_large_glm_gather_too(launch: Launcher) -> None:
    gathers = [launch.plan("glm53", PCIE, f"-dcp {dcp}").texts()["VLLM_B12X_MLA_CKV_GATHER"] for dcp in (1, 2, 8)]
    assert gathers == ["0", "1", "1"]


@pytest.mark.parametrize("profile", ["mimo26-flash", "ds41-flash"])
def test_a_draft_head_is_split_as_its_target_is(launch: Launcher, profile: str) -> None:
    config = mapping(launch.plan(profile, PCIE, "-tp 8"), "--speculative-config")
    assert config["draft_tensor_parallel_size"] == 8


def test_glm_without_speculation_runs_on_quantized_activations(launch: Launcher) -> None:
    name = "VLLM_B12X_NVFP4_ACTIVATION_MODE"
    assert launch.plan("glm53-flash", PCIE, "--mode off").texts()[name] == "quantized"
    assert name not in launch.plan("glm53-flash", PCIE).texts()


def test_aligned_checkpoints_in_gpu_memory_keep_no_interval(launch: Launcher) -> None:
    flag = "--prefix-cache-retention-interval"
    assert value(launch.plan("glm53-flash", PCIE), flag) is None
    assert value(launch.plan("glm53-flash", PCIE, "--recurrent-checkpoint-policy aligned"), flag) == "None"


def test_mimo_schedules_half_of_its_budget_and_drafts_from_its_own_folder(launch: Launcher) -> None:
    plan = launch.plan("mimo26-flash", PCIE, "--max-num-batched-tokens 6000")
    assert value(plan, "--max-num-scheduled-tokens") == "3000"
    assert mapping(plan, "--speculative-config")["model"] == "XiaomiMiMo/MiMo-V2.6-Flash-RL/dflash"
    assert "local copy" in said(plan, "draft-in-folder")
    local = launch.plan("mimo26-flash", PCIE, "--model /weights/mimo")
    assert mapping(local, "--speculative-config")["model"] == "/weights/mimo/dflash"
    assert "draft-in-folder" not in codes(local)


# Capture sizes


@pytest.mark.parametrize(
    ("tokens", "cap"),
    [
        ("", "48"), ("--max-num-seqs 1", "6"), ("--draft-tokens 1 --max-num-seqs 2", "6"),
        ("--mode off", "32"), ("--mode mtp", "64"), ("--max-cudagraph-capture-size 96", "96"),
    ],
)  # fmt: skip
def test_the_cap_of_ds4_follows_seats_and_mode(launch: Launcher, tokens: str, cap: str) -> None:
    plan = launch.plan("ds4-flash", PCIE, tokens)
    assert value(plan, "--max-cudagraph-capture-size") == cap
    assert value(plan, "--linear-backend") is None


def test_a_cap_by_hand_cuts_the_list_of_the_profile(launch: Launcher) -> None:
    plan = launch.plan("glm53-flash", PCIE, "--max-cudagraph-capture-size 50")
    assert values(plan, "--cudagraph-capture-sizes") == ["1", "2", "4", "8", "16", "32", "40", "48", "50"]


def test_a_list_by_hand_sets_the_cap(launch: Launcher) -> None:
    for profile in ("glm53-flash", "ds4-flash", "qwen38-flash-next"):
        plan = launch.plan(profile, PCIE, "--cudagraph-capture-sizes 4 16")
        assert value(plan, "--max-cudagraph-capture-size") == "16"


def test_a_cap_that_is_not_the_largest_of_a_ladder_is_refused(launch: Launcher) -> None:
    tokens = "--capture-ladder quarters --max-cudagraph-capture-size 100"
    assert "must be equal" in launch.refused("qwen38-flash-next", PCIE, tokens)


def test_sizes_that_decode_cannot_reach_are_information(launch: Launcher) -> None:
    plan = launch.plan("glm53-flash", PCIE)
    levels = {notice.level for notice in plan.notices if notice.code == "dead-capture-sizes"}
    assert levels == {"information"}
    assert "192, 256" in said(plan, "dead-capture-sizes")


# Tables


ENGRAM = {"cpu_offload": False, "table_memory": "disk", "disk_resident_scales": False, "projection_tp": False}


@pytest.mark.parametrize(
    ("tokens", "ram", "changed"),
    [
        ("", 2000.0, {}),
        ("--table-placement ram", 8.0, {"table_memory": "ram"}),
        ("--engram-table-memory ram", 8.0, {"table_memory": "ram"}),
        ("--table-placement auto", 206.0, {"table_memory": "ram"}),
        ("--table-placement auto", 205.9, {}),
        ("--table-placement auto --cache-mode lmcache", 206.0, {}),
        (
            "--engram-disk-resident-scales --engram-projection-tp",
            8.0,
            {"disk_resident_scales": True, "projection_tp": True},
        ),
    ],
)
def test_engram_tables_lie_where_they_are_told_to(
    launch: Launcher, tokens: str, ram: float, changed: dict[str, Any]
) -> None:
    plan = launch.plan("ds41-flash", PCIE, tokens, facts={"memory": {"total_gib": ram}})
    expected = {**ENGRAM, **changed}
    assert mapping(plan, "--engram-config") == expected
    applies = any(overlay.id == "engram-table-disk" for overlay in plan.overlays)
    assert applies is (expected["table_memory"] == "disk")
    assert plan.hardware_figures["io_uring"] is (True if applies else None)
    assert ("small-host" in codes(plan)) is (expected["table_memory"] == "ram" and ram < 206.0)


def test_where_the_memory_is_not_known_auto_leaves_engram_on_disk(launch: Launcher) -> None:
    plan = launch.plan("ds41-flash", PCIE, "--table-placement auto")
    assert mapping(plan, "--engram-config") == ENGRAM
    assert plan.hardware_figures["io_uring"] is True


def test_contradicting_places_of_a_table_are_refused(launch: Launcher) -> None:
    assert "contradict" in launch.refused("ds41-flash", PCIE, "--table-placement ram --engram-table-memory disk")


@pytest.mark.parametrize(("memlock", "warned"), [(65536, True), (8388608, False)])
def test_a_table_on_disk_asks_for_io_uring_and_locked_memory(launch: Launcher, memlock: int, warned: bool) -> None:
    facts = {"limits": {"memlock_bytes": memlock}}
    plan = launch.plan("qwen38-flash-next", PCIE, "--table-placement disk", facts=facts)
    assert mapping(plan, "--additional-config") == {"ple_table_memory": "disk"}
    assert (plan.hardware_figures["io_uring"], plan.hardware_figures["memlock_bytes"]) == (True, 8388608)
    assert ("memlock" in codes(plan)) is warned


# Cache modes


def test_drafts_of_glm_take_nothing_from_the_budget_of_a_cache(launch: Launcher) -> None:
    plan = launch.plan("glm53-flash", PCIE, "--cache-mode lmcache --mode dflash2")
    assert value(plan, "--max-num-scheduled-tokens") == "4096"
    assert value(plan, "--max-num-batched-tokens") == str(4096 + 7 * 32)
    assert plan.cache_service is not None
    argv = plan.cache_service.argv
    assert argv[argv.index("--chunk-size") + 1] == "4096"
    assert argv[-4:] == ("--hash-algorithm", "blake3", "--max-workers", "8")


def test_a_budget_by_hand_holds_the_drafts(launch: Launcher) -> None:
    tokens = "--cache-mode lmcache --mode dflash2 --max-num-batched-tokens 4320"
    plan = launch.plan("glm53-flash", PCIE, tokens)
    assert (value(plan, "--max-num-batched-tokens"), value(plan, "--max-num-scheduled-tokens")) == ("4320", "4096")


def test_cache_objects_of_glm_are_one_budget(launch: Launcher) -> None:
    plan = launch.plan("glm53-flash", PCIE, "--cache-mode lmcache --max-num-batched-tokens 8192")
    assert (plan.options["cache-object-tokens"].value, value(plan, "--max-num-scheduled-tokens")) == (8192, "8192")
    assert "must be equal" in launch.refused("glm53-flash", PCIE, "--cache-mode lmcache --cache-object-tokens 2048")


@pytest.mark.parametrize(
    ("transfer", "connector", "policy", "interval"),
    [
        ("engine_driven", "LMCacheRecurrentCheckpointConnector", "request_boundaries", "0"),
        ("lmcache_driven", "LMCacheMPConnector", "aligned", "4096"),
    ],
)
def test_who_drives_the_transfer_decides_what_glm_keeps(
    launch: Launcher, transfer: str, connector: str, policy: str, interval: str
) -> None:
    plan = launch.plan("glm53-flash", PCIE, f"--cache-mode lmcache --cache-transfer-mode {transfer}")
    assert mapping(plan, "--kv-transfer-config")["kv_connector"] == connector
    assert value(plan, "--recurrent-checkpoint-policy") == policy
    assert value(plan, "--prefix-cache-retention-interval") == interval
    assert (value(plan, "--gpu-memory-utilization"), plan.options["target-page-size"].value) == ("0.95", "auto")
    assert plan.cache_service is not None
    assert ("--shm-name" in plan.cache_service.argv) is (transfer == "engine_driven")
    assert ("--l1-use-lazy" in plan.cache_service.argv) is (transfer == "lmcache_driven")


@pytest.mark.parametrize(("size", "fits"), [(1, False), (2, True), (4, True), (6, False), (8, True)])
def test_a_cache_beside_glm_needs_two_four_or_eight_ranks(launch: Launcher, size: int, fits: bool) -> None:
    tokens = f"--cache-mode lmcache -tp {size}"
    if fits:
        launch.plan("glm53-flash", PCIE, tokens)
    else:
        assert "tensor-parallel-size 2, 4, 8" in launch.refused("glm53-flash", PCIE, tokens)


@pytest.mark.parametrize(
    ("tokens", "share"),
    [("", "0.97"), ("--max-model-len 1048576", "0.97"), ("--max-model-len 131072", "0.975"), ("-tp 4", "0.975"),
     ("--max-model-len auto", "0.97"), ("--gpu-memory-utilization 0.98", "0.98")],
)  # fmt: skip
def test_two_ranks_of_ds4_with_a_long_context_leave_room_for_the_transfer(
    launch: Launcher, tokens: str, share: str
) -> None:
    plan = launch.plan("ds4-flash", PCIE, f"--cache-mode lmcache {tokens}")
    assert value(plan, "--gpu-memory-utilization") == share
    assert value(launch.plan("ds4-flash", PCIE, "--max-model-len 1048576"), "--gpu-memory-utilization") == "0.975"


@pytest.mark.parametrize("profile", ["glm53", "mimo26-flash", "qwen36-35b-a3b"])
@pytest.mark.parametrize("cache", ["lmcache", "native"])
def test_a_cache_mode_without_a_contract_is_refused(launch: Launcher, profile: str, cache: str) -> None:
    tokens = f"--cache-mode {cache} --cache-native-gib 32"
    assert "nobody has shown that it works" in launch.refused(profile, PCIE, tokens)


def test_native_offload_of_qwen(launch: Launcher) -> None:
    plan = launch.plan("qwen38-flash-next", PCIE, "--cache-mode native --cache-native-gib 32")
    assert (value(plan, "--kv-offloading-backend"), value(plan, "--kv-offloading-size")) == ("native", "32.0")
    assert "--enable-cumem-allocator" in plan.argv
    assert value(plan, "--recurrent-checkpoint-policy") == "aligned"
    assert plan.texts()["VLLM_USE_SIMPLE_KV_OFFLOAD"] == "1"
    assert plan.cache_service is None


@pytest.mark.parametrize(
    ("tokens", "assigned", "reason"),
    [
        ("", (), "needs a size"),
        ("--cache-native-gib 32 -tp 2 -dcp 2", (), "decode-context-parallel-size 1"),
        ("--cache-native-gib 32", (("VLLM_USE_SIMPLE_KV_OFFLOAD", "0"),), "VLLM_USE_SIMPLE_KV_OFFLOAD"),
        ("--cache-native-gib 32 --recurrent-checkpoint-policy request_boundaries", (), "aligned"),
    ],
)
def test_native_offload_of_qwen_refuses_what_it_cannot_do(
    launch: Launcher, tokens: str, assigned: tuple[tuple[str, str], ...], reason: str
) -> None:
    assert reason in launch.refused("qwen38-flash-next", PCIE, f"--cache-mode native {tokens}", assigned=assigned)


# The models that need no fork


def test_tiny_cpu_is_given_its_model_and_drops_what_the_cpu_build_does_not_read(launch: Launcher) -> None:
    assert "--model" in launch.refused("tiny-cpu", "cpu")
    plan = launch.plan("tiny-cpu", "cpu", "--model /tiny --cache-mode lmcache")
    assert plan.argv[:3] == ("vllm", "serve", "/tiny")
    assert "--enable-auto-tool-choice" not in plan.argv
    assert plan.texts()["VLLM_CPU_KVCACHE_SPACE"] == "1"
    assert plan.texts().keys().isdisjoint({"VLLM_USE_V2_MODEL_RUNNER", "INSTANTTENSOR_BACKEND"})
    assert plan.cache_service is not None
    argv = plan.cache_service.argv
    assert [argv[argv.index(flag) + 1] for flag in ("--chunk-size", "--l1-size-gb", "--l1-init-size-gb")] == [
        "128",
        "1.0",
        "1",
    ]


def test_the_stock_model_gets_nothing_of_the_fork(launch: Launcher) -> None:
    texts = launch.plan("qwen36-35b-a3b", PCIE).texts()
    assert texts.keys().isdisjoint({"VLLM_ENABLE_PCIE_ALLREDUCE", "VLLM_PCIE_ALLREDUCE_BACKEND"})
    assert texts["NCCL_P2P_LEVEL"] == "SYS"
