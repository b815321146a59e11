"""Resolved options in, the engine's argv out: each option once, sorted by its positive name, every token its own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lilserve.engine.values import looks_like_a_flag

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lilserve.engine.catalog import Catalog, Spec


def engine_argv(
    command: Sequence[str], options: Mapping[str, Any], catalog: Catalog, unknown: Sequence[tuple[str, ...]] = ()
) -> tuple[str, ...]:
    """The command, the model as its positional argument, the flags, then what `--allow-unknown` let through."""
    tokens = list(command)
    if options.get(catalog.positional) is not None:
        tokens.append(str(options[catalog.positional]))
    for name in sorted(options):
        if name != catalog.positional and name in catalog.raw and options[name] is not None:
            tokens += _flag(catalog.spec(name), options[name])
    return (*tokens, *(token for group in unknown for token in group))


def _flag(spec: Spec, value: Any) -> Iterator[str]:
    if isinstance(value, bool) and spec.type == "bool":
        yield spec.flags[0] if value else spec.negative[0]
    elif spec.append and isinstance(value, list):
        for item in value:
            yield from (spec.flags[0], text(item, spec))
    elif isinstance(value, list) and spec.many:
        yield spec.flags[0]
        yield from (text(item, spec) for item in value)
    elif value is True and spec.arity == "?":
        yield spec.flags[0]
    else:
        shown = text(value, spec)
        yield from (f"{spec.flags[0]}={shown}",) if looks_like_a_flag(shown) else (spec.flags[0], shown)


def text(value: Any, spec: Spec) -> str:
    """One value as the engine reads it: floats by `repr`, integers without a point, objects as compact JSON."""
    if isinstance(value, dict | list):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    if isinstance(value, bool):
        return str(value).lower()
    if spec.type == "float" and isinstance(value, int | float):
        return repr(float(value))
    return str(value)
