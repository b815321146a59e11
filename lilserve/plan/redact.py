"""Anything printable in, the same without secrets out: by name, in JSON fields, in URLs, after a secret-named flag."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

REDACTED = "<redacted>"

# The last word decides: a TOKEN is a secret, a TOKEN_THRESHOLD or a number of TOKENS is not.
_ALWAYS = frozenset(
    {"password", "passwd", "passphrase", "secret", "secrets", "credential", "credentials", "authorization"}
)
_LAST = frozenset({"token", "apikey", "auth", "bearer", "cookie"})
_KEYS = frozenset({"api", "access", "private", "secret", "account", "signing", "encryption", "auth"})
_WORDS = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+"
_USERINFO = r"([A-Za-z][A-Za-z0-9+.-]*://)[^/\s@\"']+@"
_PARAMETER = r"(?i)([?&;](?:[\w-]*(?:token|api[_-]?key|secret|password|signature|sig|credential)[\w-]*)=)[^&#;\s\"']+"
_BEARER = r"(?i)\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{6,}"
_PLAIN_TOKENS = frozenset(
    {
        "bos token",
        "eos token",
        "pad token",
        "unk token",
        "mask token",
        "sep token",
        "cls token",
        "image token",
        "stop token",
    }
)


@lru_cache(maxsize=4096)
def secret_name(name: str) -> bool:
    """Whether a value under this name is a secret: `HF_TOKEN`, `api-key`; not `max-num-batched-tokens`."""
    words = [word.lower() for word in re.findall(_WORDS, name)]
    if not words or " ".join(words[-2:]) in _PLAIN_TOKENS:
        return False
    last = words[-1]
    return (
        not _ALWAYS.isdisjoint(words)
        or last in _LAST
        or (last in ("key", "keys") and len(words) > 1 and words[-2] in _KEYS)
    )


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
    """A text without the user part and the secret parameters of the URLs in it, and without bearer headers."""
    if "://" in text or "?" in text or "&" in text:
        text = re.sub(_PARAMETER, rf"\1{REDACTED}", re.sub(_USERINFO, rf"\1{REDACTED}@", text))
    return re.sub(_BEARER, rf"\1 {REDACTED}", text) if " " in text else text


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
    import json  # noqa: PLC0415 -- most argvs have no JSON to look into

    try:
        value = json.loads(token)
    except ValueError:
        return redact_text(token)
    safe = redact(value)
    return token if safe == value else json.dumps(safe, separators=(",", ":"), ensure_ascii=False)
