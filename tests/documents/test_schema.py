"""Schemas are generated from the document models, checked in, and hold for every shipped file."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from lilserve.documents.models import KINDS
from lilserve.documents.schema import schema_text
from lilserve.documents.shipped import shipped_files
from lilserve.documents.source import parse

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "lilserve/schemas"
SHIPPED = dict(shipped_files())


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_is_the_one_that_the_models_give(kind):
    checked_in = (SCHEMAS / f"{kind}.schema.json").read_text()
    assert checked_in == schema_text(kind), "run: make schemas"


def test_there_is_a_schema_for_every_kind_and_no_other():
    assert sorted(path.name for path in SCHEMAS.iterdir()) == sorted(f"{kind}.schema.json" for kind in KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_is_valid_draft_07(kind):
    schema = json.loads((SCHEMAS / f"{kind}.schema.json").read_text())
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    jsonschema.Draft7Validator.check_schema(schema)


@pytest.mark.parametrize("path", SHIPPED)
def test_a_shipped_file_holds_by_its_schema_and_names_it_for_editors(path):
    data = parse(SHIPPED[path], path).data
    schema = json.loads((SCHEMAS / f"{data['kind']}.schema.json").read_text())
    errors = [error.message for error in jsonschema.Draft7Validator(schema).iter_errors(data)]
    assert errors == []
    first = SHIPPED[path].decode().splitlines()[0]
    named = first.removeprefix("# yaml-language-server: $schema=")
    assert named != first
    assert (ROOT / path).parent.joinpath(named).resolve() == SCHEMAS / f"{data['kind']}.schema.json"


def test_the_schema_refuses_what_the_program_refuses():
    schema = json.loads((SCHEMAS / "profile.schema.json").read_text())
    wrong = yaml.safe_load("{version: 1, kind: profile, id: x, optons: {}}")
    assert not jsonschema.Draft7Validator(schema).is_valid(wrong)
