"""The whole program: documents and wishes in, a plan out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lilserve.plan.build import build_plan
from lilserve.resolution.resolve import resolve

if TYPE_CHECKING:
    from lilserve.cli.selecting import Request
    from lilserve.plan.model import Plan


def plan_of(request: Request) -> Plan:
    """Resolve a request and freeze it. Raises ConfigurationError with every problem there is."""
    return build_plan(resolve(request.library, request.selection), request.library)
