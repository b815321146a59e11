"""The few functions that rules may call, all of them total: no argument makes one fail."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_SEATS = 1 << 16


def rungs(seats: int, ladder: str) -> list[int]:
    """Batch sizes in seats worth a CUDA graph: powers of two up to `seats` joined with its quarters rounded up, or all.

    `ladder` is `quarters` or `dense`; for any other ladder, and for seats outside 1 to 65536, there are none.
    """
    if not 1 <= seats <= MAX_SEATS:
        return []
    if ladder == "dense":
        return list(range(1, seats + 1))
    if ladder != "quarters":
        return []
    powers = {1 << bit for bit in range(seats.bit_length())}
    return sorted(powers | {-(-seats * quarter // 4) for quarter in (1, 2, 3, 4)})


def rows(config: Any, drafts: Any) -> int:
    """Rows that one seat verifies in a step: its draft tokens and one more, or one row without a speculative config."""
    return drafts + 1 if config is not None and isinstance(drafts, int) else 1


def on_grid(cap: int) -> int:
    """The largest capture size not above `cap` in an engine's own list: 1, 2, 4, steps of 8 to 256, then of 16.

    Source: vLLM builds its default list so, and takes the last of it for the cap.
    """
    step = next((step for least, step in ((256, 16), (8, 8), (4, 4), (2, 2)) if cap >= least), 1)
    return max(cap, 0) // step * step


def graph_rows(cap: Any, sizes: Any) -> int:
    """Rows of the largest CUDA graph: the largest of the written sizes, else the cap on the engine's grid, else 0."""
    if isinstance(sizes, list):
        return largest(sizes) or 0
    return on_grid(cap) if isinstance(cap, int) else 0


def first(values: Sequence[Any], count: int) -> list[Any]:
    """The first `count` items of a list, or all that there are."""
    return list(values)[: max(count, 0)]


def gib(count: float) -> float:
    """Bytes as GiB."""
    return count / (1 << 30)


def kernel_at_least(release: str, wanted: str) -> bool:
    """Whether the numeric prefix of a kernel release is at least `wanted`: 5.15.167.4-WSL2 is at least 4.19.121."""
    return _version(release) >= _version(wanted)


def _version(text: str) -> list[int]:
    prefix = re.match(r"\d{1,9}(\.\d{1,9})*", text)
    return [int(part) for part in prefix[0].split(".")] if prefix else []


def rounded(number: float, places: int) -> float:
    """The number at that many decimal places (0 to 12); a number that is not finite stays as it is."""
    return round(number, max(0, min(places, 12))) if math.isfinite(number) else number


def rounded_down(number: float, places: int) -> float:
    """As `rounded`, never upwards: the largest value of so many places that is not above the number."""
    scale = 10.0 ** max(0, min(places, 12))
    if not abs(number * scale) < 1 << 53:  # a double of this size has no such places
        return number
    steps = math.floor(number * scale)
    return steps / scale if steps / scale <= number else (steps - 1) / scale


def smallest(values: Sequence[Any]) -> Any:
    """The smallest number of a list, null when it holds none."""
    return min(_numbers(values), default=None)


def largest(values: Sequence[Any]) -> Any:
    """The largest number of a list, null when it holds none."""
    return max(_numbers(values), default=None)


def _numbers(values: Sequence[Any]) -> list[int | float]:
    return [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]


def get(mapping: Mapping[str, Any], key: str, default: Any) -> Any:
    """The value of a key, or the default where the mapping has none."""
    return mapping.get(key, default)


def slug(text: str) -> str:
    """A text as the name of one directory: `org/model` is `org--model`."""
    return re.sub(r"[^A-Za-z0-9._-]+", "--", text).strip(".") or "--"
