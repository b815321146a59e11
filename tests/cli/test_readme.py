"""The README is run: every console example prints what stands there, every document in it is used.

`README=write pytest tests/cli/test_readme.py` puts what is printed now into the README.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest
import yaml

from lilserve.cli.main import VERBS
from lilserve.documents.models import Profile
from lilserve.host.gpus import COLUMNS
from lilserve.resolution.expressions import VARIABLES, compile_text
from lilserve.resolution.facts import FACTS
from lilserve.resolution.figures import GPU, NEEDED, PARTICULAR

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)
EXAMPLE = re.compile(r"<!-- example: ([a-z-]+) -->\n```yaml\n(.*?)```", re.DOTALL)
PLACES = {"my-model": "my-policy/my-model.yaml", "settings": "settings.yaml"}


def table(after):
    """The rows of the table that a mark or its own head begins, each a list of its cells."""
    lines = TEXT.partition(after)[2].lstrip("\n").partition("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return rows[next(index for index, row in enumerate(rows) if set(row) == {"---"}) + 1 :]


def names(cells):
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


@pytest.fixture
def reader(project):
    """A directory with the documents that the README asks for, under the names it gives them."""
    found = dict(EXAMPLE.findall(TEXT))
    assert set(found) == set(PLACES)
    for name, text in found.items():
        project.write(PLACES[name], text)
    return project


def printed(reader, block):
    """The commands of a block, each with what it prints now."""
    lines = []
    for line in block.splitlines():
        if line.startswith("$ "):
            program, *args = shlex.split(line[2:])
            assert program == "lil-serve"
            words = reader.run(*args)
            assert words.status == 0, (line, words)
            lines += [line, *words.out.splitlines()]
    return "".join(line + "\n" for line in lines)


def test_every_console_example_prints_what_stands_there(reader):
    now = CONSOLE.sub(lambda found: f"```console\n{printed(reader, found[1])}```", TEXT)
    if os.environ.get("README") == "write":
        README.write_text(now, encoding="utf-8")
    assert len(CONSOLE.findall(TEXT)) >= 3
    assert now == TEXT, "run: README=write .venv/bin/pytest tests/cli/test_readme.py"


def test_the_model_of_the_readme_keeps_its_promise(reader):
    words = reader.run("--policy", "my-policy", "--profile", "my-model", "--print-config", "--", "--max-num-seqs", "9")
    words.refused("this model was never tried with 9 seats", "--max-num-seqs 8", "my-policy/my-model.yaml:")


@pytest.mark.parametrize("line", re.findall(r"^lil-serve (?!up|receipt|--locked)(.*)$", TEXT, re.MULTILINE))
def test_every_shell_example_that_starts_nothing_works(reader, line):
    assert reader.run(*shlex.split(line, comments=True)).status == 0


def test_another_type_of_cache_is_allowed_as_the_readme_says(reader):
    cells = next(cells for cells in table("not every other one:") if "kv-cache-dtype" in cells[0])
    blocks = "\n".join(name for name in names(cells[1:]))
    text = (reader.root / PLACES["my-model"]).read_text()
    mine = yaml.safe_load(text) | {key: value for key, value in yaml.safe_load(blocks).items() if key == "facts"}
    mine["options"] |= yaml.safe_load(blocks)["options"]
    reader.write(PLACES["my-model"], yaml.safe_dump(mine, sort_keys=False))
    own = ("--policy", "my-policy", "--profile", "my-model")
    assert reader.run(*own, "--print-config").data["options"]["kv-cache-dtype"]["value"] == "auto"
    reader.run(*own, "--print-config", "--", "--kv-cache-dtype", "bfloat16").refused("it takes auto, fp8")


def test_the_defaults_a_model_inherits_are_those_of_the_common_document():
    common = yaml.safe_load((ROOT / "profiles/common.yaml").read_text())["options"]
    for cells in table("not every other one:"):
        assert yaml.safe_load(names(cells)[0]).items() <= common.items()


def test_every_verb_stands_in_the_table():
    assert table("| verb | what it tells or does |") == [[f"`{name}`", verb.help] for name, verb in VERBS.items()]


def test_every_key_of_a_profile_stands_in_the_table():
    shown = [
        name.partition(":")[0] for cells in table("| key of a profile | what it holds |") for name in names(cells[:1])
    ]
    assert set(shown) == {name.replace("_", "-") for name in Profile.model_fields}


def test_the_names_that_need_a_prefix_are_in_the_common_document():
    prefixed = yaml.safe_load((ROOT / "profiles/common.yaml").read_text())["prefixed"]
    shown = re.search(r"for\s+themselves \(([^)]*)\)", TEXT)
    assert shown is not None
    assert set(names([shown[1]])) <= set(prefixed)


def test_every_variable_of_rules_and_its_members_stand_in_the_table():
    rows = {re.match(r"\w+", names(cells[:1])[0])[0]: names(cells[1:]) for cells in table("<!-- rules: variables -->")}
    assert set(rows) == set(VARIABLES)
    facts = [f"f.{group}.{name}" for group, members in FACTS.items() for name in members]
    columns = [fact for fact, _ in COLUMNS.values()]
    assert rows["f"] == [*facts, "f.gpus", *columns]
    machine = ("id", "cpu", "ceiling", *NEEDED, *PARTICULAR)
    assert rows["h"] == [f"h.{name}" for name in machine] + [f"h.gpu.{name}" for name in GPU]


def test_the_members_of_engine_and_profile_are_those_of_a_launch(toy):
    figures = toy.resolve().scope.figures
    rows = {cells[0].strip("`"): names(cells[1:]) for cells in table("<!-- rules: variables -->")}
    for variable in ("engine", "profile"):
        assert rows[variable] == [f"{variable}.{name}" for name in rows_of(figures[variable], rows[variable])]
    assert {f"h.{name}" for name in figures["h"] if name != "gpu"} <= set(rows["h"])


def rows_of(members, shown):
    """The members in the order in which they are shown; those that are not shown come last."""
    order = [name.partition(".")[2] for name in shown]
    return sorted(members, key=lambda name: order.index(name) if name in order else len(order))


def test_every_function_of_rules_stands_in_the_table_and_compiles():
    source = (ROOT / "lilserve/resolution/expressions.py").read_text()
    declared = re.findall(r'_overload\(\s*"(\w+)"', source)
    calls = [name for cells in table("<!-- rules: functions -->") for name in names(cells[:1])]
    assert sorted(re.match(r"\w+", call)[0] for call in calls) == sorted(declared)
    for call in calls:
        name, _, inside = call.rstrip(")").partition("(")
        arguments = ", ".join(f'dyn(o["{one.strip()}"])' for one in inside.split(","))
        compile_text(f"{name}({arguments})")


@pytest.mark.parametrize("path", sorted(set(re.findall(r"\]\((?!https?:)([^)#]+)\)", TEXT))))
def test_a_link_leads_to_a_file(path):
    assert (ROOT / path).exists()


def test_every_target_of_make_that_the_readme_names_is_there():
    targets = re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    named = set(re.findall(r"\bmake ([a-z0-9-]+)\b", TEXT)) - {"it"}
    assert {"demo", "test", "demo-serve", "e2e", "bench"} <= named <= set(targets)
