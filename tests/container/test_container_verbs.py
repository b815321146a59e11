"""The verbs of homes, from words to words: render, up --dry-run, run, health, and a host without a daemon."""

from __future__ import annotations

import gc
import http.server
import itertools
import json
import os
import re
import shlex
import threading
from pathlib import Path

import pytest

from lilserve.cli import render as render_verb
from lilserve.render.targets import TARGETS

ROOT = Path(__file__).parents[2]
IMAGE = ("--image", "registry.example/lil:1")


def render(project, target, *args, env=None):
    return project.run("render", target, *project.SELECTION, *IMAGE, *args, env=env)


def test_the_verb_names_every_target():
    assert tuple(TARGETS) == render_verb.TARGETS


@pytest.mark.parametrize("target", ["docker", "compose", "quadlet", "kubernetes"])
def test_every_target_is_printed_twice_alike(project, target):
    first, second = render(project, target), render(project, target)
    assert (first.status, first.out) == (0, second.out)
    assert first.out


def test_several_machines_are_for_targets_of_several(project):
    two = ("--", "--nnodes", "2", "--tensor-parallel-size", "2")
    render(project, "compose", *two).refused("this launch runs on 2 machines", "leaderworkerset")
    render(project, "leaderworkerset").refused("this launch runs on one machine")
    assert render(project, "leaderworkerset", *two).status == 0
    render(project, "ranks", *two).refused("no machine is named the leader")
    by_hand = render(project, "ranks", "--network", "host", *two, "--master-addr", "10.0.0.1")
    commands = [shlex.split(line) for line in by_hand.out.splitlines() if not line.startswith("#")]
    argvs = [tokens[tokens.index("--") + 1 :] for tokens in commands]
    assert [argv[argv.index("--node-rank") + 1] for argv in argvs] == ["0", "1"]
    differs = {"--headless", "0", "1"}
    assert [one for one in argvs[0] if one not in differs] == [one for one in argvs[1] if one not in differs]


def test_a_wrong_target_and_a_wrong_wish_are_one_clean_error(project):
    project.run("render", "lxc", *project.SELECTION).refused("'lxc' is not one of")
    render(project, "docker", "--gpus", "0,0", "--volume", "~/x:/y").refused("names 0 twice", "only a shell knows ~")
    render(project, "docker", "--strict").refused("has no digest")


def test_an_api_key_in_the_argv_is_refused_and_in_the_environment_passed_by_name(project):
    render(project, "docker", "--", "--toy-api-key", "hush-hush").refused("--toy-api-key holds a secret")
    words = render(project, "docker", env={"VLLM_API_KEY": "hush-hush", "HUGGING_FACE_HUB_TOKEN": "hush-hush"})
    assert "hush-hush" not in words.out
    assert "--env VLLM_API_KEY --env HUGGING_FACE_HUB_TOKEN" in words.out


def test_a_dry_run_is_the_docker_rendering(project):
    assert project.run("up", *project.SELECTION, *IMAGE, "--dry-run").out == render(project, "docker").out


# The SDK leaves its own socket to the collector when nobody answers.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
def test_a_host_without_a_daemon_says_so(project):
    for verb in (("up", *project.SELECTION), ("down",), ("status",), ("logs",)):
        words = project.run(*verb, env={"DOCKER_HOST": "unix:///no/such.sock"})
        assert words.status == 3
        assert "error: no container daemon at unix:///no/such.sock" in words.err
        assert "hint: systemctl start docker" in words.err
    gc.collect()


def printing(project):
    """The toy engine with a program in its place, and its container's command."""
    engine = (
        "version: 1\nkind: engine\nid: toy\nreplaces: true\ncatalog: vllm-0.33.0\ncommand: [/usr/bin/printf, '%s\\n']\n"
    )
    path = project.root / "policy" / "engine.yaml"
    text = path.read_text()
    path.write_text(engine + text[text.index("options:") :])
    words = render(project, "docker", "--env", "TOY_VALUE=$HOME 'x'", "--", "--max-num-seqs", "4")
    tokens = shlex.split(words.out)
    given = dict(one.split("=", 1) for flag, one in itertools.pairwise(tokens) if flag == "--env")
    return tokens[tokens.index(IMAGE[1]) + 1 :], given


GIVEN = {"TOY_VALUE": "$HOME 'x'", "PYTHONHASHSEED": "0", "TOY_ARCH": "crate"}


def sealed(project):
    return printing(project)[0][2]


def argv_of(project):
    command = printing(project)[0]
    return command[command.index("--") + 1 :]


def test_a_container_runs_what_was_rendered(project):
    """As the image's entrypoint does, with a program in the engine's place."""
    command, given = printing(project)
    assert given["TOY_VALUE"] == "$HOME 'x'"
    done = project.process(*command, env=given)
    assert (done.status, done.out.splitlines()) == (0, [*command[command.index("--") + 3 :]])
    edited = project.process(*command[:-1], "5", env=given)
    edited.refused("not the one that was rendered")
    project.process(*command, env={**given, "TOY_VALUE": "$HOME"}).refused("not the one that was rendered")
    project.process(*command[: command.index("--")]).refused("no command stands behind --")
    project.process("run", "--sealed", "{}", "--", "true").refused("--sealed takes what")


def test_a_host_that_cannot_run_it_is_refused_inside_the_container(project):
    seal = json.dumps({**json.loads(sealed(project)), "needs": {"page_size": 12345}})
    refused = project.process("run", "--sealed", seal, "--", *argv_of(project), env=GIVEN)
    assert refused.status == 3
    assert "pages of" in refused.err


def test_a_cache_server_on_its_own_claims_its_shared_memory_and_holds_it(project):
    name = f"lilserve-test-{os.getpid()}"
    left = Path("/dev/shm", name)  # noqa: S108 -- where arenas are
    seal = json.dumps({**json.loads(sealed(project)), "arena": name})
    command = ("run", "--sealed", seal, "--", *argv_of(project))
    try:
        Path(f"{left}.lock").touch(0o600)
        left.write_bytes(b"stale")
        first = project.process(*command, env=GIVEN)
        assert first.status == 0
        assert f"removed {left}, which an earlier run left behind" in first.err
        assert not left.exists()
        left.write_bytes(b"stale")
        with left.open("rb") as held:
            refused = project.process(*command, env=GIVEN)
            assert held.readable()
        assert refused.status == 3
        assert "is in use by" in refused.err
        assert left.exists()
    finally:
        for path in (left, Path(f"{left}.lock")):
            path.unlink(missing_ok=True)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/health" else 503)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as found:
        thread = threading.Thread(target=found.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{found.server_address[1]}"
        found.shutdown()
        thread.join()


def test_health_asks_every_server(project, server):
    assert project.run("health", f"{server}/health").status == 0
    sick = project.run("health", f"{server}/health", f"{server}/other", "http://127.0.0.1:1/health", "ftp://x")
    assert sick.status == 4
    for fragment in ("/other: HTTP status 503", ":1/health: connection refused", "ftp://x: no URL of a server"):
        assert fragment in sick.err


def test_the_dockerfile_owns_no_setting_and_takes_its_layers_as_arguments():
    text = (ROOT / "Dockerfile").read_text()
    assert 'ENTRYPOINT ["lil-serve"]' in text
    for name in ("BASE_IMAGE", "ENGINE_IMAGE", "VENV", "WHEELHOUSE"):
        assert re.search(rf"^ARG {name}=", text, re.MULTILINE)
    (block,) = re.findall(r"^ENV (.+?[^\\])$", text, re.MULTILINE | re.DOTALL)
    names = re.findall(r"([A-Z_]+)=", block)
    assert names == [
        "PATH",
        "HF_HOME",
        "XDG_CACHE_HOME",
        "TRITON_CACHE_DIR",
        "TORCHINDUCTOR_CACHE_DIR",
        "FLASHINFER_WORKSPACE_BASE",
    ]
    owned = "\n".join(
        path.read_text() for tree in ("profiles", "hardware", "overlays") for path in (ROOT / tree).rglob("*.yaml")
    )
    assert not [name for name in names if re.search(rf"\b{name}:", owned)]
