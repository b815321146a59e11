"""A name in, whether what stands under it is a secret out."""

from __future__ import annotations

import re
from functools import lru_cache

REDACTED = "<redacted>"

# The last word decides: a TOKEN is a secret, a TOKEN_THRESHOLD or a number of TOKENS is not.
_ALWAYS = frozenset(
    {"password", "passwd", "passphrase", "secret", "secrets", "credential", "credentials", "authorization"}
)
_LAST = frozenset({"token", "apikey", "auth", "bearer", "cookie", "pat", "dsn"})
_OPEN_KEYS = frozenset({"public", "primary", "foreign", "sort", "partition"})  # any other kind of KEY is a secret
_WORDS = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+"
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
        or (last in ("key", "keys") and len(words) > 1 and words[-2] not in _OPEN_KEYS)
    )
