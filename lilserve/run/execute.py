"""A plan and an environment in; the process is the engine afterwards, or a designed refusal comes out."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NoReturn

from lilserve.errors import ConfigurationError
from lilserve.run.environment import engine_environment
from lilserve.run.program import failed, find_program, missing
from lilserve.run.tell import tell

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lilserve.plan.model import Plan

WHO = "the engine"


def announce(plan: Plan) -> None:
    """One line: what is started, its digest, and where to see the whole of it."""
    tell(
        f"{plan.profile} on {plan.hardware}, cache-mode {plan.cache_mode}, digest {plan.digest}; "
        "the same command with --print-config shows all of it"
    )


def become(plan: Plan, environ: Mapping[str, str]) -> NoReturn:
    """Replace this process with the engine. Raises ConfigurationError when its program cannot be executed."""
    env = engine_environment(plan, environ)
    program = find_program(plan.argv, env)
    if program is None:
        raise ConfigurationError(missing(plan.argv, WHO))
    announce(plan)
    sys.stdout.flush()
    try:
        os.execve(program, plan.argv, env)  # noqa: S606 -- to become the engine, without a shell, is the purpose
    except OSError as error:
        raise ConfigurationError(failed(plan.argv, WHO, error)) from error
