"""A plan in, the text of `--print-config` out; a table names the formats."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

from lilserve.errors import ConfigurationError, Problem
from lilserve.explain.data import environment_texts, plan_data
from lilserve.plan.redact import redact_argv

if TYPE_CHECKING:
    from collections.abc import Callable

    from lilserve.plan.model import Plan


def as_json(plan: Plan) -> str:
    """The plan as JSON, indented by two."""
    return json.dumps(plan_data(plan), indent=2, ensure_ascii=False)


def as_yaml(plan: Plan) -> str:
    """The same data as YAML, keys in the same order."""
    import yaml  # noqa: PLC0415 -- only this format needs it, and it would slow every other launch

    return str(
        yaml.dump(plan_data(plan), Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=120)
    ).rstrip("\n")


def as_argv(plan: Plan) -> str:
    """One token a line. Raises ConfigurationError where a token has lines of its own and could not be told apart."""
    tokens = redact_argv(plan.argv)
    if any(len(token.splitlines()) > 1 or token.endswith("\n") for token in tokens):
        what = "a token holds a line break, so that one token a line would not show what runs"
        raise ConfigurationError(Problem(what, hint="--print-config=shell", code="line-break"))
    return "\n".join(tokens)


def as_shell(plan: Plan) -> str:
    """One line that `shlex.split` turns back into the argv."""
    return shlex.join(redact_argv(plan.argv))


def as_env(plan: Plan) -> str:
    """`NAME=value`, a line each, quoted for a shell."""
    return "\n".join(f"{name}={shlex.quote(text)}" for name, text in environment_texts(plan).items())


def as_table(plan: Plan) -> str:
    """Aligned columns for a person."""
    from lilserve.render.table import table  # noqa: PLC0415 -- only this format needs it

    return table(plan)


FORMATS: dict[str, Callable[[Plan], str]] = {
    "json": as_json,
    "yaml": as_yaml,
    "argv": as_argv,
    "shell": as_shell,
    "env": as_env,
    "table": as_table,
}
