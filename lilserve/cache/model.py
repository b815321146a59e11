"""The cache server of a launch, as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Service(NamedTuple):
    """The cache server beside the engine: its own argv, the environment it adds, and how to see that it is ready."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    health_url: str
    shm_name: str | None = None
    shm_bytes: int | None = None
    l1_bytes: int | None = None
    disk_path: str | None = None
    disk_bytes: int | None = None
    transfer_mode: str | None = None
