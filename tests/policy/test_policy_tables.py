"""The README lists what is shipped, from the documents themselves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lilserve.explain.catalogue import TABLES, refreshed, table

if TYPE_CHECKING:
    from conftest import Launcher

README = Path(__file__).parents[2] / "README.md"


def test_the_readme_is_current(launch: Launcher) -> None:
    text = README.read_text(encoding="utf-8")
    assert all(f"<!-- table:{name} -->" in text for name in TABLES)
    assert refreshed(text, launch.library) == text, "run: python -m lilserve.explain.catalogue README.md"


def test_only_marked_tables_are_written(launch: Launcher) -> None:
    old = "a\n<!-- table:presets -->\nstale\n<!-- /table -->\nb\n"
    new = refreshed(old, launch.library)
    assert new == f"a\n<!-- table:presets -->\n{table('presets', launch.library)}<!-- /table -->\nb\n"
    assert refreshed(new, launch.library) == new


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("profiles", "| **original** | off, mtp, dspark | 2 | 4 | what fits | vram, lmcache |"),
        ("hardware", "| 121.69 | 273.0 | 12.1 | shared with the host | 0.85 |"),
        ("presets", "| `qwen38-flash-next` | `dgx-spark` |"),
        ("overlays", "| The vocabulary head of the target in MXFP8 | `--overlay mxfp8-head` |"),
    ],
)
def test_a_table_says_what_the_documents_say(launch: Launcher, name: str, row: str) -> None:
    assert row in table(name, launch.library)
