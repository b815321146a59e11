"""The options that every verb about a launch has, and the request they make."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from lilserve.documents.library import Library, open_library, read_document
from lilserve.engine.controls import CONTROLS
from lilserve.errors import ConfigurationError, Problem
from lilserve.host.facts import all_facts, cheap_facts
from lilserve.resolution.selection import DETECT, Selection, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from click.shell_completion import CompletionItem

SEPARATOR = "--"


class SelectingCommand(click.Command):
    """A command whose tokens after `--` belong to the engine and are kept apart before click reads the rest."""

    def get_help_option(self, _ctx: click.Context) -> click.Option | None:
        """Click's own `--help` asks for a translation of its text, which costs more than reading all documents."""
        return click.Option(
            ["--help"], is_flag=True, is_eager=True, expose_value=False, callback=_show_help, help="Show this and exit."
        )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own, engine = split(args)
        ctx.meta["engine_tokens"] = engine
        return super().parse_args(ctx, own)


def _show_help(ctx: click.Context, _parameter: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def split(args: list[str]) -> tuple[list[str], list[str]]:
    """What stands before the first `--`, and what stands after it."""
    if SEPARATOR not in args:
        return args, []
    at = args.index(SEPARATOR)
    return args[:at], args[at + 1 :]


def _names(kind: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    def complete(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem  # noqa: PLC0415 -- only a completing shell needs it

        try:
            library = open_library(policies(ctx.params.get("policy") or (), os.environ))
        except ConfigurationError:
            return []
        return [CompletionItem(name) for name in listed(library, kind) if name.startswith(incomplete)]

    return complete


SELECTING: list[tuple[tuple[str, ...], dict[str, Any]]] = [
    (
        ("--profile",),
        {
            "metavar": "NAME",
            "envvar": "LIL_SERVE_PROFILE",
            "help": "The model to serve.",
            "shell_complete": _names("profile"),
        },
    ),
    (
        ("--hardware",),
        {
            "metavar": "NAME",
            "envvar": "LIL_SERVE_HARDWARE",
            "help": "The machine it runs on; `auto` asks this host.",
            "shell_complete": _names("hardware"),
        },
    ),
    (
        ("--preset",),
        {
            "metavar": "NAME",
            "envvar": "LIL_SERVE_PRESET",
            "help": "A lane: a profile, a machine and what differs.",
            "shell_complete": _names("preset"),
        },
    ),
    (("--settings",), {"metavar": "FILE", "help": "Your own options and environment, as YAML."}),
    (
        ("--policy",),
        {
            "metavar": "DIR",
            "multiple": True,
            "help": "A directory of your documents; may be repeated (LIL_SERVE_POLICY).",
        },
    ),
    (
        ("--overlay",),
        {
            "metavar": "NAME",
            "multiple": True,
            "help": "An opt-in correction; may be repeated.",
            "shell_complete": _names("overlay"),
        },
    ),
    (
        ("--env", "assigned"),
        {"metavar": "NAME=VALUE", "multiple": True, "help": "A variable for the launch; may be repeated."},
    ),
    (("--facts",), {"metavar": "FILE", "help": "Facts of another host, as `lil-serve facts` printed them."}),
    (("--allow-unknown",), {"is_flag": True, "help": "Pass on engine options that no catalog knows."}),
]


def selecting(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the selection options and, hidden among them, every control."""
    attributes: dict[str, Any]
    for name, spec in reversed(CONTROLS.items()):
        if spec["type"] == "bool":
            declaration, attributes = f"--{name}/--no-{name}", {"default": None}
        else:
            declaration, attributes = f"--{name}", {"multiple": True}
        command = click.option(declaration, _parameter(name), hidden=True, **attributes)(command)
    for declarations, attributes in reversed(SELECTING):
        command = click.option(*declarations, **attributes)(command)
    return command


def _parameter(control: str) -> str:
    return "control_" + control.replace("-", "_")


class Request(NamedTuple):
    """The library and the selection that a command line means."""

    library: Library
    selection: Selection


def request(ctx: click.Context, environ: Mapping[str, str], *, ask_gpus: bool = False) -> Request:
    """Read what the selection options of a context name. Raises ConfigurationError for what cannot be read.

    A tool of the GPU driver runs only when `ask_gpus` says so (a real launch) or `--hardware auto` does.
    """
    given: dict[str, Any] = {key: value or None for key, value in ctx.params.items()}
    library = open_library(policies(given["policy"] or (), environ))
    settings = read_document(given["settings"], "settings") if given["settings"] else None
    if given["facts"]:
        facts = read_facts(given["facts"])
    else:
        facts = all_facts(environ) if ask_gpus or given["hardware"] == DETECT else cheap_facts()
    selection = Selection(
        profile=given["profile"],
        hardware=given["hardware"],
        preset=given["preset"],
        overlays=tuple(given["overlay"] or ()),
        settings=settings,
        assigned=tuple(_pair(text) for text in given["assigned"] or ()),
        tokens=(*_controls(ctx.params), *ctx.meta["engine_tokens"]),
        environ=environ,
        facts=facts,
        allow_unknown=bool(given["allow_unknown"]),
    )
    return Request(library, selection)


def policies(named: tuple[str, ...], environ: Mapping[str, str]) -> list[str]:
    """The policy directories: those of LIL_SERVE_POLICY, then those named on the command line."""
    return [*(part for part in environ.get("LIL_SERVE_POLICY", "").split(os.pathsep) if part), *named]


def read_facts(path: str) -> dict[str, Any]:
    """The facts in a JSON file. Raises ConfigurationError."""
    try:
        with open(path, encoding="utf-8") as file:
            facts = json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigurationError(
            Problem(
                f"cannot read facts from {path!r}: {reason.lower()}", hint="lil-serve facts > facts.json", code="facts"
            )
        ) from error
    if not isinstance(facts, dict):
        raise ConfigurationError(
            Problem(
                f"{path!r} holds no facts: they are a JSON object", hint="lil-serve facts > facts.json", code="facts"
            )
        )
    return facts


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier() or not name.isascii() or "\0" in text:
        raise ConfigurationError(
            Problem(
                f"--env takes NAME=VALUE, not {name if equals else text!r}",
                hint="--env OMP_NUM_THREADS=2",
                code="usage",
            )
        )
    return name, value


def _controls(params: Mapping[str, Any]) -> list[str]:
    """The controls that stood before `--`, as the tokens they would be after it."""
    tokens: list[str] = []
    for name in CONTROLS:
        value = params.get(_parameter(name))
        if isinstance(value, bool):
            tokens.append(f"--{name}" if value else f"--no-{name}")
        else:
            tokens += [token for text in value or () for token in (f"--{name}", text)]
    return tokens
