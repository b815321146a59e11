"""Anything printable in, the same without secrets out: by name, in JSON fields, in URLs, after a secret-named flag."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from lilserve.secret import REDACTED, secret_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = ["REDACTED", "redact", "redact_argv", "redact_message", "redact_text", "secret_name", "secrets_of"]

_USERINFO = r"([A-Za-z][A-Za-z0-9+.-]*://)[^/\s@\"']+@"
_PARAMETER = r"(?i)([?&;](?:[\w-]*(?:token|api[_-]?key|secret|password|signature|sig|credential)[\w-]*)=)[^&#;\s\"']+"
# `NAME=value`, `"name": value` and `name: "value"` inside a text; a bare `name: word` is prose.
_ASSIGNED = (
    r"""(?<![\w.-])([A-Za-z_][\w.-]*)(\\?["']?\s*=\s*|\\?["']\s*:\s*|\s*:\s*(?=\\?["']))"""
    r"""(?!<redacted>)(\\?"[^"]*"|\\?'[^']*'|(?:Bearer|Basic)\s+\S+|[^\s,;&"'}]+)"""
)
_JUDGED = r"(?<![\w.-])([A-Za-z_][\w.-]*)(\)? (?:must be [^,]+, not|cannot be|needs a mapping, not) )(.+)"
_SHORT = 4  # letters of a secret that can still be told from ordinary text
_BEARER = r"(?i)\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{6,}"


def redact(value: Any, name: str = "") -> Any:
    """The value as it may be shown under `name`; mappings and lists are gone through to any depth."""
    if name and secret_name(name) and value is not None and not isinstance(value, bool):
        return REDACTED
    if isinstance(value, dict):
        return {key: redact(inner, str(key)) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [redact(inner) for inner in value]
    return redact_text(value) if isinstance(value, str) else value


def redact_text(text: str) -> str:
    """A text without secrets in URLs, behind `Bearer`, and after a secret's name with `=` or, quoted, with a colon.

    What is not Unicode, and so cannot be printed, is escaped.
    """
    if not text.isascii():
        text = text.encode("utf-8", "backslashreplace").decode()
    if "://" in text or "?" in text or "&" in text:
        text = re.sub(_PARAMETER, rf"\1{REDACTED}", re.sub(_USERINFO, rf"\1{REDACTED}@", text))
    if ("=" in text or ":" in text) and _may_name_a_secret(text):
        text = re.sub(_ASSIGNED, _without_value, text)
    return re.sub(_BEARER, rf"\1 {REDACTED}", text) if _has_scheme(text) else text


def _has_scheme(text: str) -> bool:
    """Whether a text may hold an authorization header; most have no blank, and then no pattern need be compiled."""
    return " " in text and any(scheme in text.lower() for scheme in ("bearer ", "basic "))


def _may_name_a_secret(text: str) -> bool:
    """A cheap look that spares most texts the patterns: every secret's name has one of these in it."""
    lower = text.lower()
    return any(part in lower for part in ("token", "key", "pass", "secret", "auth", "cred", "cookie", "bearer"))


def _without_value(found: re.Match[str]) -> str:
    return f"{found[1]}{found[2]}{REDACTED}" if secret_name(found[1]) else found[0]


def redact_message(text: str, secrets: Iterable[str] = ()) -> str:
    """A message to a person: as `redact_text`, without a judged value under a secret's name and all `secrets`."""
    for secret in secrets:
        quoted = (repr(secret), json.dumps(secret), json.dumps(secret, ensure_ascii=False))
        for shown in (secret, *(form[1:-1] for form in quoted), secret.replace('\\"', '"')):
            text = text.replace(shown, REDACTED)
    return redact_text(re.sub(_JUDGED, _without_value, text) if _may_name_a_secret(text) else text)


def secrets_of(tokens: Sequence[str], variables: Mapping[str, str]) -> list[str]:
    """Every value that words of a command line and variables give under a secret's name, the longest first."""
    found = {text for name, text in variables.items() if secret_name(name)} | set(_after_names(tokens))
    return sorted((text for text in found if len(text) >= _SHORT), key=len, reverse=True)


def _after_names(tokens: Sequence[str]) -> Iterator[str]:
    hiding = False
    for token in tokens:
        flag, *rest = token.split(maxsplit=1)[:2] if token.startswith("-") else ("",)
        if hiding and not flag:
            yield token
        if rest:
            yield from (*rest, *_after_names(rest[0].split())) if secret_name(flag) else _after_names(rest[0].split())
        yield from _assigned(token)
        yield from _fields(token)
        hiding = secret_name(flag) and "=" not in flag if flag else hiding


def _assigned(token: str) -> Iterator[str]:
    """What stands after each `name=`, `name:` and `"name":` in a word: all of it, and its first word."""
    for found in re.finditer(r"""(?<![\w.-])([\w.-]+)\\?["']?\s*[=:]""", token):
        if secret_name(found[1]):
            rest = token[found.end() :]
            yield rest.strip("\"'\\{}[] ")
            yield from re.findall(r"""[^\s"'\\,{}\[\]]+""", rest)[:1]


def _fields(token: str) -> Iterator[str]:
    """The secret texts in a word that is JSON, or that ends in JSON behind `name=`."""
    start = token.find("{")
    try:
        yield from _leaves(json.loads(token[start:]) if start >= 0 else None)
    except (ValueError, RecursionError):
        return


def _leaves(value: Any, name: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, name if secret_name(name) else key)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, name)
    elif isinstance(value, str) and secret_name(name):
        yield value


def redact_argv(argv: Sequence[str]) -> list[str]:
    """The tokens without secrets: every value after a secret-named flag, and secret fields of JSON tokens."""
    shown: list[str] = []
    hiding = False
    for token in argv:
        if token.startswith("--"):
            flag, equals, value = token.partition("=")
            hiding = secret_name(flag)
            shown.append(f"{flag}={REDACTED if hiding else redact_text(value)}" if equals else token)
        elif hiding:
            shown.append(REDACTED)
        else:
            shown.append(_json(token) if token[:1] in ("{", "[") else redact_text(token))
    return shown


def _json(token: str) -> str:
    try:
        value = json.loads(token)
    except ValueError:
        return redact_text(token)
    safe = redact(value)
    return token if safe == value else json.dumps(safe, separators=(",", ":"), ensure_ascii=False)
