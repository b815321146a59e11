"""Cache modes are documents, and a profile's contract says which of them it accepts and with which reason not."""

from __future__ import annotations

import json

import pytest

QWEN = ("--profile", "qwen38-flash-next", "--hardware", "rtx-pro-6000-pcie", "--print-config")


def test_a_cache_mode_without_a_contract_is_refused(toy):
    mode = "version: 1\nkind: overlay\nid: new\ncache-mode: new"
    (problem,) = toy.refusal(mode, tokens=["--cache-mode", "new"])
    assert problem.code == "cache-mode-refused"
    assert "has no contract for the cache mode 'new'" in problem.what
    assert problem.hint == "--cache-mode vram"


def test_a_refused_cache_mode_tells_the_profile_s_reason_at_its_line(toy):
    (problem,) = toy.refusal(tokens=["--cache-mode", "forbidden"])
    assert problem.what == "profile 'alpha' refuses the cache mode 'forbidden': nobody has seen it work"
    assert problem.at == "toy/alpha.yaml:17:5"


def test_vram_needs_no_contract(toy):
    assert toy.plan(tokens=["--cache-mode", "vram"]).cache_service is None


def test_the_server_keeps_its_document_s_order_and_its_written_figures(toy):
    service = toy.plan(tokens=["--cache-mode", "remote"]).cache_service
    assert service.argv == ("toy-cache", "--port", "18000", "--ratio", "0.90", "--workers", "3")
    assert service.health_url == "http://127.0.0.1:18001/health"
    assert (service.shm_name, service.shm_bytes) == (None, None)


def test_a_contract_may_add_arguments_but_not_those_of_the_cache_mode(toy):
    alpha = """
    version: 1
    kind: profile
    id: alpha
    engine: toy
    options: {model: org/alpha}
    cache: {remote: {facts: {workers: 3}, arguments: [{flag: %s, to: 'string(o["port"])'}]}}
    """
    service = toy.plan(alpha % "--extra", tokens=["--cache-mode", "remote"]).cache_service
    assert service.argv[-2:] == ("--extra", "8000")
    (problem,) = toy.refusal(alpha % "--ratio", tokens=["--cache-mode", "remote"])
    assert problem.code == "owned-argument"


def test_the_seed_is_the_same_on_both_sides_whoever_sets_it(toy):
    """F29."""
    for selection in ({}, {"assigned": (("PYTHONHASHSEED", "7"),)}, {"environ": {"PYTHONHASHSEED": "7"}}):
        plan = toy.plan(tokens=["--cache-mode", "remote"], **selection)
        assert plan.texts()["PYTHONHASHSEED"] == plan.cache_service.environment["PYTHONHASHSEED"]


@pytest.mark.parametrize("seed", ["random", "", "-1", "4294967296"])
@pytest.mark.parametrize("mode", ["vram", "lmcache"])
def test_a_seed_that_is_not_fixed_is_refused_in_every_mode(project, seed, mode):
    """F29: the same fixed value; with `random` or nothing each process takes its own, and Python dies of the others."""
    words = project.run(*QWEN, "--env", f"PYTHONHASHSEED={seed}", "--", "--cache-mode", mode)
    words.refused("PYTHONHASHSEED")


def test_a_seed_inherited_as_random_is_not_handed_on(project):
    """F29."""
    words = project.run(*QWEN, "--", "--cache-mode", "lmcache", env={"PYTHONHASHSEED": "random"})
    words.refused("PYTHONHASHSEED")


@pytest.mark.parametrize(
    ("port", "fine"), [("1", True), ("55533", True), ("55534", False), ("65535", False), ("0", False), ("70000", False)]
)
def test_the_cache_ports_are_the_engine_s_plus_ten_thousand_and_within_range(project, port, fine):
    words = project.run(*QWEN, "--", "--cache-mode", "lmcache", "--port", port)
    if not fine:
        words.refused("port")
        return
    argv = words.data["cache_service"]["argv"]
    ports = [argv[argv.index(flag) + 1] for flag in ("--port", "--http-port", "--prometheus-port")]
    assert ports == [str(int(port) + 10000 + more) for more in range(3)]
    assert words.data["cache_service"]["health_url"].endswith(f":{ports[1]}/healthcheck")


def test_the_last_port_is_free_for_the_engine_where_no_cache_runs_beside_it(project):
    assert project.run(*QWEN, "--", "--port", "65535").status == 0


@pytest.mark.parametrize("mode", ["lmcache", "native"])
def test_a_connector_by_hand_beside_a_cache_mode_that_owns_it_is_an_error(project, mode):
    """F25."""
    more = ["--cache-native-gib", "8"] if mode == "native" else []
    for connector in (["--kv-transfer-config", '{"kv_connector":"X"}'], ["--kv-transfer-config.kv_role", "kv_both"]):
        words = project.run(*QWEN, "--", "--cache-mode", mode, *more, *connector)
        words.refused("kv-transfer-config is set by hand beside cache-mode " + mode)


def test_a_connector_by_hand_is_free_without_a_cache_mode(project):
    words = project.run(*QWEN, "--", "--kv-transfer-config", '{"kv_connector":"X","kv_role":"kv_both"}')
    assert words.status == 0


def test_a_disk_tier_always_has_its_capacity_and_its_eviction(project):
    """F28: a tier with a capacity and no eviction block is never emitted."""
    argv = project.run(
        *QWEN, "--", "--cache-mode", "lmcache", "--cache-disk-path", "/var/cache/x", "--cache-disk-gib", "200"
    ).data["cache_service"]["argv"]
    adapter = json.loads(argv[argv.index("--l2-adapter") + 1])
    assert (adapter["type"], adapter["max_capacity_gb"]) == ("fs_native", 200)
    assert set(adapter["eviction"]) == {"eviction_policy", "trigger_watermark", "eviction_ratio"}


@pytest.mark.parametrize("half", [["--cache-disk-path", "/var/cache/x"], ["--cache-disk-gib", "200"]])
def test_half_a_disk_tier_is_an_error(project, half):
    project.run(*QWEN, "--", "--cache-mode", "lmcache", *half).refused("needs both cache-disk-path and cache-disk-gib")


def test_a_disk_tier_written_by_hand_is_refused(project):
    """F28: refused when written by hand, in the contract of a profile."""
    project.write(
        "own/mine.yaml",
        """
        version: 1
        kind: profile
        id: mine
        extends: qwen38-flash-next
        cache:
          lmcache:
            arguments: [{flag: --l2-adapter, value: '{"type":"fs_native","max_capacity_gb":200}'}]
        """,
    )
    words = project.run("--policy", "own", "--profile", "mine", "--print-config", "--", "--cache-mode", "lmcache")
    words.refused("--l2-adapter belongs to the cache mode lmcache", "own/mine.yaml:")


def test_native_needs_a_size(project):
    project.run(*QWEN, "--", "--cache-mode", "native").refused("--cache-native-gib")


def test_the_cache_port_is_never_the_engine_s_own(project):
    data = project.run(*QWEN, "--", "--cache-mode", "lmcache").data
    argv = data["cache_service"]["argv"]
    ports = {argv[argv.index(flag) + 1] for flag in ("--port", "--http-port", "--prometheus-port")}
    assert len(ports | {"8000"}) == 4
