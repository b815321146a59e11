"""What variables select, what they set, what is dropped with a word, and what passes by unseen."""

from __future__ import annotations

import pytest


def test_a_listed_family_is_kept_and_digested_and_everything_else_passes_by(toy):
    plan = toy.plan(environ={"NCCL_DEBUG": "INFO", "HOME": "/root", "CUDA_VISIBLE_DEVICES": "0", "EDITOR": "ed"})
    assert {"NCCL_DEBUG", "CUDA_VISIBLE_DEVICES"} <= set(plan.environment)
    assert not {"HOME", "EDITOR"} & set(plan.environment)
    assert not {"HOME", "EDITOR", "NCCL_DEBUG"} & set(plan.dropped)


def test_a_name_that_a_document_writes_is_listed_when_the_process_has_it(toy):
    assert toy.trail("TOY_ARCH", environ={"TOY_ARCH": "mine"}) == [
        ("hardware:box", "crate"),
        ("environment:TOY_ARCH", "mine"),
    ]


@pytest.mark.parametrize(
    "name",
    [
        "NCCL_SERVICE_HOST",
        "VLLM_SERVICE_PORT",
        "CUDA_PORT_8000_TCP_ADDR",
        "VLLM_PORT_8000_TCP",
        "OMP_SERVICE_PORT_HTTP",
    ],
)
def test_a_service_link_is_dropped_with_a_notice(toy, name):
    plan = toy.plan(environ={name: "10.0.0.1"})
    assert [(notice.code, notice.about) for notice in plan.notices] == [("service-link", name)]
    assert name in plan.dropped
    assert name not in plan.environment


def test_a_port_that_a_cluster_injected_is_an_error_naming_the_cause(toy):
    """F14: VLLM_PORT=tcp://... of a service named vllm."""
    (problem,) = toy.refusal(environ={"VLLM_PORT": "tcp://10.43.0.7:8000"})
    assert "Kubernetes injects it for a service named 'vllm'" in problem.what
    assert "enableServiceLinks: false" in problem.hint


def test_the_selection_of_ours_never_reaches_the_engine(toy):
    environ = {
        "LIL_SERVE_PROFILE": "alpha",
        "LIL_SERVE_HARDWARE": "box",
        "LIL_SERVE_POLICY": "x",
        "LIL_SERVE_MODE": "off",
    }
    plan = toy.plan(environ=environ)
    assert set(environ) <= set(plan.dropped)
    assert not set(environ) & set(plan.environment)


def test_an_assigned_variable_of_any_name_is_listed(toy):
    assert toy.plan(assigned=(("ANYTHING_AT_ALL", "1"),)).texts()["ANYTHING_AT_ALL"] == "1"


def test_a_switch_is_said_in_words(toy):
    assert toy.plan(environ={"TOY_SWITCH": "off"}).argv[-1] == "--no-toy-switch"


def test_a_mapping_in_a_variable_merges_leaf_by_leaf_for_only_the_command_line_replaces(toy):
    box = "version: 1\nkind: hardware\nid: box\noptions: {toy-map: {a: 1}}"
    assert toy.plan(box, environ={"TOY_MAP": '{"b": 2}'}).options["toy-map"].value == {"a": 1, "b": 2}
