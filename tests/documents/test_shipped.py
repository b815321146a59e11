"""The shipped documents are found from a checkout, an installed wheel and a zipped wheel, and are the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from lilserve.documents.shipped import shipped_files

ROOT = Path(__file__).parents[2]
FACTS = Path(__file__).parents[1] / "toy/facts.json"
PLAN = ("--profile", "qwen38-flash-next", "--hardware", "rtx-pro-6000-pcie", "--facts", str(FACTS), "--print-config")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel of a copy of the checkout: building one writes into the tree it is built from."""
    tree, folder = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("wheel")
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file() and not name.startswith("tests/"):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_bytes((ROOT / name).read_bytes())
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*build, "--wheel-dir", str(folder), str(tree)], check=True, capture_output=True, timeout=300)
    (built,) = folder.glob("*.whl")
    return built


def run(path, *args, cwd):
    """The command with the package of `path` in front of the one under test, and what it printed."""
    script = "import sys, lilserve.cli.main as m; sys.stderr.write(m.__file__); sys.exit(m.main())"
    done = subprocess.run(
        [sys.executable, "-c", script, *args],
        cwd=cwd,
        env={"PATH": os.defpath, "PYTHONPATH": str(path), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr.startswith(str(path)), done.stderr
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_checkout_shows_its_documents_by_their_place_in_it():
    assert dict(shipped_files())["profiles/common.yaml"] == (ROOT / "profiles/common.yaml").read_bytes()


def test_every_document_of_the_checkout_is_shipped():
    written = {
        str(path.relative_to(ROOT))
        for tree in ("profiles", "hardware", "overlays", "lilserve/engine/engines")
        for path in (ROOT / tree).rglob("*.yaml")
    }
    assert {path for path, _ in shipped_files()} == written


def test_a_wheel_carries_documents_compiled_forms_catalogs_and_schemas(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {
        *("lilserve/shipped/profiles/common.yaml", "lilserve/shipped/overlays/cache/lmcache.yaml"),
        *("lilserve/compiled.json", "lilserve/compiled_rules.json", "lilserve/schemas/profile.schema.json"),
        *("lilserve/engine/engines/lil.yaml", "lilserve/engine/catalogs/vllm-0.29.0.json"),
    } <= names
    assert not [name for name in names if name.startswith("tests/")]


@pytest.mark.parametrize("form", ["installed", "zipped"])
def test_a_wheel_prints_the_plan_of_the_checkout(wheel, tmp_path, form):
    package = wheel
    if form == "installed":
        package = tmp_path / "site"
        zipfile.ZipFile(wheel).extractall(package)
    mine = json.loads(run(ROOT, *PLAN, "--", "--cache-mode", "lmcache", cwd=tmp_path))
    assert json.loads(run(package, *PLAN, "--", "--cache-mode", "lmcache", cwd=tmp_path)) == mine


@pytest.mark.parametrize("form", ["installed", "zipped"])
def test_a_wheel_lists_the_documents_of_the_checkout(wheel, tmp_path, form):
    package = wheel
    if form == "installed":
        package = tmp_path / "site"
        zipfile.ZipFile(wheel).extractall(package)
    assert json.loads(run(package, "list", "--json", cwd=tmp_path)) == json.loads(
        run(ROOT, "list", "--json", cwd=tmp_path)
    )


def test_the_form_that_a_wheel_carries_is_of_the_code_and_the_documents_it_carries(wheel, tmp_path):
    """A stale form is impossible: in the wheel every document is found in it, and a touched one is not."""
    zipfile.ZipFile(wheel).extractall(tmp_path)
    profile = tmp_path / "lilserve/shipped/profiles/qwen38-flash-next.yaml"
    before = json.loads(run(tmp_path, *PLAN, cwd=tmp_path))
    parsers = "import sys; from lilserve.cli.main import main; main(); sys.exit('yaml' in sys.modules)"
    environment = {"PATH": os.defpath, "PYTHONPATH": str(tmp_path)}
    words = [sys.executable, "-c", parsers, *PLAN]
    assert (
        subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, check=False, timeout=60).returncode
        == 0
    )
    text = profile.read_text()
    profile.write_text(text.replace("served-model-name: Qwen3.8-Flash-Next", "served-model-name: Touched"))
    after = json.loads(run(tmp_path, *PLAN, cwd=tmp_path))
    assert before["options"]["served-model-name"]["value"] == "Qwen3.8-Flash-Next"
    assert after["options"]["served-model-name"]["value"] == "Touched"
