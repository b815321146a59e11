"""What a file may claim of a host: known facts of their type; a null is a fact that is not known."""

from __future__ import annotations

import pytest

from lilserve.resolution.facts import known_facts


def judged(claimed):
    problems = []
    return known_facts(claimed, problems), [problem.what for problem in problems]


def test_known_facts_pass_and_whole_numbers_of_gib_become_numbers():
    facts, problems = judged({"memory": {"total_gib": 64}, "gpus": [{"name": "A", "memory_gib": 96}]})
    assert problems == []
    assert facts == {"memory": {"total_gib": 64.0}, "gpus": [{"name": "A", "memory_gib": 96.0}]}
    assert isinstance(facts["memory"]["total_gib"], float)


def test_a_null_is_a_fact_that_is_not_known():
    assert judged({"kernel": {"release": None}, "cpu": None}) == ({"kernel": {}}, [])


@pytest.mark.parametrize(
    ("claimed", "told"),
    [
        ({"kernal": {}}, "unknown group of facts 'kernal'"),
        ({"kernel": {"relase": "6"}}, "unknown fact 'kernel.relase'"),
        ({"gpus": [{"memory": 4}]}, "unknown fact 'gpus[0].memory'"),
        ({"kernel": 5}, "the facts kernel are an object, not 5"),
        ({"gpus": {"name": "A"}}, "the facts gpus are a list, not {'name': 'A'}"),
        ({"kernel": {"page_size": "4096"}}, "the fact kernel.page_size is a whole number, not '4096'"),
        ({"kernel": {"page_size": True}}, "the fact kernel.page_size is a whole number, not True"),
        ({"kernel": {"wsl2": 1}}, "the fact kernel.wsl2 is true or false, not 1"),
    ],
)
def test_what_is_no_fact_is_told(claimed, told):
    _, problems = judged(claimed)
    assert problems == [told]
