"""A real daemon: the project's Dockerfile is built, asked for the golden plan, and brought up with stand-ins inside.

The daemon is private: its own socket, its own storage, no bridge; it is ended by its process id.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
PARTS = Path(os.environ.get("LILSERVE_REAL", ROOT / ".cache" / "real")).parent / "container"
CONTEXT = (
    "lilserve",
    "profiles",
    "hardware",
    "overlays",
    "pyproject.toml",
    "hatch_build.py",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
)
BASE, IMAGE, SERVING = "lilserve-base:test", "lilserve:test", "lilserve-stand-ins:test"
LAUNCH = ("--profile", "qwen38-flash-next", "--hardware", "rtx-pro-6000-pcie")
FAMILIES = ("VLLM_", "NCCL_", "B12X_", "CUTE_", "LMCACHE_", "TORCH_", "PYTORCH_", "CUDA_", "OMP_", "LIL_SERVE_")
PATIENCE = 60.0

STAND_INS = """\
FROM {image}
COPY container_stand_ins.py /stand_ins.py
RUN site=$(/opt/venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))') \\
 && mkdir -p $site/vllm/entrypoints/cli \\
 && touch $site/vllm/__init__.py $site/vllm/entrypoints/__init__.py $site/vllm/entrypoints/cli/__init__.py \\
 && printf 'import runpy, sys\\nsys.argv[1:1] = ["engine"]\\nrunpy.run_path("/stand_ins.py", run_name="__main__")\\n' \\
    > $site/vllm/entrypoints/cli/main.py \\
 && printf '#!/bin/sh\\nexec /opt/venv/bin/python /stand_ins.py cache "$@"\\n' > /opt/venv/bin/lmcache \\
 && chmod +x /opt/venv/bin/lmcache
"""


class Daemon:
    """A private dockerd and the commands that talk to it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.host = f"unix://{root}/docker.sock"
        self.log = (root / "dockerd.log").open("wb")
        program = shutil.which("dockerd") or "/usr/sbin/dockerd"
        places = [f"--{name}={root / name}" for name in ("data-root", "exec-root")]
        self.process = subprocess.Popen(
            [program, "--iptables=false", "--bridge=none", "-H", self.host, f"--pidfile={root}/docker.pid", *places],
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
        )

    def wait(self) -> None:
        until = time.monotonic() + PATIENCE
        while self.docker("version", check=False).returncode:
            assert self.process.poll() is None, (self.root / "dockerd.log").read_text()[-2000:]
            assert time.monotonic() < until, (self.root / "dockerd.log").read_text()[-2000:]
            time.sleep(0.3)

    def docker(self, *args: str, check: bool = True, **more) -> subprocess.CompletedProcess[str]:
        env = {"PATH": os.environ["PATH"], "HOME": str(self.root), "DOCKER_HOST": self.host, "DOCKER_BUILDKIT": "0"}
        done = subprocess.run(["docker", *args], capture_output=True, text=True, check=False, env=env, **more)
        assert not (check and done.returncode), done
        return done

    def serve(self, *args: str, **variables: str) -> subprocess.CompletedProcess[str]:
        env = {"PATH": os.environ["PATH"], "HOME": str(self.root), "DOCKER_HOST": self.host, **variables}
        command = [sys.executable, "-m", "lilserve", *args]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=env, cwd=ROOT, timeout=300)

    def inspect(self, name: str):
        return json.loads(self.docker("inspect", name).stdout)[0]

    def names(self) -> list[str]:
        return self.docker("ps", "--all", "--format", "{{.Names}}").stdout.split()

    def end(self) -> None:
        """By its own process id, and only then its directories."""
        os.kill(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.kill(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.log.close()
        for mounted in [
            row.split()[1] for row in Path("/proc/mounts").read_text().splitlines() if str(self.root) in row
        ]:
            subprocess.run(["umount", "-l", mounted], check=False)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    if os.geteuid():
        pytest.skip("a private dockerd needs root")
    subprocess.run([ROOT / ".ci" / "container-parts", PARTS], check=True, timeout=1200)
    started = Daemon(tmp_path_factory.mktemp("docker"))
    try:
        started.wait()
        yield started
    finally:
        with suppress(AssertionError):
            for name in started.names():
                started.docker("rm", "--force", "--volumes", name, check=False)
        started.end()


@pytest.fixture(scope="module")
def image(daemon, tmp_path_factory):
    """The project's Dockerfile on a debootstrap base, from a wheelhouse, without a network."""
    context = tmp_path_factory.mktemp("context")
    for name in CONTEXT:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, context / name)
    shutil.copy(ROOT / ".dockerignore", context / ".dockerignore")
    shutil.copytree(PARTS / "wheelhouse", context / ".wheelhouse")
    daemon.docker("import", str(PARTS / "base.tar"), BASE)
    layers = [f"--build-arg={name}={BASE}" for name in ("BASE_IMAGE", "ENGINE_IMAGE")]
    own = ["--network=none", "--build-arg=WHEELHOUSE=.wheelhouse", f"--file={ROOT / 'Dockerfile'}"]
    daemon.docker("build", "-t", IMAGE, *own, *layers, str(context), timeout=1200)
    return IMAGE


@pytest.fixture(scope="module")
def serving(daemon, image, tmp_path_factory):
    """The image with stand-ins where the engine and the cache server are."""
    context = tmp_path_factory.mktemp("stand-ins")
    shutil.copy(ROOT / "tests" / "e2e" / "container_stand_ins.py", context)
    (context / "Dockerfile").write_text(STAND_INS.format(image=image))
    daemon.docker("build", "--network=none", "-t", SERVING, str(context), timeout=600)
    return SERVING


def run(daemon, image, *args, **variables):
    given = [token for name, text in variables.items() for token in ("--env", f"{name}={text}")]
    return daemon.docker("run", "--rm", "--network", "none", *given, image, *args, check=False)


def same_as_golden(printed, mode):
    golden = json.loads((ROOT / "tests" / "golden" / f"qwen38-flash-next.rtx-pro-6000-pcie.{mode}.json").read_text())
    assert printed["argv"] == golden["argv"]
    for name, wanted in golden["environment_includes"].items():
        assert {key: printed["environment"][name][key] for key in wanted} == wanted
    service = golden["cache_service"]
    assert (printed["cache_service"] is None) == (service is None)
    if service:
        shown = printed["cache_service"]
        assert shown["argv"] == service["argv"]
        assert service["environment_includes"].items() <= shown["environment"].items()


def test_the_image_prints_the_golden_plan(daemon, image):
    done = run(daemon, image, *LAUNCH, "--print-config", "--", "--cache-mode", "lmcache")
    assert done.returncode == 0, done
    same_as_golden(json.loads(done.stdout), "lmcache")


def test_variables_select_without_arguments(daemon, image):
    chosen = {"LIL_SERVE_PROFILE": LAUNCH[1], "LIL_SERVE_HARDWARE": LAUNCH[3], "LIL_SERVE_CACHE_MODE": "lmcache"}
    done = run(daemon, image, "--print-config", **chosen)
    assert done.returncode == 0, done
    same_as_golden(json.loads(done.stdout), "lmcache")


def test_the_image_has_the_same_digest_as_this_checkout(daemon, image):
    words = (*LAUNCH, "--print-config", "--", "--cache-mode", "lmcache")
    inside, outside = run(daemon, image, *words), daemon.serve(*words)
    assert json.loads(inside.stdout)["digest"] == json.loads(outside.stdout)["digest"]


def test_the_image_bakes_in_no_setting_that_documents_own(daemon, image):
    config = daemon.inspect(image)["Config"]
    assert config["Entrypoint"] == ["lil-serve"]
    assert {"org.opencontainers.image.title", "org.opencontainers.image.version"} <= set(config["Labels"])
    names = {row.partition("=")[0] for row in config["Env"]}
    assert not [name for name in names if name.startswith(FAMILIES)]
    printed = json.loads(run(daemon, image, *LAUNCH, "--print-config").stdout)
    assert not names & set(printed["environment"])


def test_a_wrong_word_in_a_container_is_one_clean_error_with_status_2(daemon, image):
    done = run(daemon, image, "--profile", "nobody", "--print-config")
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")


def free_port():
    """A port whose three cache ports are free too."""
    for port in range(21000, 30000, 7):
        try:
            for one in (port, port + 10000, port + 10001, port + 10002):
                socket.create_server(("127.0.0.1", one)).close()
        except OSError:
            continue
        return port
    raise AssertionError


def ask(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
        return json.load(answer)


@pytest.fixture
def up(daemon, serving):
    """The words that bring the pair up on a free port, and the port."""
    port = free_port()
    housing = ("--image", serving, "--name", "pair", "--network", "host", "--gpus", "none", "--memlock", "65536")
    engine = ("--cache-mode", "lmcache", "--cache-l1-gib", "1", "--cache-l1-init-gib", "1", "--port", str(port))
    yield ("up", *LAUNCH, *housing, "--load-budget", "120"), ("--", *engine), port
    daemon.serve("down", "--all")


def test_up_status_logs_and_down_leave_nothing_behind(daemon, up):
    words, engine, port = up
    done = daemon.serve(*words, *engine, VLLM_API_KEY="not-to-be-seen")
    assert done.returncode == 0, done
    assert "weights loaded" in done.stderr
    assert "ready: pair" in done.stderr

    seen = ask(port, "/seen")
    plan = json.loads(daemon.serve(*LAUNCH, "--print-config", *engine).stdout)
    assert ["serve", *seen["argv"][1:]] == plan["argv"][3:]
    for name, leaf in plan["environment"].items():
        assert seen["environ"][name] == leaf["value"]
    assert seen["environ"]["VLLM_API_KEY"] == "not-to-be-seen"
    assert "LIL_SERVE_PROFILE" not in seen["environ"]

    found = daemon.inspect("pair")
    assert found["HostConfig"]["ShmSize"] == (1 + 8) << 30
    assert found["HostConfig"]["Init"] is True
    assert found["HostConfig"]["Ulimits"] == [{"Name": "memlock", "Hard": 65536, "Soft": 65536}]
    assert found["HostConfig"]["RestartPolicy"]["Name"] in ("", "no")
    assert found["Config"]["StopTimeout"] == 40
    assert found["Config"]["Labels"]["lil-serve.managed"] == "true"

    again = daemon.serve(*words, *engine, VLLM_API_KEY="not-to-be-seen")
    assert again.returncode == 0
    assert "already up" in again.stderr
    assert daemon.inspect("pair")["Id"] == found["Id"]
    other = daemon.serve(*words, *engine, "--max-num-seqs", "8", VLLM_API_KEY="not-to-be-seen")
    assert other.returncode == 2
    assert "runs something else" in other.stderr

    (row,) = json.loads(daemon.serve("status", "--json").stdout)
    assert (row["name"], row["state"], row["cache_mode"]) == ("pair", "healthy", "lmcache")
    logs = daemon.serve("logs", "pair").stdout
    assert "LMCache is ready" in logs
    assert "not-to-be-seen" not in logs

    begun = time.monotonic()
    down = daemon.serve("down", "pair")
    assert down.returncode == 0, down
    assert time.monotonic() - begun < 30
    assert "pair" not in daemon.names()
    assert daemon.serve("status").stdout == "nothing is up\n"
    assert daemon.serve("down", "pair").returncode == 0


def test_a_stopped_pair_ends_engine_first_with_143(daemon, up):
    words, engine, _ = up
    assert daemon.serve(*words, *engine).returncode == 0
    daemon.docker("stop", "pair")
    state = daemon.inspect("pair")["State"]
    assert (state["Status"], state["ExitCode"]) == ("exited", 143)
    lines = daemon.docker("logs", "pair")
    text = lines.stdout + lines.stderr
    assert text.index("engine got SIGTERM") < text.index("cache got SIGTERM")
    (row,) = json.loads(daemon.serve("status", "--json").stdout)
    assert (row["state"], row["exit"]) == ("exited", 143)
    # Up again makes it anew.
    again = daemon.serve(*words, *engine)
    assert again.returncode == 0, again


KILL = """
import os, signal, sys
for pid in filter(str.isdigit, os.listdir("/proc")):
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        words = file.read().decode().split("\\0")
    if sys.argv[1] in words and "lil-serve" not in "".join(words[:2]) and "run" not in words[:3] and "-c" not in words:
        os.kill(int(pid), signal.SIGKILL)
"""


@pytest.mark.parametrize(
    ("victim", "status", "told"),
    [("vllm.entrypoints.cli.main", 137, "engine ended by SIGKILL"), ("/stand_ins.py", 1, "LMCache ended by SIGKILL")],
    ids=["engine", "cache"],
)
def test_a_container_does_not_outlive_either_of_its_servers(daemon, up, victim, status, told):
    words, engine, _ = up
    assert daemon.serve(*words, *engine).returncode == 0
    daemon.docker("exec", "pair", "/opt/venv/bin/python", "-c", KILL, victim)
    assert daemon.docker("wait", "pair", timeout=60).stdout.strip() == str(status)
    logs = daemon.docker("logs", "pair")
    assert told in logs.stdout + logs.stderr


def test_the_printed_docker_command_runs_the_same_and_refuses_an_edit(daemon, up):
    words, engine, port = up
    text = daemon.serve(*words, "--dry-run", *engine).stdout
    assert text.startswith("docker run ")
    env = {"PATH": os.environ["PATH"], "HOME": str(daemon.root), "DOCKER_HOST": daemon.host}
    edited = text.replace("--max-num-seqs 16", "--max-num-seqs 15").replace(
        "--detach --name pair", "--rm --name edited"
    )
    assert edited != text
    refused = subprocess.run(["sh", "-c", edited], capture_output=True, text=True, check=False, env=env, timeout=60)
    assert refused.returncode == 2
    assert "not the one that was rendered" in refused.stderr
    subprocess.run(["sh", "-c", text], check=True, env=env, timeout=60, capture_output=True)
    assert daemon.serve(*words, *engine).returncode == 0
    assert ask(port, "/seen")["argv"][0] == "serve"


def test_a_foreign_container_is_left_alone(daemon, up, image):
    words, engine, _ = up
    daemon.docker("run", "--detach", "--name", "pair", "--network", "none", "--entrypoint", "sleep", image, "600")
    try:
        taken = daemon.serve(*words, *engine)
        assert taken.returncode == 2
        assert "not ours" in taken.stderr
        assert daemon.serve("down", "pair").returncode == 2
        assert daemon.serve("down", "--all").returncode == 0
        assert "pair" in daemon.names()
    finally:
        daemon.docker("rm", "--force", "pair")


def test_a_container_that_ends_while_it_starts_gives_its_own_status(daemon, image, up):
    words, engine, _ = up
    broken = [image if word == SERVING else word for word in words]
    done = daemon.serve(*broken, *engine)
    assert done.returncode == 2, done
    assert "cannot be started" in done.stderr
    assert daemon.serve("down", "pair").returncode == 0
