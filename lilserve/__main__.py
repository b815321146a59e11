"""`python -m lilserve` is `lil-serve`."""

from __future__ import annotations

from lilserve.cli import entry

entry()
