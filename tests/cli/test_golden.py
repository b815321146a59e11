"""The two launches that a real container printed: the yardstick for everything else."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[1] / "golden"
MODES = ("vram", "lmcache")


def golden(mode):
    return json.loads((GOLDEN / f"qwen38-flash-next.rtx-pro-6000-pcie.{mode}.json").read_text())


@pytest.fixture(params=MODES)
def pair(request, project):
    """What must be printed, and what is printed by the very command the golden file records."""
    wanted = golden(request.param)
    return wanted, project.run(*wanted["command"][1:], env=wanted["process_environment"])


def test_the_golden_command_succeeds_and_says_nothing_beside_the_plan(pair):
    wanted, words = pair
    assert (words.status, words.err) == (wanted["exit_status"], "")


def test_the_argv_is_the_golden_one_token_by_token(pair):
    wanted, words = pair
    assert words.data["argv"] == wanted["argv"]


def test_the_listed_environment_has_the_golden_values_with_their_origins(pair):
    wanted, words = pair
    shown = words.data["environment"]
    assert {
        name: {key: shown[name][key] for key in ("value", "origin")} for name in wanted["environment_includes"]
    } == wanted["environment_includes"]


def test_vram_has_no_cache_service(project):
    assert project.run(*golden("vram")["command"][1:]).data["cache_service"] is None


def test_the_cache_service_is_the_golden_one_token_by_token(project):
    wanted = golden("lmcache")["cache_service"]
    service = project.run(*golden("lmcache")["command"][1:]).data["cache_service"]
    assert service["argv"] == wanted["argv"]
    assert {key: service[key] for key in ("health_url", "shm_name", "shm_bytes")} == {
        key: wanted[key] for key in ("health_url", "shm_name", "shm_bytes")
    }
    assert service["environment"].items() >= wanted["environment_includes"].items()


def test_both_sides_hash_alike_in_every_mode(pair):
    """F29: a prefix block must have one name in the engine and in the cache server."""
    plan = pair[1].data
    assert plan["environment"]["PYTHONHASHSEED"]["value"] == "0"
    if plan["cache_service"] is not None:
        assert plan["cache_service"]["environment"]["PYTHONHASHSEED"] == "0"


@pytest.mark.parametrize("mode", MODES)
def test_a_process_of_its_own_prints_the_golden_argv(project, mode):
    wanted = golden(mode)
    words = project.process(*wanted["command"][1:])
    assert (words.status, words.err) == (0, "")
    assert words.data["argv"] == wanted["argv"]


@pytest.mark.parametrize("mode", MODES)
def test_shell_and_argv_print_the_golden_tokens(project, mode):
    wanted = golden(mode)
    own, engine = wanted["command"][1:-3], wanted["command"][-3:]
    own = [word for word in own if word != "--print-config"]
    shell = project.run(*own, "--print-config=shell", *engine)
    lines = project.run(*own, "--print-config=argv", *engine)
    assert shlex.split(shell.out) == wanted["argv"]
    assert lines.out.splitlines() == wanted["argv"]


SIDES = (
    *("--profile", "qwen38-flash-next", "--hardware", "rtx-pro-6000-pcie"),
    "--cache-mode vram",
    "--cache-mode lmcache",
)


def test_diff_of_the_goldens_is_three_flags_and_one_server_as_json(project):
    wanted = golden("lmcache")
    data = project.run("diff", *SIDES, "--json").data
    assert list(data["flags"]["added"]) == wanted["added_to_vram"]
    assert data["flags"]["added"] == {
        flag: wanted["argv"][wanted["argv"].index(flag) + 1] for flag in wanted["added_to_vram"]
    }
    assert (data["flags"]["removed"], data["flags"]["changed"]) == ({}, {})
    assert data["environment"] == {"added": {}, "removed": {}, "changed": {}}
    assert data["cache_service"]["added"]["argv"] == wanted["cache_service"]["argv"]
    assert data["cache_service"]["removed"] is None
    assert (data["stop_grace"], data["same"]) == (None, False)


def test_diff_of_the_goldens_is_three_flags_and_one_server_as_text(project):
    wanted = golden("lmcache")
    words = project.run("diff", *SIDES)
    changes = [line for line in words.out.splitlines() if not line.startswith(("---", "+++"))]
    assert [" ".join(line.split()[:2]) for line in changes] == [
        *(f"+ {flag}" for flag in wanted["added_to_vram"]),
        "+ cache",
    ]
    assert changes[-1] == "+ cache server: " + " ".join(wanted["cache_service"]["argv"])


def test_diff_of_a_launch_with_itself_says_that_both_run_the_same(project):
    words = project.run("diff", *SIDES[:-1], "--cache-mode vram")
    assert words.status == 0
    assert words.out.splitlines()[-1] == "both run the same thing"
