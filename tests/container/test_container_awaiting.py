"""Progress until ready: each phase once, the status of one that ends, and patience with an end."""

from __future__ import annotations

import pytest
from container_fakes import FakeDaemon, container, plan, state

from lilserve.container.awaiting import Clock, await_ready
from lilserve.container.creation import creation, host_side
from lilserve.container.phases import PHASES, new_phases
from lilserve.container.state import state_of
from lilserve.errors import NotReadyError
from lilserve.render.docker import docker_tokens


class Watch:
    """A clock that a wait moves."""

    def __init__(self):
        self.now = 0.0

    def wait(self, seconds):
        self.now += seconds

    @property
    def clock(self):
        return Clock(lambda: self.now, self.wait)


def follow(history, lines=(), budget=100.0):
    daemon, said = FakeDaemon(history[0]), []
    daemon.lines = list(lines)
    daemon.histories["id-of-one"] = list(history)
    return await_ready(daemon, history[0], budget, Watch().clock, said.append), said


def test_phases_are_told_once_and_ready_ends_it():
    waiting = state(health="starting")
    status, said = follow([waiting, waiting, state(health="healthy")], ["(EngineCore) Loading weights took 3 s"])
    assert status == 0
    assert said[-1].endswith("ready: one")
    assert sum("weights loaded" in line for line in said) == 1


def test_one_without_a_health_check_is_ready_when_it_runs():
    assert follow([state(health="")])[0] == 0


def test_one_that_ends_gives_its_own_status_and_its_last_words():
    status, said = follow([state(health="starting"), state(status="exited", exit=3)], ["error: too little memory"])
    assert status == 3
    assert "  error: too little memory" in said


def test_one_that_ends_without_a_failure_before_it_served_is_still_a_failure():
    assert follow([state(status="exited", exit=0)])[0] == 1


def test_patience_ends_and_the_container_is_left():
    with pytest.raises(NotReadyError) as caught:
        follow([state(health="starting")], budget=5.0)
    assert "left running" in caught.value.problems[0].what


def test_every_phase_has_a_line_that_shows_it():
    lines = [
        f"lil-serve: tiny on box, cache-mode vram, digest {'0' * 64}; the same command with --print-config",
        "lil-serve: LMCache is ready after 9 s; starting the engine",
        "INFO [core.py:93] Initializing a V1 LLM engine (v0.33.0) with config",
        "INFO [gpu_model_runner.py:1] Starting to load model org/model...",
        "INFO [default_loader.py:262] Loading weights took 2.65 seconds",
        "INFO [backends.py:559] Dynamo bytecode transform time: 5.12 s",
        "INFO [kv_cache_utils.py:849] GPU KV cache size: 100,000 tokens",
        "Capturing CUDA graphs (mixed prefill-decode, PIECEWISE)",
        "INFO:     Application startup complete.",
    ]
    assert [list(new_phases([line], set())) for line in lines] == [[phase] for _, phase in PHASES]
    assert list(new_phases(["nothing"], set())) == []


def test_what_is_created_is_what_the_dry_run_prints():
    one = container(
        plan({"A": "$1", "VLLM_API_KEY": "hush-hush"}, service=True, figures={"image_arch": "linux/arm64"}),
        gpus="0,1",
        volumes=("/models:/models:ro",),
        seccomp="unconfined",
    )
    made, side, tokens = creation(one, {"VLLM_API_KEY": "hush-hush"}), host_side(one, "unconfined"), docker_tokens(one)
    assert made["command"] == tokens[tokens.index("lil:1") + 1 :]
    assert made["environment"] == {"A": "$1", "VLLM_API_KEY": "hush-hush"}
    assert made["stop_timeout"] == int(tokens[tokens.index("--stop-timeout") + 1])
    assert made["platform"] == tokens[tokens.index("--platform") + 1]
    assert side["shm_size"] == int(tokens[tokens.index("--shm-size") + 1])
    assert side["device_requests"] == [{"Driver": "", "DeviceIDs": ["0", "1"], "Capabilities": [["gpu"]]}]
    assert side["security_opt"] == [tokens[tokens.index("--security-opt") + 1]]
    assert side["binds"][-1] == "/models:/models:ro"
    assert side["restart_policy"] == {"Name": "no"}
    assert side["port_bindings"] == {8000: 8000}
    assert made["labels"] == dict(one.labels)
    assert "hush-hush" not in " ".join(tokens)


def test_the_gpus_of_the_sdk():
    assert host_side(container(gpus="all"), None)["device_requests"][0]["Count"] == -1
    assert host_side(container(gpus="nvidia.com/gpu=0"), None)["device_requests"] == [
        {"Driver": "cdi", "DeviceIDs": ["nvidia.com/gpu=0"]}
    ]
    assert host_side(container(), None)["device_requests"] is None


def test_a_state_is_read_from_what_inspect_answers():
    found = state_of(
        {
            "Id": "abc",
            "Name": "/one",
            "Image": "sha256:1",
            "State": {"Status": "exited", "ExitCode": 137, "Health": {"Status": "unhealthy"}, "StartedAt": "then"},
            "Config": {"Labels": None, "StopTimeout": 40},
        }
    )
    assert (found.name, found.exit, found.stop, found.ours, found.ready) == ("one", 137, 40, False, False)
    assert state_of({"Id": "x", "State": {"Status": "running"}, "Config": {}}).ready
