"""The command: one group whose verbs load when called, and the one boundary where errors become text and a status."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import NamedTuple

import click

from lilserve.cli.report import report
from lilserve.errors import ConfigurationError, LilServeError, Problem
from lilserve.plan.redact import secrets_of

LAUNCH = "launch"


class Verb(NamedTuple):
    """The module of a verb, and its line in the help of the whole command, so that help loads no verb."""

    module: str
    help: str


VERBS = {
    LAUNCH: Verb("launch", "Resolve a launch and become it; the same as no verb."),
    "explain": Verb("explain", "Who set a value, where, against whom, and why."),
    "diff": Verb("diff", "What two launches run differently."),
    "list": Verb("list_", "The profiles, machines, overlays, presets and engines one can name."),
    "check": Verb("check", "Whether documents are right: yours, or the shipped ones."),
    "facts": Verb("facts", "What is true of this host, as JSON."),
    "doctor": Verb("doctor", "Whether this host can run a launch."),
    "receipt": Verb("receipt", "Write a launch down, to hold later ones to it."),
    "render": Verb("render", "A launch as text for Docker, Compose, Quadlet, Kubernetes or two boards."),
    "up": Verb("up", "Start a launch in a container and wait until it serves."),
    "status": Verb("status", "The containers that `up` made."),
    "logs": Verb("logs", "What such a container has printed."),
    "down": Verb("down", "Stop and remove such containers."),
    "catalog": Verb("catalog", "What engine builds accept: of an installed one, or compared."),
    "health": Verb("health", "Ask servers whether they are well; for health checks."),
    "run": Verb("run", "Inside a container, become what was rendered into it."),
}


class Verbs(click.Group):
    """Verbs by name; without one, the arguments are those of a launch."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return [name for name in VERBS if name != LAUNCH]

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        if name not in VERBS:
            return None
        command: click.Command = import_module(f"lilserve.cli.{VERBS[name].module}").command
        # Docstrings are raw, so click's mark for lines that stay as they are arrives as two letters.
        command.help = (command.help or "").replace(r"\b", "\b")
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            if ctx.resilient_parsing:
                return []
            from lilserve.cli.misplaced import unknown_verb  # noqa: PLC0415 -- only a refusal needs it

            raise ConfigurationError(unknown_verb(args, 0))
        if ctx.resilient_parsing and not args:
            return super().parse_args(ctx, args)
        if not args or args[0] not in VERBS or args[0] == LAUNCH:
            args = [LAUNCH, *(args[1:] if args[:1] == [LAUNCH] else args)]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[click.shell_completion.CompletionItem]:
        from lilserve.cli.completing import first_word  # noqa: PLC0415 -- only a completing shell needs it

        return first_word(ctx, incomplete)


@click.group(cls=Verbs, add_help_option=False, context_settings={"help_option_names": ["-h", "--help"]})
def lil_serve() -> None:
    """What will run, and who said so."""


def main(args: list[str] | None = None) -> int:
    """Run the command and return its exit status (DESIGN.md section 8)."""
    given = sys.argv[1:] if args is None else args
    try:
        return _guarded(given)
    except BrokenPipeError:
        # Whoever read our output has gone; what is left in the buffer has no reader either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        if error.filename is not None:  # no stream of ours: a defect, and its trace tells where
            raise
        problem = Problem(f"cannot write the output: {(error.strerror or str(error)).lower()}", code="output")
        return report(LilServeError(problem), sys.stderr)


def _guarded(args: list[str]) -> int:
    """The status of a command whose refusals are told."""
    stdout, stderr = sys.stdout, sys.stderr
    try:
        status = lil_serve.main(args, prog_name="lil-serve", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as error:
        sys.stdout.flush()
        return error.exit_code
    except click.ClickException as error:
        from lilserve.cli.misplaced import usage  # noqa: PLC0415 -- only a refusal needs it

        return _tell(ConfigurationError(usage(error, args)), args)
    except LilServeError as error:
        from lilserve.cli.misplaced import sharpened  # noqa: PLC0415 -- only a refusal needs it

        return _tell(sharpened(error, args), args)
    except (KeyboardInterrupt, click.Abort):
        return 130
    except SystemExit as error:
        if sys.stdout is stdout:
            raise
        # Click found the pipe broken, put a silent stream in its place, and would end as if something had failed.
        sys.stdout, sys.stderr = stdout, stderr
        raise BrokenPipeError from error
    return status if isinstance(status, int) else 0


def _tell(error: LilServeError, args: list[str]) -> int:
    """Print an error without what no message may repeat, whichever part of the input it is about."""
    sys.stdout.flush()
    return report(error, sys.stderr, secrets_of(args, os.environ))
