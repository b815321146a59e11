"""What will run in, its digest out: the same for the same launch, whoever wrote it, wherever and whenever."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

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
    """SHA-256 over argv, listed environment, cache server, stop grace and overlay files, without origins and places."""
    runs = {
        "argv": list(argv),
        "environment": dict(environment),
        "service": None
        if service is None
        else [list(service.argv), dict(service.environment), service.health_url, service.shm_name, service.shm_bytes],
        "grace": grace,
        "files": dict(files),
    }
    return sha256(
        json.dumps(runs, sort_keys=True, separators=(",", ":")).encode("utf-8", "surrogateescape")
    ).hexdigest()
