"""A shipped document with anything in it changed loads, resolves or is refused in words: never a traceback."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lilserve.documents.library import Library, open_library
from lilserve.documents.load import load
from lilserve.documents.model import Document
from lilserve.documents.shipped import shipped_files
from lilserve.errors import LilServeError
from lilserve.explain.data import plan_data
from lilserve.plan.build import build_plan
from lilserve.resolution.resolve import resolve
from lilserve.resolution.selection import Selection

FILES = dict(shipped_files())
ENGINES = [path for path in FILES if "/engines/" in path]
PATHS = [*sorted(FILES), *ENGINES * 5]  # few files decide how all others are read
ODD = [
    *(None, True, False, 0, -1, 1, 3, 2**62, -(2**63), 0.5, -0.0, 1e300, "", " ", "off", "auto", "None", "\n", "a\tb"),
    *(
        "o[",
        'o["port"]',
        "f.gpus",
        "f.x.y",
        "1 / 0",
        "true",
        "null",
        "${o[",
        "${1}",
        "env:X",
        "a/b/c",
        "/",
        "../x",
        "{}",
    ),
    *([], {}, [[]], {"": ""}, {"a": None}, [1, "a", None], {"options": {}}, [{}], "\N{SNOWMAN}", "x" * 5000),
]


@pytest.fixture(scope="module")
def library():
    return open_library()


def blocks(data):
    """Every mapping and list inside a document, itself included."""
    if isinstance(data, dict | list):
        yield data
        for inner in data.values() if isinstance(data, dict) else data:
            yield from blocks(inner)


def mutate(data, draw):
    """One change somewhere: a value replaced, a key removed, renamed or added, a block put in another's place."""
    data = copy.deepcopy(data)
    for _ in range(draw(st.integers(1, 3))):
        every = [block for block in blocks(data) if block]
        block = draw(st.sampled_from(every))
        key = draw(st.sampled_from(sorted(block) if isinstance(block, dict) else range(len(block))))
        what = draw(st.sampled_from(["value", "value", "value", "remove", "rename", "copy"]))
        if what == "remove":
            del block[key]
        elif what == "rename" and isinstance(block, dict):
            block[
                draw(st.sampled_from([f"{key}x", "options", "when", "derive", "to", "", "A", "toy-size", "mode"]))
            ] = block.pop(key)
        elif what == "copy":
            block[key] = copy.deepcopy(draw(st.sampled_from(every)))
        else:
            block[key] = copy.deepcopy(draw(st.sampled_from(ODD)))
        if not isinstance(data, dict) or not data:
            break
    return data


def launch(library, document, draw):
    """Resolve a launch in which the changed document takes part."""
    profiles = [one.id for one in library.all("profile") if not one.data.get("abstract")]
    machines = [one.id for one in library.all("hardware") if not one.data.get("abstract")]
    changed = Library({**library.documents, (document.kind, document.id): document})
    selection = Selection(
        profile=document.id
        if document.kind == "profile" and document.id in profiles
        else draw(st.sampled_from(profiles)),
        hardware=document.id
        if document.kind == "hardware" and document.id in machines
        else draw(st.sampled_from(machines)),
        preset=document.id if document.kind == "preset" else None,
        overlays=(document.id,) if document.kind == "overlay" and "cache-mode" not in document.data else (),
        tokens=("--model", "org/model", "--cache-mode", draw(st.sampled_from(["vram", "lmcache", "native"]))),
        facts=draw(st.sampled_from([{}, {"gpus": [], "kernel": {"release": "5.15-microsoft-standard-WSL2"}}])),
    )
    return plan_data(build_plan(resolve(changed, selection), changed))


@settings(max_examples=1500, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_changed_document_gives_a_plan_or_a_refusal(library, data):
    path = data.draw(st.sampled_from(PATHS))
    found = load(json.dumps(mutate(library_data(path), data.draw)).encode(), path, {})
    if not isinstance(found, Document):
        assert found
        assert all(problem.what and problem.at for problem in found)
        return
    try:
        said = launch(library, found, data.draw)["digest"]
    except LilServeError as error:
        said = error.problems[0].what
    assert said


def library_data(path):
    found = load(FILES[path], path, {})
    assert isinstance(found, Document)
    return found.data


@settings(max_examples=1000, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_changed_bytes_give_a_document_or_problems_with_a_place(data):
    path = data.draw(st.sampled_from(PATHS))
    raw = bytearray(FILES[path])
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(raw) - 1))
        size = data.draw(st.integers(0, 8))
        raw[at : at + size] = data.draw(
            st.binary(max_size=4) | st.sampled_from([b"\n", b": ", b"- ", b"{", b"*a", b"&a "])
        )
        if not raw:
            return
    found = load(bytes(raw), path, {})
    assert isinstance(found, Document) or all(problem.what and problem.at for problem in found)
