"""`doctor`: whether this host can run a launch, and if not, what to do."""

from __future__ import annotations

import os

import click

from lilserve.cli.conduct import plan_of
from lilserve.cli.selecting import SelectingCommand, request, selecting
from lilserve.engine.installed import installed_release, mismatch
from lilserve.errors import HostError
from lilserve.host.checks import CHECKS, problems_of
from lilserve.run.program import find_program, missing

FACTS = ("kernel", "cpu", "memory", "shm", "limits", "gpus")


@click.command(cls=SelectingCommand)
@selecting
@click.pass_context
def command(ctx: click.Context, /, **_: object) -> None:
    """Check this host against a launch: GPUs, kernel, memory, shared memory, limits.

    The status is 3 when the host lacks something.
    """
    asked = request(ctx, os.environ, ask_gpus=True)
    plan = plan_of(asked)
    problems = problems_of(plan, asked.selection.facts)
    if find_program(plan.argv, os.environ) is None:
        problems.append(missing(plan.argv, "the engine"))
    for notice in plan.notices:
        click.echo(f"notice: {notice.text}")
    release = installed_release(plan.argv[0], os.environ.get("PATH"))
    click.echo(f"engine: {mismatch(release, plan.release) or release or 'not found on this host'}")
    unknown = [name for name in FACTS if not asked.selection.facts.get(name)]
    if unknown:
        click.echo(f"not known of this host, so not checked: {', '.join(unknown)}")
    if problems:
        raise HostError(*problems)
    click.echo(f"{len(CHECKS)} checks, nothing in the way of {plan.profile} on {plan.hardware}")
