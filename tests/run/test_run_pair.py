"""The supervised pair by real processes and real signals: statuses, order, and that nothing is left."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from conftest import SHM, alive

STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)


@pytest.mark.parametrize("number", STOPS)
def test_a_stop_signal_is_forwarded_to_the_engine_and_both_end(supervised, arena, number):
    run = supervised.start(arena=arena).ready().signal(number)
    assert run.end() == 128 + number
    assert run.noted(f"got-{number}")[0] == run.noted("engine")[0]
    assert run.noted("got-15")[-1:] == run.noted("cache")
    assert run.noted("bye") == [*run.noted("engine"), *run.noted("cache")], "the engine ends first"
    assert not (SHM / arena).exists()
    assert not (SHM / f"{arena}.lock").exists()


def test_both_get_the_same_hash_seed_and_the_cache_no_gpu(supervised, tmp_path):
    run = supervised.start(
        engine=["--environ", str(tmp_path / "engine")],
        cache=["--environ", str(tmp_path / "cache")],
        environment={"PYTHONHASHSEED": "0", "CUDA_VISIBLE_DEVICES": "0"},
        dropped=["LIL_SERVE_PROFILE"],
        env={"PYTHONHASHSEED": "7", "LIL_SERVE_PROFILE": "x", "HF_TOKEN": "secret"},
    ).ready()
    assert run.signal(signal.SIGTERM).end() == 143
    engine, cache = ((tmp_path / name).read_text(encoding="utf-8").splitlines() for name in ("engine", "cache"))
    assert {"PYTHONHASHSEED=0", "HF_TOKEN=secret"} <= set(engine) & set(cache)
    assert "CUDA_VISIBLE_DEVICES=0" in engine
    assert "CUDA_VISIBLE_DEVICES=" in cache
    assert not [line for line in engine + cache if line.startswith("LIL_SERVE_PROFILE")]


def test_a_signal_while_the_cache_starts_starts_no_engine(supervised):
    run = supervised.start(cache=["--delay", "30"])
    run.until(lambda: run.noted("cache"), "cache").signal(signal.SIGTERM)
    assert run.end() == 143
    assert run.noted("engine") == []


@pytest.mark.parametrize(("role", "status"), [("engine", 137), ("cache", 1)])
def test_whichever_is_killed_the_other_is_stopped_and_one_line_says_why(supervised, arena, role, status):
    run = supervised.start(arena=arena).ready().kill(role, signal.SIGKILL)
    other = "cache" if role == "engine" else "engine"
    assert run.end() == status
    assert run.noted("bye") == run.noted(other)
    who = "the engine" if role == "engine" else "LMCache"
    cause = f"{who} ended by SIGKILL; the kernel's OOM killer is the usual sender"
    assert f"lil-serve: {cause}; stopping, status {status}" in run.told
    assert not (SHM / arena).exists(), "a killed server's arena is removed for it"


@pytest.mark.parametrize("status", [0, 1, 2, 42])
def test_the_engines_own_status_passes_through(supervised, status):
    assert supervised.start(engine=["--exit-after", "0.1", "--status", str(status)]).end() == status


def test_a_cache_that_ends_by_itself_ends_the_pair_with_1(supervised):
    run = supervised.start(cache=["--exit-after", "1", "--status", "7"]).ready()
    assert run.end() == 1
    assert "lil-serve: LMCache ended with status 7; stopping, status 1" in run.told


def test_a_cache_that_never_gets_ready_ends_with_4(supervised):
    figures = {"interval": 0.1, "timeout": 0.2, "ready": 0.6, "progress": 0.2, "starting": 0.05}
    run = supervised.start(cache=["--delay", "30"], figures=figures)
    assert run.end() == 4
    assert run.noted("engine") == []
    assert any("not ready" in line and "connection refused" in line for line in run.told)


def test_an_unhealthy_cache_is_not_ready(supervised):
    figures = {"interval": 0.1, "timeout": 0.2, "ready": 0.4, "starting": 0.05}
    run = supervised.start(cache=["--unhealthy"], figures=figures)
    assert run.end() == 4
    assert any("HTTP status 503" in line for line in run.told)


def test_an_answer_that_asks_who_we_are_is_life(supervised):
    run = supervised.start(cache=["--guarded"], engine=["--guarded"]).ready()
    run.until(lambda: alive(run.noted("engine")[0]), "engine")
    time.sleep(0.7)
    assert run.process.poll() is None
    assert run.signal(signal.SIGTERM).end() == 143


def test_a_stopped_cache_with_an_open_port_is_found_by_request_in_bounded_time(supervised, arena):
    run = supervised.start(arena=arena).ready().kill("cache", signal.SIGSTOP)
    begun = time.monotonic()
    assert run.end() == 1
    # interval + 3 timeouts + 2 retries; a stop continues a stopped process, which then ends as it would have
    assert time.monotonic() - begun < 0.1 + 3 * 0.3 + 2 * 0.05 + 0.5
    assert any("LMCache no longer answers (no answer within 0.3 s, 3 times)" in line for line in run.told)
    assert run.noted("bye") == [*run.noted("engine"), *run.noted("cache")]


def test_a_wrong_pool_keeps_the_engine_from_starting(supervised, arena):
    run = supervised.start(
        arena=arena, cache=["--pool", '{"engine_driven_shm_pool": {"shm_name": "", "pool_size": 0}}']
    )
    assert run.end() == 1
    assert run.noted("engine") == []
    assert any("blocks would be pickled" in line for line in run.told)


def test_workers_of_a_killed_engine_do_not_keep_the_gpu(supervised):
    run = supervised.start(engine=["--workers", "3"])
    run.until(lambda: len(run.noted("worker")) == 3, "workers").ready().kill("engine", signal.SIGKILL)
    assert run.end() == 137


def test_stubborn_processes_are_killed_within_the_grace(supervised):
    run = supervised.start(engine=["--workers", "2", "--stubborn"], cache=["--stubborn"], grace=1.0)
    run.until(lambda: len(run.noted("worker")) == 2, "workers").ready().signal(signal.SIGTERM)
    begun = time.monotonic()
    assert run.end() == 143
    assert 0.9 < time.monotonic() - begun < 1.5
    assert any("the engine did not end within 0.8 s: SIGKILL" in line for line in run.told)


@pytest.mark.parametrize("stubborn", [[], ["--stubborn"]])
def test_a_descendant_that_escaped_into_a_session_of_its_own_is_ended(supervised, stubborn):
    run = supervised.start(engine=["--escape", *stubborn], grace=2.0)
    run.until(lambda: run.noted("escaped"), "escape").ready().signal(signal.SIGTERM)
    assert run.end() == 143


def test_orphans_are_reaped_while_the_pair_serves(supervised):
    run = supervised.start(engine=["--zombies", "10"]).ready()
    time.sleep(0.3)
    states = subprocess.run(
        ["ps", "-o", "stat=", "--ppid", str(run.process.pid)], capture_output=True, text=True, check=True
    ).stdout.split()
    assert len(states) == 2
    assert not [state for state in states if state.startswith("Z")]
    assert run.signal(signal.SIGTERM).end() == 143


def test_a_second_interrupt_hurries(supervised):
    run = supervised.start(engine=["--flush", "30"], cache=["--flush", "30"], grace=60.0).ready()
    run.signal(signal.SIGINT).until(lambda: run.noted("got-2"), "interrupt")
    begun = time.monotonic()
    assert run.signal(signal.SIGINT).end() == 130
    assert time.monotonic() - begun < 1.0


def test_further_terminations_do_not_cut_the_flush_short(supervised):
    run = supervised.start(cache=["--flush", "0.5"]).ready().signal(signal.SIGTERM)
    run.until(lambda: len(run.noted("got-15")) == 2, "both signalled").signal(signal.SIGTERM)
    assert run.end() == 143
    assert run.noted("got-15") == [*run.noted("engine"), *run.noted("cache")]
    assert run.noted("bye") == [*run.noted("engine"), *run.noted("cache")]


def test_a_user_signal_reaches_the_engine_alone(supervised):
    run = supervised.start().ready().signal(signal.SIGUSR1)
    run.until(lambda: run.noted("got-10"), "user signal")
    assert run.noted("got-10") == run.noted("engine")
    assert run.signal(signal.SIGTERM).end() == 143


def test_nothing_survives_a_supervisor_that_is_killed(supervised):
    run = supervised.start(engine=["--workers", "1"]).ready().signal(signal.SIGKILL)
    run.process.wait()
    pids = [*run.noted("engine"), *run.noted("cache")]
    run.until(lambda: not any(map(alive, pids)), "the end of the pair")


def test_under_nohup_a_hangup_is_nothing(supervised):
    run = supervised.start(wrap=["nohup"]).ready().signal(signal.SIGHUP)
    time.sleep(0.3)
    assert run.process.poll() is None
    assert run.signal(signal.SIGTERM).end() == 143


def test_as_the_first_process_of_a_namespace(supervised):
    wrap = ["unshare", "--pid", "--fork", "--mount-proc"]
    if subprocess.run([*wrap, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this user may not make a process namespace")
    run = supervised.start(wrap=wrap).ready()
    assert run.noted("cache") == [2], "the supervisor is process 1 of the namespace"
    run.notes = run.folder / "none"  # those process ids are the namespace's own
    first = Path(f"/proc/{run.process.pid}/task/{run.process.pid}/children").read_text(encoding="ascii")
    os.kill(int(first), signal.SIGTERM)
    assert run.end() == 143


# Makes its terminal the controlling one, as a login shell's is, and becomes the command.
ON_A_TERMINAL = "import os, sys; os.setsid(); os.close(os.open(os.ttyname(0), 2)); os.execv(sys.argv[1], sys.argv[1:])"


def test_a_terminals_interrupt_reaches_the_pair_through_the_supervisor(supervised):
    parent, child = pty.openpty()
    run = supervised.start(wrap=[sys.executable, "-c", ON_A_TERMINAL], stdio=child)
    os.close(child)
    run.ready()
    os.write(parent, b"\x03")
    assert run.end() == 130
    os.close(parent)
    assert run.noted("got-2") == run.noted("engine")


def test_a_reader_that_stopped_reading_does_not_hold_the_stop_up(supervised):
    run = supervised.start().ready()
    filler = os.open(f"/proc/{run.process.pid}/fd/2", os.O_WRONLY | os.O_NONBLOCK)
    with suppress(BlockingIOError):
        while True:
            os.write(filler, b"x" * 4096)
    os.close(filler)
    run.signal(signal.SIGTERM)
    assert run.process.wait(timeout=10) == 143
