"""The options that say what a container is like, and the containers of a launch that they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lilserve.cli.conduct import plan_of
from lilserve.cli.launch import strict_problems
from lilserve.cli.selecting import request
from lilserve.errors import ConfigurationError, Problem, refuse
from lilserve.render.container import Wishes, container_of, default_name, one_machine, value_of
from lilserve.render.grace import LOAD_BUDGET
from lilserve.render.image import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lilserve.plan.model import Plan
    from lilserve.render.container import Container
    from lilserve.render.targets import Target

HOUSING: list[tuple[tuple[str, ...], dict[str, Any]]] = [
    (
        ("--image",),
        {
            "metavar": "IMAGE",
            "default": DEFAULT,
            "show_default": True,
            "help": "What the container is made of; --strict wants its digest.",
        },
    ),
    (("--name",), {"metavar": "NAME", "help": "Its name; lil-serve-PROFILE-PORT by default."}),
    (
        ("--gpus",),
        {
            "metavar": "GPUS",
            "help": "A number, all, none, indices or UUIDs (0,1), or CDI names; by default what the launch takes.",
        },
    ),
    (
        ("--ipc",),
        {"type": click.Choice(["private", "host"]), "help": "Whose shared memory; private is sized by the plan."},
    ),
    (("--memlock",), {"metavar": "BYTES", "help": "Memory it may lock: bytes, or `unlimited`; 8 MiB by default."}),
    (
        ("--volume", "volumes"),
        {"metavar": "SOURCE:TARGET[:ro]", "multiple": True, "help": "A directory or a volume; may be repeated."},
    ),
    (
        ("--network",),
        {
            "type": click.Choice(["bridge", "host", "none"]),
            "default": "bridge",
            "show_default": True,
            "help": "Its network.",
        },
    ),
    (
        ("--secret", "secrets"),
        {"metavar": "NAME", "multiple": True, "help": "A variable to pass by name, never by value; may be repeated."},
    ),
    (
        ("--load-budget",),
        {
            "metavar": "SECONDS",
            "type": int,
            "default": LOAD_BUDGET,
            "show_default": True,
            "help": "How long weights may load before that is a failure.",
        },
    ),
    (
        ("--platform",),
        {"type": click.Choice(["linux/amd64", "linux/arm64"]), "help": "The image's; the machine's by default."},
    ),
    (("--seccomp",), {"metavar": "PROFILE", "help": "A seccomp profile, or `unconfined`; for io_uring."}),
    (("--strict",), {"is_flag": True, "help": "Treat every warning as an error, and want the image's digest."}),
]


def housing(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options about the container."""
    for declarations, attributes in reversed(HOUSING):
        command = click.option(*declarations, **attributes)(command)
    return command


def wishes_of(ctx: click.Context, environ: Mapping[str, str]) -> Wishes:
    """What the options of a context say."""
    given = {name: ctx.params[name] for name in Wishes._fields if name != "present"}
    return Wishes(**given, present=frozenset(environ))


def containers(
    ctx: click.Context, environ: Mapping[str, str], target: Target, *, here: bool = False
) -> list[Container]:
    """The containers of a launch: one, or for a home of several machines one a rank, each resolved by itself.

    `here` says that they will run on this host, so its GPUs are asked for.
    """
    wishes = wishes_of(ctx, environ)
    plans = (
        ranks(ctx, environ, target)
        if target.several
        else [one_machine([plan_of(request(ctx, environ, ask_gpus=here))])]
    )
    # One launch has one name, and so have its ranks.
    named = wishes._replace(name=wishes.name or default_name(plans[0]))
    made: list[Container] = []
    problems: list[Problem] = []
    for plan in plans:
        try:
            problems += strict_problems(plan) if wishes.strict else ()
            made.append(container_of(plan, named))
        except ConfigurationError as error:
            problems += error.problems
    refuse(problems)
    return made


def ranks(ctx: click.Context, environ: Mapping[str, str], target: Target) -> list[Plan]:
    """A plan a rank. What differs is written as the command line would write it, so the resolver knows it all."""
    first = plan_of(request(ctx, environ))
    nodes = value_of(first, "nnodes")
    if not isinstance(nodes, int) or nodes < 2:  # noqa: PLR2004 -- one machine has no ranks
        return [first]
    tokens = ctx.meta["engine_tokens"]
    leader = ("--master-addr", target.leader) if target.leader else ()
    numbers = range(2) if target.leader else range(nodes)
    plans = []
    for rank in numbers:
        ctx.meta["engine_tokens"] = [*tokens, "--node-rank", str(rank), *leader]
        plans.append(plan_of(request(ctx, environ)))
    ctx.meta["engine_tokens"] = tokens
    return plans
