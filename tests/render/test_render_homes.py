"""Each rendering is valid for its home, offline, and says what the home needs to run a slow, large, careful server."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import kubernetes_validate
import pytest
import yaml
from render_parsing import entries, manifests
from render_plans import ENGINE, IMAGE, SERVICE, container, plan, problems

from lilserve.render.compose import compose_text
from lilserve.render.docker import docker_tokens
from lilserve.render.kubernetes import kubernetes_text
from lilserve.render.leaderworkerset import leaderworkerset_text
from lilserve.render.quadlet import quadlet_text
from lilserve.render.ranks import ranks_text

SCHEMAS = Path(__file__).parent / "schemas"
VARIANTS = {
    "vram": (plan(environment={"A": "$1"}), {}),
    "lmcache": (plan(service=SERVICE), {}),
    "cuda-ipc": (plan(service=SERVICE._replace(shm_name=None, shm_bytes=None, transfer_mode="lmcache_driven")), {}),
    "no gpus": (plan(figures={"gpu": {}}), {}),
    "host network": (plan(), {"network": "host", "ipc": "host", "memlock": "unlimited"}),
    "secret": (
        plan(environment={"VLLM_API_KEY": "hush-hush"}),
        {"secrets": ("HF_TOKEN",), "volumes": ("/models:/models:ro",)},
    ),
    "arm": (plan(figures={"image_arch": "linux/arm64", "io_uring": True}), {"seccomp": "unconfined"}),
    "headless": (plan(options={"headless": True}), {}),
}
EACH = pytest.mark.parametrize(("made", "wishes"), VARIANTS.values(), ids=VARIANTS)


def kubernetes(one):
    return list(yaml.safe_load_all(kubernetes_text(one)))


def units(one):
    found = {}
    for section, key, value in entries(quadlet_text(one)):
        found.setdefault(section, {}).setdefault(key, []).append(value)
    return found


def group(**more):
    return [
        container(
            plan((*ENGINE, "--master-addr", "x", "--nnodes", "2", "--node-rank", str(rank)), options=options, **more),
            name="group",
        )
        for rank, options in enumerate(
            ({"nnodes": 2, "tensor-parallel-size": 2}, {"nnodes": 2, "tensor-parallel-size": 2, "headless": True})
        )
    ]


@EACH
def test_compose_is_valid(made, wishes):
    schema = json.loads((SCHEMAS / "compose-spec.json").read_text())
    jsonschema.Draft7Validator(schema).validate(yaml.safe_load(compose_text(container(made, **wishes))))


@EACH
def test_kubernetes_is_valid(made, wishes):
    for one in kubernetes(container(made, **wishes)):
        kubernetes_validate.validate(one, "1.31", strict=True)


def test_a_group_is_valid():
    schema = json.loads((SCHEMAS / "leaderworkerset.json").read_text())
    for service in (None, SERVICE):
        for one in yaml.safe_load_all(leaderworkerset_text(group(service=service))):
            if one["kind"] != "LeaderWorkerSet":
                kubernetes_validate.validate(one, "1.31", strict=True)
                continue
            jsonschema.validate(one, schema)
            template = one["spec"]["leaderWorkerTemplate"]
            for name in ("leaderTemplate", "workerTemplate"):
                pod = {"apiVersion": "v1", "kind": "Pod", **template[name]}
                pod["metadata"] = {**pod["metadata"], "name": "pod"}
                kubernetes_validate.validate(pod, "1.31", strict=True)


@EACH
def test_a_quadlet_has_only_keys_that_podman_or_systemd_knows(made, wishes):
    known = {
        "Unit": {"Description", "Wants", "After"},
        "Container": {"ContainerName", "Image", "RunInit", "Label", "PodmanArgs", "AddDevice", "ShmSize", "Ulimit"}
        | {"SeccompProfile", "Volume", "Network", "PublishPort", "HealthCmd", "HealthInterval", "HealthTimeout"}
        | {"HealthRetries", "HealthStartPeriod", "Notify", "Environment", "Secret", "Exec"},
        "Service": {
            "Restart",
            "RestartSec",
            "RestartPreventExitStatus",
            "SuccessExitStatus",
            "TimeoutStartSec",
            "TimeoutStopSec",
        },
        "Install": {"WantedBy"},
    }
    for section, keys in units(container(made, **wishes)).items():
        assert set(keys) <= known[section]


@pytest.mark.parametrize("grace", [0, 0.5, 1, 30, 45.5, 600])
def test_every_grace_is_larger_than_the_one_inside(grace):
    one = container(plan(grace=grace))
    tokens = docker_tokens(one)
    docker = int(tokens[tokens.index("--stop-timeout") + 1])
    (service,) = yaml.safe_load(compose_text(one))["services"].values()
    spec = manifests(kubernetes_text(one))["Deployment"]["spec"]["template"]["spec"]
    pre_stop = int(spec["containers"][0]["lifecycle"]["preStop"]["exec"]["command"][1])
    unit = units(one)
    podman = int(next(text for text in unit["Container"]["PodmanArgs"] if "stop-timeout" in text).partition("=")[2])
    assert docker > grace
    assert int(service["stop_grace_period"].removesuffix("s")) > grace
    assert spec["terminationGracePeriodSeconds"] > pre_stop + grace
    assert int(unit["Service"]["TimeoutStopSec"][0]) > podman > grace


def test_probes_and_start_timeouts_come_from_the_load_budget():
    one = container(load_budget=3600)
    (service,) = yaml.safe_load(compose_text(one))["services"].values()
    assert service["healthcheck"]["start_period"] == "3600s"
    assert service["healthcheck"]["test"] == ["CMD", "lil-serve", "health", "http://127.0.0.1:8000/health"]
    probe = manifests(kubernetes_text(one))["Deployment"]["spec"]["template"]["spec"]["containers"][0]["startupProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] >= 3600
    unit = units(one)
    assert int(unit["Service"]["TimeoutStartSec"][0]) > 3600
    assert unit["Container"]["Notify"] == ["healthy"]


def test_exit_2_is_never_retried():
    one = container()
    tokens = docker_tokens(one)
    assert tokens[tokens.index("--restart") + 1] == "no"
    (service,) = yaml.safe_load(compose_text(one))["services"].values()
    assert service["restart"] == "no"
    unit = units(one)["Service"]
    assert (unit["Restart"], unit["RestartPreventExitStatus"]) == (["on-failure"], ["2"])


@pytest.mark.parametrize(
    ("wish", "figures", "limit"),
    [
        (None, {}, 8 << 20),
        (None, {"memlock_bytes": 64 << 20}, 64 << 20),
        ("16777216", {}, 16 << 20),
        ("unlimited", {}, -1),
    ],
)
def test_memlock_is_finite_unless_asked(wish, figures, limit):
    one = container(plan(figures=figures), memlock=wish)
    tokens = docker_tokens(one)
    assert tokens[tokens.index("--ulimit") + 1] == f"memlock={limit}:{limit}"
    (service,) = yaml.safe_load(compose_text(one))["services"].values()
    assert service["ulimits"]["memlock"] == {"soft": limit, "hard": limit}
    assert units(one)["Container"]["Ulimit"] == [f"memlock={limit}:{limit}"]


def test_zombies_are_reaped_in_every_home():
    one = container()
    assert "--init" in docker_tokens(one)
    (service,) = yaml.safe_load(compose_text(one))["services"].values()
    assert service["init"] is True
    assert units(one)["Container"]["RunInit"] == ["true"]
    spec = manifests(kubernetes_text(one))["Deployment"]["spec"]["template"]["spec"]
    assert spec["shareProcessNamespace"] is True


def test_shared_memory_is_sized_from_the_plan():
    pool = container(plan(service=SERVICE))
    assert pool.shm == (24 + 8) << 30
    tokens = docker_tokens(pool)
    assert tokens[tokens.index("--shm-size") + 1] == str(pool.shm)
    spec = manifests(kubernetes_text(pool))["Deployment"]["spec"]["template"]["spec"]
    shm = next(one for one in spec["volumes"] if one["name"] == "shm")
    assert shm["emptyDir"] == {"medium": "Memory", "sizeLimit": str(pool.shm)}
    for part in (*spec["containers"], *spec["initContainers"]):
        assert {"name": "shm", "mountPath": "/dev/shm"} in part["volumeMounts"]  # noqa: S108 -- the path under test


def test_a_cache_that_maps_gpu_memory_gets_the_hosts():
    one = container(*VARIANTS["cuda-ipc"][:1])
    assert one.shm is None
    spec = manifests(kubernetes_text(one))["Deployment"]["spec"]["template"]["spec"]
    assert spec["hostIPC"] is True
    assert next(volume for volume in spec["volumes"] if volume["name"] == "shm")["hostPath"]["path"] == "/dev/shm"  # noqa: S108


def test_a_pod_starts_the_cache_first_and_gets_no_service_links():
    spec = manifests(kubernetes_text(container(plan(service=SERVICE))))["Deployment"]["spec"]["template"]["spec"]
    assert spec["enableServiceLinks"] is False
    (cache,) = spec["initContainers"]
    assert cache["restartPolicy"] == "Always"
    assert cache["startupProbe"]["exec"]["command"] == ["lil-serve", "health", SERVICE.health_url]
    alive = spec["containers"][0]["livenessProbe"]["exec"]["command"]
    assert alive == ["lil-serve", "health", "http://127.0.0.1:8000/health", SERVICE.health_url]


def test_a_group_starts_together_and_its_workers_are_not_asked_over_http():
    group_of_two = manifests(leaderworkerset_text(group()))["LeaderWorkerSet"]["spec"]
    assert group_of_two["startupPolicy"] == "LeaderCreated"
    template = group_of_two["leaderWorkerTemplate"]
    assert (template["size"], template["restartPolicy"]) == (2, "RecreateGroupOnPodRestart")
    (leader,) = template["leaderTemplate"]["spec"]["containers"]
    (worker,) = template["workerTemplate"]["spec"]["containers"]
    assert {"startupProbe", "readinessProbe", "livenessProbe"} <= set(leader)
    assert not [key for key in worker if key.endswith("Probe")]
    for part in (leader, worker):
        assert "sh" not in part["args"]
        assert "command" not in part
        assert "$(LWS_LEADER_ADDRESS)" in part["args"]
    assert leader["resources"]["limits"] == worker["resources"]["limits"] == {"nvidia.com/gpu": "1"}


@pytest.mark.parametrize(
    ("gpus", "docker", "devices", "quadlet"),
    [
        (None, ["--gpus", "1"], {"count": 1, "driver": "nvidia"}, ["nvidia.com/gpu=0"]),
        ("2", ["--gpus", "2"], {"count": 2, "driver": "nvidia"}, ["nvidia.com/gpu=0", "nvidia.com/gpu=1"]),
        ("all", ["--gpus", "all"], {"count": "all", "driver": "nvidia"}, ["nvidia.com/gpu=all"]),
        (
            "0,1",
            ["--gpus", '"device=0,1"'],
            {"device_ids": ["0", "1"], "driver": "nvidia"},
            ["nvidia.com/gpu=0", "nvidia.com/gpu=1"],
        ),
        ("device=1", ["--gpus", '"device=1"'], {"device_ids": ["1"], "driver": "nvidia"}, ["nvidia.com/gpu=1"]),
        (
            "nvidia.com/gpu=1",
            ["--device", "nvidia.com/gpu=1"],
            {"device_ids": ["nvidia.com/gpu=1"], "driver": "cdi"},
            ["nvidia.com/gpu=1"],
        ),
        ("none", [], None, None),
    ],
)
def test_gpus_by_number_index_and_cdi(gpus, docker, devices, quadlet):
    one = container(gpus=gpus)
    tokens = docker_tokens(one)
    flag = next((index for index, token in enumerate(tokens) if token in ("--gpus", "--device")), None)
    assert ([] if flag is None else tokens[flag : flag + 2]) == docker
    (service,) = yaml.safe_load(compose_text(one))["services"].values()
    found = service.get("deploy", {}).get("resources", {}).get("reservations", {}).get("devices", [None])[0]
    assert found == (devices and {**devices, "capabilities": ["gpu"]})
    assert units(one)["Container"].get("AddDevice") == quadlet


def test_boards_by_hand_get_a_command_each():
    made = [
        container(
            plan(
                (*ENGINE, "--node-rank", str(rank)),
                options={"nnodes": 2, "tensor-parallel-size": 2, "master-addr": "10.0.0.1"},
            ),
            network="host",
        )
        for rank in (0, 1)
    ]
    text = ranks_text(made)
    assert [line.partition(":")[0] for line in text.splitlines()[::2]] == ["# rank 0", "# rank 1"]
    assert [line.endswith(f"--node-rank {rank}") for rank, line in enumerate(text.splitlines()[1::2])] == [True, True]


def test_the_kernels_are_kept_by_what_a_compiler_sees():
    def key(**more):
        return next(mount.source for mount in container(plan(**more)).mounts if "kernels" in mount.source)

    base = key(environment={"TORCH_CUDA_ARCH_LIST": "12.0a"}, options={"dtype": "bfloat16"})
    same = key(
        environment={"TORCH_CUDA_ARCH_LIST": "12.0a", "OMP_NUM_THREADS": "4"},
        options={"dtype": "bfloat16", "port": 9000},
    )
    assert base == same
    assert base != key(environment={"TORCH_CUDA_ARCH_LIST": "12.1a"}, options={"dtype": "bfloat16"})
    assert base != key(environment={"TORCH_CUDA_ARCH_LIST": "12.0a"}, options={"dtype": "float16"})
    assert base != next(
        mount.source
        for mount in container(
            plan(environment={"TORCH_CUDA_ARCH_LIST": "12.0a"}, options={"dtype": "bfloat16"}), image=f"{IMAGE}-2"
        ).mounts
        if "kernels" in mount.source
    )
    assert problems(plan(), volumes=("kernels:relative",))


def test_the_blocks_of_a_cache_and_the_models_are_kept_in_volumes():
    made = plan(service=SERVICE._replace(disk_path="/var/lib/blocks/one", disk_bytes=1))
    targets = {mount.source: mount.target for mount in container(made).mounts}
    assert targets["lil-serve-blocks"] == "/var/lib/blocks"
    assert targets["lil-serve-models"] == "/var/cache/lil-serve/models"
    own = {
        mount.source for mount in container(made, volumes=("/nvme:/var/lib", "/hub:/var/cache/lil-serve/models")).mounts
    }
    assert not {"lil-serve-blocks", "lil-serve-models"} & own


def test_a_model_that_is_a_path_wants_a_volume():
    made = plan(options={"model": "/models/one"})
    assert [notice.code for notice in container(made).notices] == ["model-path"]
    assert container(made, volumes=("/models:/models:ro",)).notices == ()
