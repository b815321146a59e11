"""Facts of a host in, the one machine whose `detect` rule they satisfy out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lilserve.errors import ConfigurationError, Problem
from lilserve.resolution.expressions import Unknown, compiled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lilserve.documents.library import Library


def detect(library: Library, facts: Mapping[str, Any]) -> str:
    """The id of the machine this host is. Raises ConfigurationError when none or several fit, or a fact is missing."""
    candidates = [document for document in library.all("hardware") if "detect" in document.data]
    outcomes = {document.id: compiled(document.data["detect"]).outcome({"f": dict(facts)}) for document in candidates}
    fitting = [name for name, outcome in outcomes.items() if outcome is True]
    if len(fitting) == 1:
        return fitting[0]
    known = ", ".join(outcomes)
    if fitting:
        what = f"this host could be {' or '.join(fitting)}"
    else:
        missing = sorted({outcome.fact for outcome in outcomes.values() if isinstance(outcome, Unknown)})
        what = "no machine document fits this host" + (f": {', '.join(missing)} is not known of it" if missing else "")
    raise ConfigurationError(Problem(what, None, known, f"--hardware {(fitting or list(outcomes))[0]}", code="detect"))
