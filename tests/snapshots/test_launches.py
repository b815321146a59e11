"""Every launch the shipped documents make, one file each, so that a review shows what a change does to all of them.

`make snapshots` accepts what they resolve to now. The facts are fixed, so the files are equal on every host.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from syrupy.extensions.json import JSONSnapshotExtension

from lilserve.documents.library import open_library
from lilserve.explain.data import plan_data
from lilserve.lint.launches import Launch, launches

FACTS = json.loads(Path(__file__).with_name("facts.json").read_text(encoding="utf-8"))
LAUNCHES = list(launches(open_library(), FACTS))


@pytest.fixture
def snapshot(snapshot):
    return snapshot.use_extension(JSONSnapshotExtension)


def seen(launch: Launch) -> dict[str, Any]:
    """What a reviewer reads of a plan: what runs, and who said so; places would change with every line added."""
    data = plan_data(launch.plan)
    origins = {name: _origin(option) for name, option in data["options"].items()}
    return {
        "argv": data["argv"],
        "environment": {name: [leaf["value"], leaf["origin"]] for name, leaf in data["environment"].items()},
        "cache_service": data["cache_service"],
        "origins": origins,
        "overlays": data["overlays"],
        "notices": [f"{notice['level']} {notice['code']}: {notice['text']}" for notice in data["notices"]],
    }


def _origin(option: dict[str, Any]) -> Any:
    return (
        option["origin"]
        if "origin" in option
        else {at: leaf["origin"] for at, leaf in option.get("leaves", {}).items()}
    )


@pytest.mark.parametrize("launch", [one for one in LAUNCHES if one.plan is not None], ids=lambda one: one.name)
def test_what_resolves(launch: Launch, snapshot):
    assert seen(launch) == snapshot


def test_what_is_refused_and_why(snapshot):
    refused = {one.name: [problem.what for problem in one.refused] for one in LAUNCHES if one.plan is None}
    assert refused == snapshot


def test_no_launch_fails_by_a_fault_of_the_documents():
    assert {one.name: [problem.what for problem in one.faults] for one in LAUNCHES if one.faults} == {}
