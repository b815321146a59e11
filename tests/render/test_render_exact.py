"""Every rendering carries exactly the plan's argv and environment: it is read back as its home would and compared."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from render_parsing import READERS, cache_of_kubernetes, of_group, sealed
from render_plans import ENGINE, IMAGE, SERVICE, container, leaf, plan

from lilserve.errors import ConfigurationError
from lilserve.receipt.seal import unseal
from lilserve.render.container import Wishes, container_of
from lilserve.render.docker import docker_text
from lilserve.render.leaderworkerset import leaderworkerset_text
from lilserve.render.secrets import unrenderable, variables_of
from lilserve.render.targets import TARGETS

# Every text that an argument may hold: no NUL, and no half of a surrogate pair.
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40)
MEANT = r"""$ $$ $HOME ${HOME} $(HOME) $$(HOME) % %%n ' " \ x\ \n ; # off yes null ~ 1e3 0o14 12:30:45 1_000 .5
 {} [] &a *a !t | --env = `id`"""
HIDDEN = [
    "a\nb",
    "\n",
    "\t",
    "\r\n",
    "- x",
    "a: b",
    " ",
    "a b",
    "\x7f",
    "\x85",
    "\u2028",
    "\ufeff",
    "\ufffe",
    "é",
    "日本",
    "🦙",
]
NASTY = st.sampled_from([*MEANT.split(), *HIDDEN])
VALUE = st.one_of(TEXT, NASTY, st.builds(lambda one, other: one + other, NASTY, NASTY))
NAME = st.from_regex(r"[A-Z][A-Z0-9_]{0,12}", fullmatch=True)
PLANS = st.builds(
    lambda argv, environment: plan((*ENGINE, *argv), environment),
    st.lists(VALUE, max_size=6),
    st.dictionaries(NAME, VALUE, max_size=5),
)


def rendered(target, made):
    """The rendering, or None where the home refuses what it cannot carry."""
    try:
        return TARGETS[target].text([container(made)])
    except ConfigurationError:
        return None


@pytest.mark.parametrize("target", READERS)
@given(PLANS)
@example(plan((*ENGINE, "--x", "$(HOME) $HOME $$ %h \"'\\ \n\t;"), {"A": "$(B) $$B ${B} %B \n'\"\\", "B": "1e3"}))
def test_argv_and_environment_come_back(target, made):
    assume(not list(unrenderable(made, ())))
    text = rendered(target, made)
    if text is None:
        assert target == "quadlet"
        lost = any(token in ("", ";") for token in made.argv) or any(
            "\x80" in one for one in (*made.argv, *made.texts().values())
        )
        assert lost
        return
    carried = READERS[target](text, IMAGE)
    wanted = variables_of(made, (), ())
    assert carried.argv == made.argv
    assert carried.environment == wanted.shown
    assert carried.named == set(wanted.named)


@pytest.mark.parametrize("target", READERS)
@given(PLANS)
def test_what_a_container_unseals_is_the_plan(target, made):
    assume(not list(unrenderable(made, ())))
    text = rendered(target, made)
    assume(text is not None)
    carried = READERS[target](text, IMAGE)
    found = unseal(carried.seal, carried.argv, {**made.texts(), **carried.environment})
    assert (found.argv, found.texts(), found.digest, found.stop_grace) == (
        made.argv,
        made.texts(),
        made.digest,
        made.stop_grace,
    )


@given(st.lists(VALUE, max_size=4))
def test_a_real_shell_splits_the_docker_command_alike(argv):
    made = plan((*ENGINE, *argv), {"A": "".join(argv)})
    assume(not list(unrenderable(made, ())))
    text = docker_text(container(made))
    script = "docker() { printf '%s\\0' \"$@\"; }\n" + text
    done = subprocess.run(["sh", "-c", script], capture_output=True, check=True)
    tokens = done.stdout.decode().split("\0")[:-1]
    assert tuple(tokens[tokens.index("--") + 1 :]) == made.argv
    assert f"A={''.join(argv)}" in tokens or redacted(made)


def redacted(made):
    return "A" in variables_of(made, (), ()).named


@pytest.mark.parametrize("target", READERS)
def test_the_cache_server_travels_in_the_seal_and_in_a_cluster_as_a_sidecar(target):
    made = plan(environment={"OMP_NUM_THREADS": "2", "PYTHONHASHSEED": "7"}, service=SERVICE)
    text = TARGETS[target].text([container(made)])
    carried = READERS[target](text, IMAGE)
    found = unseal(carried.seal, carried.argv, carried.environment)
    if target != "kubernetes":
        assert found.cache_service == SERVICE
        return
    assert found.cache_service is None
    cache = cache_of_kubernetes(text)
    served = unseal(cache.seal, cache.argv, cache.environment)
    assert served.argv == SERVICE.argv
    assert served.texts() == {**made.texts(), **SERVICE.environment}


@pytest.mark.parametrize("target", READERS)
def test_a_container_refuses_what_was_edited(target):
    made = plan((*ENGINE, "--seats", "4"), {"OMP_NUM_THREADS": "2"})
    carried = READERS[target](TARGETS[target].text([container(made)]), IMAGE)
    edits = [
        ((*carried.argv[:-1], "8"), carried.environment),
        (carried.argv, {**carried.environment, "OMP_NUM_THREADS": "4"}),
        (carried.argv, {}),
    ]
    for argv, environment in edits:
        with pytest.raises(ConfigurationError) as caught:
            unseal(carried.seal, argv, environment)
        assert {problem.code for problem in caught.value.problems} == {"seal"}
    assert unseal(carried.seal, carried.argv, {**carried.environment, "PATH": "/bin"}).texts() == made.texts()


def test_names_that_the_engine_must_not_see_travel_with_the_seal():
    made = plan(removed=("VLLM_OLD",))
    carried = READERS["docker"](docker_text(container(made)), IMAGE)
    assert set(unseal(carried.seal, carried.argv, {}).dropped) == {"VLLM_OLD", "LIL_SERVE_PROFILE"}


def test_modules_of_overlays_travel_with_the_seal():
    made = plan(files={"patch.py": "print('$HOME')\n"})
    for target, read in READERS.items():
        carried = read(TARGETS[target].text([container(made)]), IMAGE)
        assert unseal(carried.seal, carried.argv, {}).files == made.files
    huge = plan(files={"patch.py": "#" * 200_000})
    with pytest.raises(ConfigurationError, match="modules of overlays"):
        container(huge)


def group(argv=ENGINE, environment=None, nodes=2):
    """The containers of rank 0 and rank 1, as the resolver makes their plans."""
    ranks = []
    for rank in (0, 1):
        flags = ("--master-addr", "$(LWS_LEADER_ADDRESS)", "--nnodes", str(nodes), "--node-rank", str(rank))
        headless = ("--headless",) if rank else ()
        options = {
            "nnodes": nodes,
            "tensor-parallel-size": nodes,
            "node-rank": rank,
            **({"headless": True} if rank else {}),
        }
        ranks.append(container(plan((*argv, *headless, *flags), environment, options=options), name="group"))
    return ranks


@given(st.lists(VALUE, max_size=4), st.dictionaries(NAME, VALUE, max_size=3))
def test_every_rank_of_a_group_has_the_same_model_flags(argv, environment):
    assume(not list(unrenderable(plan((*ENGINE, *argv), environment), ())))
    assume(not {"--master-addr", "--node-rank"} & set(argv))
    text = leaderworkerset_text(group((*ENGINE, *argv), environment))
    ranks = [of_group(text, rank) for rank in range(4)]
    for number, carried in enumerate(ranks):
        tail = carried.argv[len(ENGINE) + len(argv) :]
        assert carried.argv[: len(ENGINE) + len(argv)] == (*ENGINE, *argv)
        assert tail[-6:-4] == ("--master-addr", "leader.example")
        assert tail[-4:] == ("--nnodes", "2", "--node-rank", str(number))
        assert ("--headless" in tail) == bool(number)
        assert carried.environment == ranks[0].environment
        found = unseal(carried.seal, carried.argv, {**environment, **carried.environment})
        assert found.argv == carried.argv


def test_a_rank_with_another_flag_is_refused():
    carried = of_group(leaderworkerset_text(group()), 1)
    assert sealed(carried)["given_late"] == ["--master-addr", "--node-rank"]
    wrong = [*carried.argv]
    wrong[wrong.index("--nnodes") + 1] = "3"
    with pytest.raises(ConfigurationError):
        unseal(carried.seal, wrong, carried.environment)


def test_the_seal_of_a_plan_without_secrets_is_the_plans_own_digest():
    made = plan(environment={"OMP_NUM_THREADS": "2"}, service=SERVICE)
    assert json.loads(container(made).command[2])["digest"] == made.digest


def test_a_secret_may_be_rotated_between_rendering_and_running():
    made = plan(environment={"VLLM_API_KEY": "first-secret"})
    carried = READERS["docker"](docker_text(container(made)), IMAGE)
    assert unseal(carried.seal, carried.argv, {"VLLM_API_KEY": "second-secret"}).texts() == {
        "VLLM_API_KEY": "second-secret"
    }


def test_the_same_plan_and_wishes_give_the_same_bytes():
    for target in READERS:
        made = plan(environment={"A": "1", "B": "2"}, service=SERVICE)
        again = replace(made, environment={name: leaf(text) for name, text in made.texts().items()})
        wishes = Wishes(image=IMAGE)
        assert TARGETS[target].text([container_of(made, wishes)]) == TARGETS[target].text([container_of(again, wishes)])
