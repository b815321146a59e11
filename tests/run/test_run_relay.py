"""The engine's log: passed on byte for byte, read for its phases, and never a reason to wait."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import time

from lilserve.run.phases import MARKS, Phases

SIZE = 3_000_000
OURS = re.compile(rb"lil-serve: [^\n]*\n")


def spoken(descriptor):
    return random.Random(descriptor).randbytes(SIZE)  # noqa: S311 -- the stand-in's pattern


def test_each_phase_is_told_once_in_whatever_pieces_the_log_comes():
    log = b"".join(b"(Worker pid=7) INFO 11-30 [x.py:1] " + mark.piece + b" 12 s\n" for mark in MARKS) * 2
    for size in (1, 7, 64, len(log)):
        phases = Phases()
        said = [text for start in range(0, len(log), size) for text in phases.read(log[start : start + size])]
        assert said == list(dict.fromkeys(mark.says for mark in MARKS))


def test_a_line_without_an_end_is_not_kept_for_ever():
    phases = Phases()
    for _ in range(100):
        phases.read(b"x" * 65536)
    assert len(phases._rest) < 20000


def test_both_outputs_are_passed_on_byte_for_byte(supervised, tmp_path):
    with (tmp_path / "out").open("wb") as out, (tmp_path / "err").open("wb") as err:
        run = supervised.start(engine=["--speak", str(SIZE)], out=out, err=err)
        run.until(lambda: run.noted("spoken"), "speaking").signal(signal.SIGTERM)
        assert run.end() == 143
    assert (tmp_path / "out").read_bytes() == spoken(1)
    told = (tmp_path / "err").read_bytes()
    assert OURS.sub(b"", told) == spoken(2)
    assert OURS.findall(told)[-1].startswith(b"lil-serve: stopped in")
    assert told.endswith(OURS.findall(told)[-1])


def test_outputs_that_go_to_one_place_keep_their_order(supervised, tmp_path):
    with (tmp_path / "both").open("wb") as both:
        run = supervised.start(engine=["--speak", "100000"], out=both, err=subprocess.STDOUT)
        run.until(lambda: run.noted("spoken"), "speaking").signal(signal.SIGTERM)
        assert run.end() == 143
    found = (tmp_path / "both").read_bytes()
    first, second = (random.Random(number).randbytes(100000) for number in (1, 2))  # noqa: S311 -- the pattern
    assert found.find(first[-100:]) < found.find(second[:100])


def test_phases_are_told_for_a_person(supervised):
    run = supervised.start(engine=["--says", "INFO Starting to load model x...|INFO Graph capturing finished in 3 s"])
    run.ready().until(lambda: run.noted("engine"), "engine")
    time.sleep(0.2)
    run.signal(signal.SIGTERM)
    assert run.end() == 143
    assert "lil-serve: the engine loads weights" in run.told
    assert "lil-serve: the engine has its CUDA graphs" in run.told
    assert run.said.count("INFO Starting to load model x...") == 1


def test_a_reader_that_stops_meets_a_full_pipe_and_nothing_else(supervised):
    run = supervised.start(engine=["--speak", str(SIZE)], grace=1.0).ready()
    time.sleep(0.3)
    assert run.noted("spoken") == [], "the engine waits for its reader, as it would without us"
    run.signal(signal.SIGTERM)
    assert run.process.wait(timeout=20) == 143


def test_a_reader_that_went_away_costs_the_log_and_never_the_engine(supervised):
    run = supervised.start(engine=["--speak", str(SIZE)]).ready()
    run.process.stdout.close()
    run.process.stderr.close()
    run.until(lambda: run.noted("spoken"), "speaking")
    run.signal(signal.SIGTERM)
    assert run.process.wait(timeout=20) == 143


def test_what_a_dying_engine_said_last_is_passed_on_before_the_last_line(supervised):
    run = supervised.start(engine=["--speak", "60000", "--exit-after", "0.3", "--status", "9"])
    out, told = run.process.communicate(timeout=20)
    assert run.process.returncode == 9
    assert out == random.Random(1).randbytes(60000).decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n")  # noqa: S311 -- the pattern
    assert told.rstrip().splitlines()[-1].startswith("lil-serve: stopped in")
