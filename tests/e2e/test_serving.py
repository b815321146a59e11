"""The real engine beside the real cache server, by the command: they serve, and they live and die together."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from serving_launch import REAL, SHM, Launch, ask

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """A tiny model, made by the engine's own interpreter."""
    folder = tmp_path_factory.mktemp("model")
    maker = Path(__file__).with_name("serving_model.py")
    subprocess.run([REAL / "engine" / "bin" / "python", maker, folder], check=True, capture_output=True)
    return folder


@pytest.fixture
def launch(tmp_path, model):
    before = set(SHM.iterdir())
    made = Launch(tmp_path, model)
    yield made
    made.close()
    left = {path for path in SHM.iterdir() if path.name.startswith(("psm_", "sem.", "vllm"))} - before
    assert left == set(), "shared memory is as it was"


def test_a_pair_answers_stores_and_leaves_nothing_when_it_is_terminated(launch):
    launch.arena().write_bytes(b"x" * (1 << 20))  # as a crash leaves it
    launch.start().ready()
    assert any(f"removed {launch.arena()} (1 MiB)" in line for line in launch.told())
    assert launch.arena().stat().st_size == 1 << 30
    assert launch.objects() == 0
    for _ in range(2):
        status, answer = launch.complete()
        assert (status, answer["usage"]["completion_tokens"]) == (200, 4)
    launch.until(lambda: launch.objects() >= 2, "objects in L1", 20)
    began = time.monotonic()
    launch.process.send_signal(signal.SIGTERM)
    assert launch.end() == 143
    assert time.monotonic() - began < 30.0, "within stop-grace"
    assert launch.told()[-1].endswith("status 143: SIGTERM received")
    assert any("the engine loads weights" in line for line in launch.told())
    assert b"Starting to load model" in launch.log("out").read_bytes() + launch.log("err").read_bytes()


def test_a_request_in_flight_is_answered_before_the_engine_ends(launch):
    launch.start("--stop-grace", "45").ready()
    launch.complete()
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(launch.complete, "once upon a time", 450)
        time.sleep(0.5)
        began = time.monotonic()
        launch.process.send_signal(signal.SIGTERM)
        status, answer = waiting.result(timeout=60)
    assert (status, answer["usage"]["completion_tokens"]) == (200, 450)
    assert time.monotonic() - began > 0.5, "it was not over when the stop began"
    assert launch.end() == 143
    assert time.monotonic() - began < 45.0


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [("vllm", "lmcache", 137), ("lmcache", "vllm", 1), ("vllm", None, 137), ("lmcache", None, 1)],
)
def test_whichever_is_killed_the_other_goes_too_and_one_line_says_why(launch, first, second, status):
    launch.start().ready()
    pids = [launch.side(name) for name in (first, second) if name]
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)
    assert launch.end() == status
    who = "the engine" if first == "vllm" else "LMCache"
    cause = f"{who} ended by SIGKILL; the kernel's OOM killer is the usual sender"
    assert f"lil-serve: {cause}; stopping, status {status}" in launch.told()


def test_a_cache_that_hangs_with_an_open_port_is_found_and_ends_the_pair(launch):
    launch.start().ready()
    os.kill(launch.side("lmcache"), signal.SIGSTOP)
    with socket.create_connection(("127.0.0.1", launch.port + 10001), timeout=5):
        began = time.monotonic()  # the port is open, and nobody answers
        launch.until(lambda: any("no longer answers" in line for line in launch.told()), "finding of the hang", 35)
    assert time.monotonic() - began < 10 + 3 * 5 + 2 + 2
    assert launch.end() == 1


def test_an_engine_that_fails_at_its_start_gives_its_own_status(launch):
    launch.start("--no-such-flag-of-any-engine", before=["--allow-unknown"])
    assert launch.end(120.0) == 2
    assert "lil-serve: the engine ended with status 2; stopping, status 2" in launch.told()


def test_a_port_that_is_taken_is_refused_before_anything_starts(launch):
    with socket.create_server(("127.0.0.1", launch.port + 10001)):
        launch.start()
        assert launch.end() == 3
    assert any("cache server's HTTP side cannot listen" in line for line in launch.told())
    assert ask(launch.port, "/health") is None


def test_a_containers_small_shared_memory_is_refused_with_its_cure(launch):
    wrap = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=64m tmpfs /dev/shm && exec "$@"', "sh"]
    if subprocess.run([*wrap, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this user may not mount")
    launch.start(wrap=wrap)
    assert launch.end() == 3
    assert any("docker run --shm-size=2g; in Compose shm_size: 2g" in line for line in launch.told())
