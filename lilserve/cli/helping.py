"""The help of the whole command: what it does, options by what they are for, verbs, controls, examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lilserve.cli.main import LAUNCH, VERBS
from lilserve.cli.selecting import SELECTING
from lilserve.engine.controls import CONTROLS

if TYPE_CHECKING:
    from collections.abc import Iterator

TITLE = "lil-serve - what will run, and who said so"
ABOUT = """\
Merges a model profile, a machine and a cache mode with the environment and the command line into one vLLM command.
Shows it with the origin of every value, on any machine; without --print-config it becomes that command."""
USAGE = """\
Usage: lil-serve [OPTIONS] [-- ENGINE OPTIONS AND CONTROLS]
       lil-serve VERB [OPTIONS] [-- ENGINE OPTIONS AND CONTROLS]
"""
KINDS = {"str": "NAME", "int": "COUNT", "float": "NUMBER", "number": "NUMBER"}
OUTPUT = "Output"
RESTRAINT = "What is accepted"
ABOUT_ITSELF = "About the command"
# Which options stand under which heading; every option that chooses something is a Selection.
HEADINGS = {
    "Selection": tuple(flags[0] for flags, _ in SELECTING if flags[0] != "--allow-unknown"),
    OUTPUT: ("--print-config",),
    RESTRAINT: ("--strict", "--locked", "--allow-unknown"),
    ABOUT_ITSELF: ("--help", "--version"),
}
CONTROL_HELP = {
    "mode": "How to speculate: a mode of the profile.",
    "checkpoint": "Which weights: a checkpoint of the profile.",
    "cache-mode": "Where KV blocks live: vram, lmcache or native.",
    "draft-tokens": "How many tokens are drafted for each step.",
    "draft-model": "Another draft model.",
    "draft-revision": "Its revision.",
    "capture-ladder": "Which batch sizes get a CUDA graph.",
    "table-placement": "Where a per-layer embedding table lies.",
    "stop-grace": "Seconds for the whole stop.",
    "target-page-size": "Tokens in a KV page of the target.",
    "recurrent-page-size": "Tokens in a page of recurrent state.",
    "dcp-ckv-gather": "Whether compressed KV is gathered under context parallelism.",
    "engram-table-memory": "Where Engram tables lie.",
    "engram-disk-resident-scales": "Their scales stay in memory while they lie on disk.",
    "engram-projection-tp": "Their projection is split over GPUs.",
    "adaptive-verification": "Verify as many drafts as pay off.",
    "adaptive-verification-cost-scale": "The cost of verifying, against what was measured.",
    "cache-l1-gib": "Host memory of the cache server, in GiB.",
    "cache-l1-init-gib": "What it takes of that at once.",
    "cache-object-tokens": "Tokens in a cached object.",
    "cache-transfer-mode": "Who moves KV blocks.",
    "cache-disk-path": "A directory of the cache server.",
    "cache-disk-gib": "Its size.",
    "cache-native-gib": "Host memory the engine itself offloads to.",
}
EXAMPLES = (
    "lil-serve --profile X --hardware Y --print-config=table",
    "lil-serve explain max-num-seqs --profile X -- --cache-mode lmcache --max-num-seqs 4",
)


def write_help(launch: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the help of `lil-serve`."""
    formatter.write(f"{TITLE}\n\n{ABOUT}\n\n{USAGE}")
    options = {option.opts[-1]: option for option in launch.get_params(ctx) if isinstance(option, click.Option)}
    for heading, flags in HEADINGS.items():
        _section(formatter, heading, [options[flag].get_help_record(ctx) for flag in flags])
    verbs = [(name, verb.help) for name, verb in VERBS.items() if name != LAUNCH]
    _section(formatter, "Verbs, each with its own --help", verbs)
    _section(formatter, "Controls, before or after --; they never reach the engine", list(_controls()))
    with formatter.section("Examples"):
        for line in EXAMPLES:
            formatter.write(f"  {line}\n")


def _section(
    formatter: click.HelpFormatter, heading: str, rows: list[tuple[str, str] | None] | list[tuple[str, str]]
) -> None:
    with formatter.section(heading):
        formatter.write_dl([row for row in rows if row is not None])


def _controls() -> Iterator[tuple[str, str]]:
    for name, spec in CONTROLS.items():
        choices = spec.get("choices") or ()
        if spec["type"] == "bool":
            yield f"--[no-]{name}", CONTROL_HELP[name]
        else:
            yield f"--{name} {'|'.join(choices) or KINDS[spec['type']]}", CONTROL_HELP[name]
