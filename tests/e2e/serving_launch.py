"""A launch of the real engine and cache server through the command, and what is seen of it from outside."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from lilserve.run.processes import descendants

ROOT = Path(__file__).parents[2]
REAL = Path(os.environ.get("LILSERVE_REAL", ROOT / ".cache" / "real"))
SHM = Path("/dev/shm")  # noqa: S108 -- where the arena is
READY = 240.0  # s; 60 on an idle machine of two cores
PROMPT = "the quick brown fox jumps over the lazy dog; " * 7  # some 300 bytes, and a token is a byte

ENGINE = """\
version: 1
kind: engine
id: vllm-cpu
title: The real parts of the end-to-end tests
replaces: true
catalog: vllm-cpu-0.32.0
command: [{real}/engine/bin/vllm, serve]
cache-command: [{real}/cache/bin/lmcache, server]
facts:
  device: cpu
  estimates_graphs: false
"""


def policy(folder):
    """A directory for --policy whose engine is the real parts."""
    folder.mkdir(exist_ok=True)
    (folder / "engine.yaml").write_text(ENGINE.format(real=REAL.resolve()), encoding="utf-8")
    return folder


def free_port():
    """A port that is free with those of the cache beside it."""
    for port in range(21000 + os.getpid() % 1000, 50000, 7):
        try:
            for offset in (0, 10000, 10001, 10002):
                with socket.socket() as trial:
                    trial.bind(("127.0.0.1", port + offset))
        except OSError:
            continue
        return port
    raise AssertionError("no port is free")


def ask(port, path, body=None):
    """Status and JSON of a request, or None where nobody answers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        method, data = ("GET", None) if body is None else ("POST", json.dumps(body))
        connection.request(method, path, data, {"Content-Type": "application/json"})
        response = connection.getresponse()
        text = response.read()
    except OSError:
        return None
    finally:
        connection.close()
    return response.status, json.loads(text) if text else None


class Launch:
    """One `lil-serve` in a process of its own."""

    def __init__(self, folder, model, port=None):
        self.folder, self.model = folder, model
        self.port = port or free_port()
        self.process = None
        self.seen = set()

    def start(self, *words, before=(), wrap=()):
        command = [
            *wrap, sys.executable, "-m", "lilserve",
            "--profile", "tiny-cpu", "--hardware", "cpu", "--policy", str(policy(self.folder / "policy")), *before,
            "--", "--cache-mode", "lmcache", "--model", str(self.model), "--port", str(self.port),
            "--served-model-name", "tiny", *words,
        ]  # fmt: skip
        environ = {**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}
        environ["LMCACHE_TRACK_USAGE"] = "false"
        with self.log("out").open("wb") as out, self.log("err").open("wb") as err:
            self.process = subprocess.Popen(command, stdout=out, stderr=err, env=environ, cwd=self.folder)
        return self

    def log(self, which):
        return self.folder / f"log.{which}"

    def told(self):
        """The supervisor's own lines."""
        lines = self.log("err").read_text(encoding="utf-8", errors="replace").splitlines()
        return [line for line in lines if line.startswith(("lil-serve: ", "error: ", "  hint: "))]

    def arena(self):
        return SHM / f"lmcache_l1_pool_lmcache-tiny-cpu-{self.port}-{self.port + 10000}"

    def until(self, condition, what, seconds=READY):
        end = time.monotonic() + seconds
        while not condition():
            assert self.process.poll() is None, f"ended before {what}: {self.told()}"
            assert time.monotonic() < end, f"no {what}: {self.told()}"
            time.sleep(0.2)
        return self

    def ready(self):
        """The supervisor has seen the engine answer."""
        self.until(lambda: any("the engine answers" in line for line in self.told()), "answer of the engine")
        self.seen = set(descendants(self.process.pid))
        return self

    def complete(self, prompt=PROMPT, tokens=4):
        asked = {"model": "tiny", "prompt": prompt, "max_tokens": tokens, "ignore_eos": True}
        return ask(self.port, "/v1/completions", asked)

    def objects(self):
        """Objects in the cache's L1, by its status page."""
        _, status = ask(self.port + 10001, "/status")
        return status["storage_manager"]["l1_manager"]["total_object_count"]

    def side(self, name):
        """The process id of `vllm` or `lmcache`, which the supervisor itself started."""
        for pid in descendants(self.process.pid):
            command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            parent = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1]
            if int(parent) == self.process.pid and any(word.endswith(f"/{name}".encode()) for word in command):
                return pid
        raise AssertionError(f"no {name} under {self.process.pid}")

    def end(self, seconds=90.0):
        """The exit status, when nothing of the launch is left: no process, no arena, no lock, no ring."""
        status = self.process.wait(timeout=seconds)
        assert [pid for pid in self.seen if Path(f"/proc/{pid}").exists()] == []
        assert not self.arena().exists()
        assert not self.arena().with_name(f"{self.arena().name}.lock").exists()
        return status

    def close(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for pid in self.seen:
            if Path(f"/proc/{pid}").exists():
                os.kill(pid, 9)
