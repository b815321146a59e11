"""Plans by hand for the supervisor's tests: stand-ins on free ports, and the driver that runs one in a process."""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path

from lilserve.cache.model import Service
from lilserve.errors import LilServeError
from lilserve.origin import Written
from lilserve.plan.model import Leaf, Option, Plan
from lilserve.run import run
from lilserve.run.limits import Limits

HERE = Path(__file__).parent
PYTHON = (sys.executable, "-I", "-S", "-E")


def leaf(value):
    return Leaf((Written(value, "test"),))


def free_ports(count):
    """Ports that were free just now, all different."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def plan(argv, service=None, *, grace=5.0, environment=None, dropped=(), options=None, removed=()):
    return Plan(
        profile="tiny",
        hardware="cpu",
        cache_mode="lmcache" if service else "vram",
        engine="stand-in",
        catalog="none",
        release="0",
        argv=tuple(argv),
        options={
            name: Option(name, value, {"": leaf(value)})
            for name, value in {"host": "127.0.0.1", **(options or {})}.items()
        },
        environment={name: leaf(value) for name, value in (environment or {}).items()},
        removed={name: leaf("") for name in removed},
        dropped=tuple(dropped),
        cache_service=service,
        overlays=(),
        notices=(),
        stop_grace=grace,
        stop_grace_set=True,
        digest="0" * 64,
    )


def pair(engine=(), cache=(), *, notes=None, grace=5.0, arena=None, size=4096, **more):
    """A plan of two stand-ins with further arguments each."""
    engine_port, cache_port = free_ports(2)
    stand_in = (*PYTHON, str(HERE / "run_stand_in.py"))
    kept = ("--notes", str(notes)) if notes else ()
    own = ("--arena", arena, "--bytes", str(size)) if arena else ()
    service = Service(
        argv=(*stand_in, "cache", "--http-port", str(cache_port), "--listen", str(cache_port), *own, *kept, *cache),
        environment={"CUDA_VISIBLE_DEVICES": ""},
        health_url=f"http://127.0.0.1:{cache_port}/healthcheck",
        shm_name=arena,
        shm_bytes=size if arena else None,
        **{name: more.pop(name) for name in ("disk_path", "disk_bytes", "l1_bytes") if name in more},
    )
    argv = (*stand_in, "engine", "--listen", str(engine_port), *kept, *engine)
    options = {"port": engine_port, **more.pop("options", {})}
    return plan(argv, service, grace=grace, options=options, **more)


def quick(**figures):
    """Limits for tests: as the plan's, with short waits."""
    return {"interval": 0.1, "timeout": 0.3, "retry": 0.05, "ready": 5.0, "progress": 1.0, "starting": 0.02} | figures


def drive(made, figures=None):
    """What the command does with a plan: run it, and turn a refusal into text and its status."""
    limits = Limits(grace=made.stop_grace, **(figures or quick()))
    try:
        return run(made, os.environ, limits)
    except LilServeError as error:
        for problem in error.problems:
            sys.stderr.write(f"error: {problem.what}\n  hint: {problem.hint}\n")
        return error.exit_code


if __name__ == "__main__":
    words = json.loads(sys.argv[1])
    figures = words.pop("figures", None)
    if words.pop("alone", False):
        engine = words.pop("engine")
        words.pop("notes", None)
        sys.exit(drive(plan(engine, **words), figures))
    sys.exit(drive(pair(**words), figures))
