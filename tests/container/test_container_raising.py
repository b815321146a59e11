"""`up` twice is `up` once; what is not ours is never touched; a failed start leaves nothing."""

from __future__ import annotations

import pytest
from container_fakes import AMD, ARM, FakeDaemon, container, plan, state

from lilserve.container.choosing import named, the_only
from lilserve.container.daemon import Image
from lilserve.container.raising import bring_up, take_down
from lilserve.errors import ConfigurationError, HostError


def up(daemon, one=None, *, replace=False, environ=None):
    said = []
    found = bring_up(daemon, one or container(), environ or {}, None, replace=replace, say=said.append)
    return found, said


def problems(daemon, one=None, error=ConfigurationError, **more):
    with pytest.raises(error) as caught:
        up(daemon, one, **more)
    return [problem.what for problem in caught.value.problems]


def test_it_is_created_and_started():
    daemon = FakeDaemon()
    found, said = up(daemon)
    assert daemon.done == [("create", "one"), ("start", "id-of-one")]
    assert found.running
    assert said == ["creating one"]


def test_the_same_again_is_left_alone():
    daemon = FakeDaemon()
    up(daemon)
    daemon.done.clear()
    _, said = up(daemon)
    assert (daemon.done, said) == ([], ["one is already up"])


@pytest.mark.parametrize("status", ["exited", "created", "dead"])
def test_one_that_has_ended_is_made_anew(status):
    daemon = FakeDaemon(state(status=status, labels=dict(container().labels)))
    up(daemon)
    assert daemon.done == [("remove", "id-of-one"), ("create", "one"), ("start", "id-of-one")]


def test_another_launch_under_the_name_is_kept_until_it_may_be_replaced():
    daemon = FakeDaemon(state())
    assert problems(daemon) == ["one is up and runs something else"]
    assert daemon.done == []
    up(daemon, replace=True)
    assert daemon.done[:2] == [("stop", "one"), ("remove", "id-of-one")]


def test_another_shape_of_the_same_plan_is_another_launch():
    daemon = FakeDaemon()
    up(daemon)
    assert problems(daemon, container(memlock="65536")) == ["one is up and runs something else"]


def test_a_rebuilt_image_is_another_launch():
    daemon = FakeDaemon()
    up(daemon)
    daemon.held = Image("id-9", AMD)
    assert problems(daemon) == ["one is up and runs something else"]


def test_a_foreign_container_is_never_touched():
    daemon = FakeDaemon(state(labels={}))
    assert problems(daemon, replace=True) == ["a container one is there and not ours"]
    with pytest.raises(ConfigurationError):
        named(daemon, ["one"])
    assert daemon.done == []
    assert daemon.ours() == []


def test_a_failed_start_leaves_nothing():
    daemon = FakeDaemon(failing=HostError("no"))
    problems(daemon, error=HostError)
    assert daemon.done == [("create", "one"), ("remove", "id-of-one")]


def test_an_image_that_is_not_there_is_pulled():
    daemon = FakeDaemon(image=None)
    _, said = up(daemon)
    assert daemon.done[0] == ("pull", "lil:1")
    assert said[0] == "pulling lil:1"


def test_an_image_for_another_processor_is_refused_before_anything_is_made():
    daemon = FakeDaemon()
    arm = plan(figures={"image_arch": ARM})
    assert problems(daemon, container(arm)) == ["the image lil:1 is for linux/amd64, and box is linux/arm64"]
    assert daemon.done == []


def test_secrets_come_from_the_caller_and_from_the_plan():
    daemon = FakeDaemon()
    one = container(plan({"VLLM_API_KEY": "from-settings"}), secrets=("HF_TOKEN",))
    assert problems(daemon, one) == ["the secret HF_TOKEN is not in the environment"]
    up(daemon, one, environ={"HF_TOKEN": "mine", "VLLM_API_KEY": "weaker"})
    assert daemon.secrets == {"HF_TOKEN": "mine", "VLLM_API_KEY": "from-settings"}


def test_podman_without_gpus_is_fine_and_with_them_says_what_is_missing():
    daemon = FakeDaemon(podman=True)
    assert problems(daemon, container(gpus="1")) == ["podman 1 takes no GPU requests through its Docker API"]
    up(daemon)
    assert ("start", "id-of-one") in daemon.done


def test_down_stops_what_runs_and_removes_what_has_ended():
    daemon = FakeDaemon(state("a"), state("b", "exited"))
    for one in named(daemon, ["a", "b", "c"]):
        take_down(daemon, one, lambda _text: None)
    assert daemon.done == [("stop", "a"), ("remove", "id-of-a"), ("remove", "id-of-b")]


def test_a_name_is_not_guessed():
    assert the_only(FakeDaemon()) is None
    assert the_only(FakeDaemon(state("a"), state("foreign", labels={}))).name == "a"
    with pytest.raises(ConfigurationError, match="2 containers are ours"):
        the_only(FakeDaemon(state("a"), state("b")))
