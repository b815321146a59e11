"""Becoming the engine: what it gets, what it does not, and what is said of a program that is not there."""

from __future__ import annotations

import signal
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from run_plans import plan

from lilserve.cache.model import Service
from lilserve.run.environment import engine_environment, service_environment

SHOW = [sys.executable, "-c", "import os, sys; print(os.getpid(), sorted(os.environ)); sys.exit(9)"]
SERVICE = Service(("x",), {"CUDA_VISIBLE_DEVICES": ""}, "http://127.0.0.1:1/healthcheck", None, None)


def test_listed_names_are_set_dropped_and_removed_ones_are_gone_and_the_rest_is_untouched():
    made = plan(["x"], environment={"A": "1"}, dropped=["LIL_SERVE_PROFILE", "TP"], removed=["NCCL_DEBUG"])
    environ = {
        "A": "0",
        "TP": "4",
        "LIL_SERVE_PROFILE": "p",
        "NCCL_DEBUG": "INFO",
        "HF_TOKEN": "secret",
        "ODD": "\udcff",
    }
    assert engine_environment(made, environ) == {"A": "1", "HF_TOKEN": "secret", "ODD": "\udcff"}


def test_the_cache_server_gets_the_plans_variables_and_its_own_over_them():
    made = plan(["x"], environment={"PYTHONHASHSEED": "0", "CUDA_VISIBLE_DEVICES": "0,1"}, dropped=["TP"])
    assert service_environment(made, SERVICE, {"TP": "4", "HOME": "/h"}) == {
        "HOME": "/h",
        "PYTHONHASHSEED": "0",
        "CUDA_VISIBLE_DEVICES": "",
    }


def test_modules_of_overlays_stand_before_the_engines_own_and_not_in_the_cache_server(tmp_path):
    made = replace(plan(["x"]), files={"patch/__init__.py": "x = 1\n"})
    environ = {"XDG_RUNTIME_DIR": str(tmp_path), "PYTHONPATH": "/own"}
    first, behind = engine_environment(made, environ)["PYTHONPATH"].split(":")
    assert Path(first, "patch", "__init__.py").read_text(encoding="utf-8") == "x = 1\n"
    assert behind == "/own"
    assert service_environment(made, SERVICE, environ)["PYTHONPATH"] == "/own"


def test_the_process_becomes_the_engine_after_one_line(supervised):
    run = supervised.start(alone=True, engine=SHOW, notes=None, dropped=["GONE"], env={"GONE": "1", "KEPT": "1"})
    out, told = run.process.communicate(timeout=20)
    assert run.process.returncode == 9
    assert out.startswith(f"{run.process.pid} "), "same process id: it was replaced"
    assert "'KEPT'" in out
    assert "'GONE'" not in out
    assert told == (
        f"lil-serve: tiny on cpu, cache-mode vram, digest {'0' * 64}; "
        "the same command with --print-config shows all of it\n"
    )


def test_an_engine_that_is_executed_is_ended_by_its_own_signals(supervised):
    code = "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"
    run = supervised.start(alone=True, engine=[sys.executable, "-c", code])
    run.process.communicate(timeout=20)
    assert run.process.returncode == -signal.SIGTERM


@pytest.mark.parametrize(
    ("name", "content", "mode", "said"),
    [
        ("nowhere", None, 0, "no such executable file"),
        ("plain", "#!/bin/sh\n", 0o644, "no such executable file"),
        ("lost", "#!/nowhere/interpreter\n", 0o755, "the interpreter that its first line names is not"),
        ("foreign", "\x7fELF nothing", 0o755, "is no program of this machine"),
    ],
)
def test_a_program_that_cannot_be_executed_is_a_configuration_error(supervised, tmp_path, name, content, mode, said):
    program = tmp_path / name
    if content is not None:
        program.write_text(content, encoding="utf-8")
        program.chmod(mode)
    run = supervised.start(alone=True, engine=[str(program)])
    _, told = run.process.communicate(timeout=20)
    assert run.process.returncode == 2
    assert said in told
    assert "Traceback" not in told


def test_a_program_is_looked_up_on_the_path_that_it_will_see(supervised, tmp_path):
    program = tmp_path / "bin" / "serve-me"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 5\n", encoding="utf-8")
    program.chmod(0o755)
    run = supervised.start(alone=True, engine=["serve-me"], environment={"PATH": f"{program.parent}:/usr/bin:/bin"})
    run.process.communicate(timeout=20)
    assert run.process.returncode == 5


def test_a_missing_program_of_a_pair_starts_nothing(supervised):
    run = supervised.start(alone=True, engine=["no-such-engine"])
    _, told = run.process.communicate(timeout=20)
    assert run.process.returncode == 2
    assert "no-such-engine: it is on no directory of PATH" in told
