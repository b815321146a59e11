"""What a person reads of each home, one file a case in its own format."""

from __future__ import annotations

import pytest
from render_plans import ENGINE, SERVICE, container, plan
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from lilserve.render.targets import TARGETS

SUFFIXES = {"docker": "sh", "ranks": "sh", "quadlet": "container"}
ENVIRONMENT = {"OMP_NUM_THREADS": "2", "TEMPLATE": "$HOME 100% 'x'\n", "VLLM_API_KEY": "never-shown"}


@pytest.fixture
def native(snapshot, request):
    """A snapshot whose file ends as the rendering's would."""

    class Native(SingleFileSnapshotExtension):
        _write_mode = WriteMode.TEXT
        file_extension = SUFFIXES.get(request.getfixturevalue("target"), "yaml")
        _file_extension = file_extension

    return snapshot.use_extension(Native)


def ranks():
    made = []
    for rank in (0, 1):
        options = {"nnodes": 2, "tensor-parallel-size": 2, "master-addr": "10.0.0.1", "node-rank": rank}
        headless = ("--headless",) if rank else ()
        flags = (*headless, "--master-addr", "10.0.0.1", "--nnodes", "2", "--node-rank", str(rank))
        own = options | ({"headless": True} if rank else {})
        made.append(container(plan((*ENGINE, *flags), ENVIRONMENT, options=own), name="group", network="host"))
    return made


@pytest.mark.parametrize("target", TARGETS)
def test_a_rendering_reads_like_this(target, native):
    made = ranks() if TARGETS[target].several else [container(plan(environment=ENVIRONMENT, service=SERVICE))]
    assert TARGETS[target].text(made) == native
