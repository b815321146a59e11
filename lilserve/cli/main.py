"""The command: one group whose verbs load when called, and the one boundary where errors become text and a status."""

from __future__ import annotations

import os
import sys
from importlib import import_module

import click

from lilserve.cli.report import report
from lilserve.errors import ConfigurationError, LilServeError, Problem
from lilserve.plan.redact import secrets_of

LAUNCH = "launch"
VERBS = {
    LAUNCH: "launch",
    "list": "list_",
    "explain": "explain",
    "diff": "diff",
    "check": "check",
    "catalog": "catalog",
    "facts": "facts",
    "doctor": "doctor",
    "render": "render",
    "receipt": "receipt",
    "up": "up",
    "down": "down",
    "status": "status",
    "logs": "logs",
    "health": "health",
    "run": "run",
}


class Verbs(click.Group):
    """Verbs by name; without one, the arguments are those of a launch."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return [name for name in VERBS if name != LAUNCH]

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        if name not in VERBS:
            return None
        command: click.Command = import_module(f"lilserve.cli.{VERBS[name]}").command
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or args[0] not in VERBS or args[0] == LAUNCH:
            args = [LAUNCH, *(args[1:] if args[:1] == [LAUNCH] else args)]
        return super().parse_args(ctx, args)


@click.group(cls=Verbs, add_help_option=False)
def lil_serve() -> None:
    """What will run, and who said so."""


def main(args: list[str] | None = None) -> int:
    """Run the command and return its exit status (DESIGN.md section 8)."""
    try:
        status = lil_serve.main(args, prog_name="lil-serve", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        return report(_usage(error), sys.stderr, _secrets(args))
    except LilServeError as error:
        return report(error, sys.stderr, _secrets(args))
    except BrokenPipeError:
        # Whoever read our output has gone; what is left in the buffer has no reader either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (KeyboardInterrupt, click.Abort):
        return 130
    return status if isinstance(status, int) else 0


def _secrets(args: list[str] | None) -> list[str]:
    """What no message may repeat, whichever part of the input it is about."""
    return secrets_of(sys.argv[1:] if args is None else args, os.environ)


def _usage(error: click.ClickException) -> LilServeError:
    """What click found wrong, in our words."""
    message = error.format_message().rstrip(".")
    told, hint = message[:1].lower() + message[1:], None
    if isinstance(error, click.NoSuchOption):
        told = f"no such option: {error.option_name}"
        near = error.possibilities[0] if error.possibilities else None
        hint = (
            f"did you mean {near}?" if near else f"engine options stand after --: lil-serve ... -- {error.option_name}"
        )
    return ConfigurationError(Problem(told, hint=hint, code="usage"))
