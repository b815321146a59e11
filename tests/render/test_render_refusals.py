"""What no rendering can carry, and what a person asks for and cannot have: one clean error each, all at once."""

from __future__ import annotations

import pytest
from render_plans import ENGINE, IMAGE, SERVICE, container, plan, problems

from lilserve.errors import ConfigurationError
from lilserve.render.kubernetes import kubernetes_text
from lilserve.render.quadlet import quadlet_text
from lilserve.render.targets import TARGETS

ARM = {"figures": {"image_arch": "linux/arm64"}}
DIGEST = IMAGE + "@sha256:" + "0" * 64
REFUSED = {
    "a GPU twice": (plan(), {"gpus": "0,0"}, "--gpus names 0 twice"),
    "more GPUs than there are": (plan(), {"gpus": "3"}, "3 GPUs are wanted, and box has 2"),
    "fewer than the launch takes": (
        plan(options={"tensor-parallel-size": 2}),
        {"gpus": "1"},
        "is 1, and this launch takes 2",
    ),
    "a launch larger than the machine": (
        plan(options={"tensor-parallel-size": 4}),
        {},
        "4 GPUs are wanted, and box has 2",
    ),
    "no GPU by number": (plan(), {"gpus": "0"}, "no GPU or the first one"),
    "a GPU that is none": (plan(), {"gpus": "first,1"}, "'first' is no GPU"),
    "GPUs mixed": (plan(), {"gpus": "0,nvidia.com/gpu=1"}, "mixes CDI names and indices"),
    "ranks that cannot be shared": (plan(options={"nnodes": 2}), {}, "which 2 machines cannot share alike"),
    "a home in a mount": (plan(), {"volumes": ("~/models:/models",)}, "only a shell knows ~"),
    "a relative mount": (plan(), {"volumes": ("./models:/models",)}, "neither an absolute path nor the name"),
    "a mount to nowhere": (plan(), {"volumes": ("/models",)}, "the place in the container is not absolute"),
    "a mount with a mode": (plan(), {"volumes": ("/a:/b:rx",)}, "unknown mode 'rx'"),
    "two mounts on one place": (plan(), {"volumes": ("/a:/b", "/c:/b/")}, "two volumes are mounted on /b"),
    "a newline in a mount": (plan(), {"volumes": ("/a\n:/b",)}, "a character that no mount can have"),
    "no digest under strict": (plan(), {"strict": True}, "has no digest"),
    "an image for another processor": (
        plan(**ARM),
        {"image": "lil:1-amd64"},
        "is for linux/amd64, and box is linux/arm64",
    ),
    "a platform for another processor": (plan(**ARM), {"platform": "linux/amd64"}, "linux/amd64 is asked for"),
    "no image": (plan(), {"image": "Not An Image"}, "is no image reference"),
    "a secret by value": (plan(), {"secrets": ("HF_TOKEN=hf_abc",)}, "takes the name of a variable, not 'HF_TOKEN'"),
    "a secret in the argv": (plan((*ENGINE, "--api-key", "hush")), {}, "--api-key holds a secret"),
    "a secret in JSON": (plan((*ENGINE, "--config", '{"password":"hush"}')), {}, "--config holds a secret"),
    "a secret of the cache": (
        plan(service=SERVICE._replace(argv=("cache", "--token", "hush"))),
        {},
        "--token holds a secret",
    ),
    "a loopback": (plan(options={"host": "127.0.0.1"}), {}, "inside a container is nobody else's"),
    "a unix socket": (plan(options={"uds": "/run/x"}), {}, "unix socket"),
    "bytes": (plan((*ENGINE, "\udcff")), {}, "bytes that are no text"),
    "bytes in a variable": (plan(environment={"A": "\udcff"}), {}, "A holds bytes"),
    "a name": (plan(), {"name": "Big_Name"}, "is no name"),
    "no time": (plan(), {"load_budget": 0}, "must be positive"),
    "a limit": (plan(), {"memlock": "8M"}, "is no limit"),
    "too small a limit": (plan(figures={"memlock_bytes": 8 << 20}), {"memlock": "4096"}, "less than the 8388608 bytes"),
}


@pytest.mark.parametrize(("made", "wishes", "text"), REFUSED.values(), ids=REFUSED)
def test_refused(made, wishes, text):
    assert any(text in what for what in problems(made, **wishes))


def test_all_problems_come_at_once():
    found = problems(plan((*ENGINE, "--api-key", "hush")), gpus="0,0", volumes=("~/a:/b",), strict=True, name="X")
    assert len(found) == 5


def test_the_hint_for_an_api_key_names_its_variable():
    with pytest.raises(ConfigurationError) as caught:
        container(plan((*ENGINE, "--api-key", "hush")))
    assert "VLLM_API_KEY" in (caught.value.problems[0].hint or "")


@pytest.mark.parametrize(
    ("image", "wishes"),
    [(DIGEST, {"strict": True}), ("lil:arm64", {}), ("charm64/lil:1", {}), ("lil:multi-amd64-arm64", {})],
)
def test_good_images(image, wishes):
    container(plan(**ARM), image=image, **wishes)


@pytest.mark.parametrize("target", ["docker", "compose", "quadlet", "kubernetes"])
def test_no_rendering_shows_a_secret(target):
    made = plan(
        environment={
            "VLLM_API_KEY": "hush-hush-1",
            "OMP_NUM_THREADS": "2",
            "VLLM_URL": "http://user:hush-hush-2@host/",
        },
        service=SERVICE,
    )
    one = container(made, secrets=("HF_TOKEN",), present=frozenset({"HUGGING_FACE_HUB_TOKEN"}))
    assert one.secrets == ("VLLM_API_KEY", "VLLM_URL", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
    text = TARGETS[target].text([one])
    assert "hush-hush" not in text
    for name in one.secrets:
        assert name in text


def test_a_cluster_chooses_its_gpus_and_pulls_its_image():
    for wishes in ({"gpus": "0,1"}, {"gpus": "all"}, {"image": "lilserve:latest"}, {"network": "none"}):
        with pytest.raises(ConfigurationError):
            kubernetes_text(container(**wishes))


@pytest.mark.parametrize("token", ["", ";"])
def test_podmans_generator_loses_some_arguments(token):
    with pytest.raises(ConfigurationError, match="takes for an end"):
        quadlet_text(container(plan((*ENGINE, token))))


def test_io_uring_needs_a_profile_and_says_so():
    made = plan(figures={"io_uring": True})
    assert [notice.code for notice in container(made).notices] == ["io-uring"]
    assert container(made, seccomp="unconfined").notices == ()
