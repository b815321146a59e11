"""The options that every verb about a launch has, and the request they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from lilserve.cli.reading import policies, read_facts, read_pair, read_settings
from lilserve.documents.library import Library, open_library
from lilserve.engine.controls import CONTROLS
from lilserve.errors import Problem, refuse
from lilserve.host.facts import all_facts, cheap_facts
from lilserve.resolution.selection import DETECT, Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from click.shell_completion import CompletionItem


SEPARATOR = "--"
FILES = ("settings", "facts")


class SelectingCommand(click.Command):
    """A command whose tokens after `--` belong to the engine and are kept apart before click reads the rest."""

    def get_help_option(self, _ctx: click.Context) -> click.Option | None:
        """Click's own `--help` asks for a translation of its text, which costs more than reading all documents."""
        return click.Option(
            ["-h", "--help"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_help,
            help="Show this and exit.",
        )

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        launches = any(one.name == _parameter("mode") for one in self.params)
        return [*super().collect_usage_pieces(ctx), *(("[-- ENGINE OPTIONS AND CONTROLS]",) if launches else ())]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own, engine = split(args)
        ctx.meta["own_tokens"], ctx.meta["engine_tokens"] = tuple(own), engine
        ctx.meta["separated"] = SEPARATOR in args
        if not ctx.resilient_parsing:
            _judge_pairs(own)
        return super().parse_args(ctx, own)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from lilserve.cli.completing import names  # noqa: PLC0415 -- only a completing shell needs it

        return names("token", ctx, incomplete) if ctx.meta["separated"] else super().shell_complete(ctx, incomplete)


def _judge_pairs(own: list[str]) -> None:
    """Refuse a wrong `--env` before any other word is looked at: what should be its value is repeated by no message."""
    before = ""
    for word in own:
        if before == "--env" or word.startswith("--env="):
            read_pair(word if before == "--env" else word.removeprefix("--env="))
        before = word


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


def completes(what: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """A completion of names, by what they name: a row of lilserve.cli.completing.NAMES."""

    def complete(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from lilserve.cli.completing import names  # noqa: PLC0415 -- only a completing shell needs it

        return names(what, ctx, incomplete)

    return complete


SELECTING: list[tuple[tuple[str, ...], dict[str, Any]]] = [
    (
        ("--profile",),
        {
            "metavar": "NAME",
            "envvar": "LIL_SERVE_PROFILE",
            "help": "The model to serve.",
            "shell_complete": completes("profile"),
        },
    ),
    (
        ("--hardware",),
        {
            "metavar": "NAME",
            "envvar": "LIL_SERVE_HARDWARE",
            "help": "The machine it runs on; `auto` asks this host.",
            "shell_complete": completes("hardware"),
        },
    ),
    (
        ("--preset",),
        {
            "metavar": "NAME",
            "envvar": "LIL_SERVE_PRESET",
            "help": "A lane: a profile, a machine and what differs.",
            "shell_complete": completes("preset"),
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
            "shell_complete": completes("overlay"),
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
    refuse(_empty(ctx.params))
    given: dict[str, Any] = {key: value or None for key, value in ctx.params.items()}
    library = open_library(policies(given["policy"] or (), environ))
    settings = read_settings(given["settings"]) if given["settings"] else None
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
        assigned=tuple(read_pair(text) for text in given["assigned"] or ()),
        tokens=(*_controls(ctx.params), *ctx.meta["engine_tokens"]),
        environ=environ,
        facts=facts,
        allow_unknown=bool(given["allow_unknown"]),
    )
    return Request(library, selection)


def _empty(params: Mapping[str, Any]) -> Iterator[Problem]:
    for name in ("profile", "hardware", "preset", "settings", "facts"):
        if params.get(name) == "":
            yield Problem(f"--{name} is empty", hint=f"--{name} {'FILE' if name in FILES else 'NAME'}", code="usage")


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
