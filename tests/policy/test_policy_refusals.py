"""What the shipped documents refuse or say, each with the launch that deserves it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from policy_plans import codes, mapping, said

if TYPE_CHECKING:
    from conftest import Launcher

PCIE = "rtx-pro-6000-pcie"
CONFIG = "--speculative-config"
QWEN = "qwen38-flash-next"
DRIVEN = "--cache-mode lmcache --cache-transfer-mode lmcache_driven"


@pytest.mark.parametrize(
    ("profile", "tokens", "reason"),
    [
        # any launch
        (QWEN, "--draft-tokens 0", "speculation verifies at least one"),
        (QWEN, "--port 70000", "not between 1 and 65535"),
        (QWEN, "--stop-grace 0", "a stop takes time"),
        (QWEN, "--config file.yaml", "hides its options from the plan"),
        # the cache server
        (QWEN, DRIVEN, "moves KV blocks engine_driven"),
        (QWEN, "--cache-mode lmcache --kv-transfer-config {}", "owns both ends"),
        (QWEN, "--cache-mode lmcache --port 60000", "70002 is no port"),
        (QWEN, "--cache-mode lmcache --cache-l1-gib 1", "must fit into cache-l1-gib"),
        (QWEN, "--cache-mode lmcache --no-enable-prefix-caching", "nothing without prefix caching"),
        (QWEN, "--cache-mode lmcache --cache-disk-path /d --cache-disk-gib 0", "has a capacity"),
        (QWEN, "--cache-mode lmcache --recurrent-checkpoint-policy aligned", "request boundaries"),
        (QWEN, "--cache-mode lmcache --prefix-cache-retention-interval 9", "retention-interval 0, not 9"),
        ("ds4-flash", "--cache-mode lmcache --cache-object-tokens 100", "no whole number of blocks"),
        ("ds41-flash", "--cache-mode lmcache --cache-object-tokens 100", "no whole number of blocks"),
        ("glm53-flash", "--cache-mode lmcache --target-page-size 1536", "no whole number of target pages"),
        (
            "glm53-flash",
            f"{DRIVEN} --recurrent-checkpoint-policy request_boundaries",
            "need the engine to drive",
        ),
        ("glm53-flash", "--cache-mode native --cache-native-gib 8 --kv-transfer-config {}", "owns the connector"),
        # capture sizes
        (QWEN, '--capture-ladder dense --speculative-config {"model":"x"}', "does not say how many tokens"),
        # one model
        ("ds41-flash", "--adaptive-verification-cost-scale 0", "a cost is above zero"),
    ],
)  # fmt: skip
def test_a_launch_that_cannot_work_is_refused(launch: Launcher, profile: str, tokens: str, reason: str) -> None:
    assert reason in launch.refused(profile, PCIE, tokens)
    launch.plan(profile, PCIE)


def test_a_ladder_without_seats_is_refused(launch: Launcher) -> None:
    assert "counts seats" in launch.refused("qwen36-35b-a3b", "native", "--capture-ladder quarters")
    launch.plan("qwen36-35b-a3b", "native", "--capture-ladder quarters --max-num-seqs 4")


def test_a_head_of_another_type_is_no_mxfp8_head(launch: Launcher) -> None:
    assert "not known to be BF16" in launch.refused("glm53-flash", PCIE, overlays=("mxfp8-head",))
    launch.policy({"kind": "profile", "id": "sample", "extends": QWEN, "facts": {"lm_head_dtype": "fp8"}})
    assert "is fp8" in launch.refused("sample", PCIE, overlays=("mxfp8-head",))


@pytest.mark.parametrize(
    ("tokens", "code"),
    [
        (["--mode", "off", "--draft-tokens", "3"], "draft-tokens-unused"),
        (["--mode", "mtp", CONFIG, '{"method":"ngram","num_speculative_tokens":2}'], "hand-written-speculation"),
        (["--max-num-seqs", "4"], "dead-capture-sizes"),
        (["--max-num-seqs", "32"], "seats-without-graph"),
        (["--table-placement", "disk"], "table-on-disk"),
    ],
)
def test_what_a_person_should_know_is_said(launch: Launcher, tokens: list[str], code: str) -> None:
    assert code in codes(launch.plan(QWEN, PCIE, tokens))
    assert code not in codes(launch.plan(QWEN, PCIE))


def test_tables_on_disk_say_what_they_need(launch: Launcher) -> None:
    tight = launch.plan("ds41-flash", PCIE, facts={"limits": {"memlock_bytes": 65536}})
    assert "io_uring" in said(tight, "table-on-disk")
    assert "65536 bytes" in said(tight, "memlock")
    assert "memlock" not in codes(launch.plan("ds41-flash", PCIE, facts={"limits": {"memlock_bytes": 8388608}}))


def test_the_controls_of_adaptive_verification_reach_the_draft(launch: Launcher) -> None:
    tokens = "--no-adaptive-verification --adaptive-verification-cost-scale 1.5"
    config = mapping(launch.plan("ds41-flash", PCIE, tokens), CONFIG)
    assert (config["enable_adaptive_verification"], config["adaptive_verification_cost_scale"]) == (False, 1.5)
