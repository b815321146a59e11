"""A document's blocks as they are written: an emptied block is none, a nulled value removes."""

from __future__ import annotations

from lilserve.documents.load import load

EMPTIED = b"""
version: 1
kind: profile
id: emptied
title:
engine: toy
options: # all of it is a comment now
environment:
modes: {fast: {options: , draft-tokens: 2}}
derive:
checkpoints: {a: {default: null, environment: {A: null}, options: {toy-size: null, toy-map: {b: null}}}}
cache: {remote: {facts: {workers: null}}}
require: [{that: 'true', else: no, hint: }]
"""


def test_the_key_of_a_block_without_a_value_is_not_written():
    data = load(EMPTIED, "a.yaml", {}).data
    assert not {"title", "options", "environment", "derive"} & set(data)
    assert data["modes"] == {"fast": {"draft-tokens": 2}}
    assert data["require"] == [{"that": "true", "else": "no"}]


def test_a_null_option_variable_or_fact_is_kept_for_it_says_something():
    data = load(EMPTIED, "a.yaml", {}).data
    assert data["checkpoints"]["a"] == {
        "environment": {"A": None},
        "options": {"toy-size": None, "toy-map": {"b": None}},
    }
    assert data["cache"]["remote"]["facts"] == {"workers": None}


def test_an_emptied_block_serves(toy):
    text = EMPTIED.decode().replace("engine: toy", "engine: toy\nextends: alpha").lstrip()
    plan = toy.plan(text, profile="emptied", tokens=["--mode", "fast"])
    assert plan.options["draft-tokens"].value == 2
