"""Plans by hand for the renderers: any argv and any environment, nothing resolved."""

from __future__ import annotations

import pytest

from lilserve.cache.model import Service
from lilserve.errors import ConfigurationError
from lilserve.origin import Written
from lilserve.plan.digest import digest
from lilserve.plan.model import Leaf, Option, Plan
from lilserve.plan.redact import redact
from lilserve.render.container import Wishes, container_of

IMAGE = "registry.example/lilserve:1.0"
ENGINE = ("engine", "serve", "org/model")
GPU = {"name": "NVIDIA Any", "count": 2}
ANYWHERE = "0.0.0.0"  # noqa: S104 -- the default of every launch
EMPTY = {"service": None, "grace": 30, "options": {}, "figures": {}, "removed": (), "files": {}}
SERVICE = Service(
    ("cache", "server", "--port", "18000"),
    {"CUDA_VISIBLE_DEVICES": "", "PYTHONHASHSEED": "0"},
    "http://127.0.0.1:18001/healthcheck",
    "pool",
    24 << 30,
    24 << 30,
    None,
    None,
    "engine_driven",
)


def leaf(value):
    return Leaf((Written(value, "test"),))


def plan(argv=ENGINE, environment=None, **more):
    """A plan of this argv and environment; `more` are service, grace, options, figures, removed and files."""
    return _plan(argv, environment or {}, **{**EMPTY, **more})


def _plan(argv, texts, *, service, grace, options, figures, removed, files):  # noqa: PLR0913 -- rows of EMPTY
    chosen = {"host": ANYWHERE, "port": 8000, **options}
    return Plan(
        profile="tiny",
        hardware="box",
        cache_mode="lmcache" if service else "vram",
        engine="toy",
        catalog="none",
        release="0",
        argv=tuple(argv),
        options={name: Option(name, value, {"": leaf(value)}) for name, value in chosen.items()},
        environment={name: leaf(text) for name, text in texts.items()},
        removed={name: leaf("") for name in removed},
        dropped=("LIL_SERVE_PROFILE",),
        cache_service=service,
        overlays=(),
        notices=(),
        stop_grace=grace,
        stop_grace_set=True,
        digest=digest(argv, {n: redact(t, n) for n, t in texts.items()}, service, grace, files),
        hardware_figures={"gpu": GPU, **figures},
        files=files,
    )


def container(made=None, **wishes):
    return container_of(made or plan(), Wishes(**{"image": IMAGE, **wishes}))


def problems(made=None, **wishes):
    """What is wrong with a plan and wishes, each in one sentence."""
    with pytest.raises(ConfigurationError) as caught:
        container(made, **wishes)
    assert all(problem.hint for problem in caught.value.problems)
    return [problem.what for problem in caught.value.problems]
