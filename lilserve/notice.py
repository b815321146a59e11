"""What a person should know of a launch that goes ahead."""

from __future__ import annotations

from typing import NamedTuple


class Notice(NamedTuple):
    """Something a person should know that does not stop the launch.

    `level` is `warning` (counted by `--strict`) or `information` (never counted).
    """

    code: str
    text: str
    about: str | None = None
    level: str = "warning"
