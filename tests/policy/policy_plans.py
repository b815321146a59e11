"""What tests read out of a plan."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lilserve.plan.model import Plan


def values(plan: Plan, flag: str) -> list[str]:
    """The values that follow a flag in the engine's argv, empty when it is not there."""
    if flag not in plan.argv:
        return []
    rest = plan.argv[plan.argv.index(flag) + 1 :]
    end = next((index for index, token in enumerate(rest) if token.startswith("--")), len(rest))
    return list(rest[:end])


def value(plan: Plan, flag: str) -> str | None:
    """The one value of a flag in the engine's argv, None when it is not there."""
    found = values(plan, flag)
    assert len(found) <= 1, f"{flag} has {found}"
    return found[0] if found else None


def mapping(plan: Plan, flag: str) -> dict[str, Any]:
    """The JSON value of a flag in the engine's argv, empty when it is not there."""
    text = value(plan, flag)
    return {} if text is None else json.loads(text)


def said(plan: Plan, code: str) -> str:
    """The text of the one notice with this code."""
    texts = [notice.text for notice in plan.notices if notice.code == code]
    assert len(texts) == 1, f"{code}: {[(notice.code, notice.text) for notice in plan.notices]}"
    return texts[0]


def codes(plan: Plan) -> set[str]:
    """The codes of every notice."""
    return {notice.code for notice in plan.notices}


def why(plan: Plan, option: str) -> str:
    """What the plan says of why an option has its value."""
    text = plan.options[option].leaves[""].written.why
    assert text is not None
    return text


def overlays(plan: Plan) -> list[str]:
    """The ids of the overlays that take part."""
    return [overlay.id for overlay in plan.overlays]
