"""A plan in, its variables out: those a rendering may show, and the names of those it may not.

A home gets a secret by name, from the caller's environment or its own store. A secret in a command line has no such
way and is refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from lilserve.errors import Problem
from lilserve.plan.redact import redact, redact_argv

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lilserve.plan.model import Plan

# What engines read from the environment without anybody listing it; passed on by name where the caller has it.
INHERITED = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
# Flags that have a variable which does the same.
INSTEAD = {"--api-key": "VLLM_API_KEY", "--hf-token": "HF_TOKEN"}
# NUL cannot stand in an argument, and half of a surrogate pair is no text in any document.
_UNWRITABLE = re.compile("[\0\ud800-\udfff]")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Variables(NamedTuple):
    """`shown` go by value, `named` by name alone."""

    shown: Mapping[str, str]
    named: tuple[str, ...]


def variables_of(plan: Plan, asked: Iterable[str], present: Iterable[str]) -> Variables:
    """The plan's variables, the secrets asked for, and the inherited secrets among those `present` at the caller."""
    texts = plan.texts()
    shown = {name: text for name, text in texts.items() if redact(text, name) == text}
    inherited = [name for name in INHERITED if name in present]
    named = dict.fromkeys([*(name for name in texts if name not in shown), *asked, *inherited])
    return Variables(shown, tuple(named))


def unrenderable(plan: Plan, asked: Sequence[str]) -> Iterator[Problem]:
    """Everything in a plan that no rendering can carry."""
    for argv in (plan.argv, plan.cache_service.argv if plan.cache_service else ()):
        yield from _secret_tokens(argv)
        yield from (
            _unwritable(f"argument {index} of the command") for index, one in enumerate(argv) if _UNWRITABLE.search(one)
        )
    service = plan.cache_service.environment if plan.cache_service else {}
    for name, text in service.items():
        if redact(text, name) != text:
            yield _problem(f"{name} of the cache server is a secret", f"set {name} in the environment instead")
    for name, text in {**service, **plan.texts()}.items():
        if _UNWRITABLE.search(text):
            yield _unwritable(name)
    for name in asked:
        if not _NAME.fullmatch(name):
            yield Problem(
                f"--secret takes the name of a variable, not {name.partition('=')[0]!r} with more behind it",
                hint="set it in the environment and pass --secret HF_TOKEN",
                code="secret",
            )
        elif name in plan.environment and redact(plan.texts()[name], name) == plan.texts()[name]:
            yield Problem(f"{name} is a variable of the plan and no secret", code="secret")


def _secret_tokens(argv: Sequence[str]) -> Iterator[Problem]:
    flag = ""
    for token, safe in zip(argv, redact_argv(argv), strict=True):
        flag = token.partition("=")[0] if token.startswith("--") else flag
        if token != safe:
            variable = INSTEAD.get(flag)
            hint = (
                f"set {variable} in the environment instead; it is then passed by name"
                if variable
                else "a file or a variable that the engine reads instead"
            )
            yield _problem(f"{flag or 'the command'} holds a secret", hint)


def _problem(what: str, hint: str) -> Problem:
    return Problem(f"{what}, and a rendering would show it by value", hint=hint, code="secret")


def _unwritable(what: str) -> Problem:
    return Problem(f"{what} holds bytes that are no text", code="bytes", hint="a value in UTF-8, without NUL")
