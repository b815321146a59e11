"""What will run in, its digest out: the same for the same launch, whoever wrote it, wherever and whenever."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lilserve.plan.redact import redact, redact_argv
from lilserve.sha256 import sha256

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lilserve.cache.model import Service


def digest(
    argv: Sequence[str],
    environment: Mapping[str, str],
    service: Service | None,
    grace: float | None,
    files: Mapping[str, str],
) -> str:
    """SHA-256 over argv, listed environment, cache server, stop grace and overlay files, without origins and places.

    A secret counts by its name: a digest is printed, and one over a weak secret would let anybody test guesses of it.
    """
    runs = {
        "argv": redact_argv(argv),
        "environment": {name: redact(text, name) for name, text in environment.items()},
        "service": None if service is None else _service(service),
        "grace": grace,
        "files": dict(files),
    }
    return sha256(
        json.dumps(runs, sort_keys=True, separators=(",", ":")).encode("utf-8", "surrogateescape")
    ).hexdigest()


def _service(service: Service) -> list[object]:
    environment = redact(dict(service.environment))
    return [redact_argv(service.argv), environment, service.health_url, service.shm_name, service.shm_bytes]
