"""The final values of a resolution in; what the engine and the machine refuse of them out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lilserve.engine.canonical import unknown_flag
from lilserve.engine.check import check_option, check_variable, near_misses, nearest_variable, unpassable
from lilserve.engine.values import looks_like_a_flag
from lilserve.errors import Problem
from lilserve.layers.environment import FAMILIES
from lilserve.layers.layer import Rank
from lilserve.notice import Notice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lilserve.keypath import Path
    from lilserve.resolution.merge import Merged
    from lilserve.resolution.resolve import Resolution


def judge(resolution: Resolution) -> tuple[list[Problem], list[Notice]]:
    """Problems and notices of the final options and variables."""
    problems = [*_options(resolution), *_ceilings(resolution)]
    notices: list[Notice] = []
    positional = resolution.chosen.catalog.positional
    model = resolution.scope.o.get(positional)
    if isinstance(model, str) and looks_like_a_flag(model):
        what = f"{positional} is {model!r}, which the engine takes for a flag"
        problems.append(Problem(what, _places(resolution.options[positional])(()), code="no-model"))
    elif not model:
        problems.append(
            Problem(
                f"no {positional}: profile {resolution.chosen.profile[-1].id!r} names none",
                None,
                hint=f"--{positional} NAME",
                code="no-model",
            )
        )
    for name, merged in resolution.environment.items():
        if not merged.live:
            continue
        written = merged.live[()][-1]
        if reason := unpassable(written.value):
            problems.append(Problem(f"{name} {reason}", written.at or written.origin, code="unpassable"))
        inherited = written.rank == Rank.ENVIRONMENT and len(merged.live[()]) == 1
        problem = check_variable(name, resolution.chosen.catalog, written.at or written.origin, inherited=inherited)
        # A slip of the keyboard was meant for this engine; any other stranger may be meant for another program.
        slip = nearest_variable(name, resolution.chosen.catalog.environment) is not None if problem else False
        if problem is not None and inherited and problem.code == "inherited-variable" and not slip:
            notices.append(Notice(problem.code, problem.what + (f"; {problem.hint}" if problem.hint else ""), name))
        elif problem is not None:
            problems.append(problem)
    written_names = [
        name
        for name, merged in resolution.environment.items()
        if any(one.rank <= Rank.PRESET for trail in merged.live.values() for one in trail)
    ]
    operators = [name for name in resolution.environment if name not in written_names]
    free = tuple(family for family in FAMILIES if family != "VLLM_")
    notices += [
        Notice("near-miss", f"{name} is set; did you mean {near}?", name)
        for name, near in near_misses(operators, written_names, free)
    ]
    return problems, notices


def _options(resolution: Resolution) -> Iterator[Problem]:
    catalog = resolution.chosen.catalog
    for name, merged in resolution.options.items():
        wrong = [trail[-1].problem for trail in merged.live.values() if trail[-1].problem is not None]
        if wrong:
            yield from wrong
        elif (value := resolution.scope.o[name]) is not None:
            places = _places(merged)
            if name in catalog:
                yield from check_option(catalog.spec(name), value, places)
            else:
                yield unknown_flag(name, catalog, places(()))


def _places(merged: Merged) -> Callable[[Path], str]:
    """Where the leaf at a path was written, or the first leaf under it."""

    def at(path: Path) -> str:
        trail = merged.live.get(path) or next(
            (t for p, t in merged.live.items() if p[: len(path)] == path), next(iter(merged.live.values()))
        )
        return trail[-1].at or trail[-1].origin

    return at


def _ceilings(resolution: Resolution) -> Iterator[Problem]:
    """Values above what the machine can give."""
    for document in resolution.chosen.hardware:
        for name, ceiling in (document.data.get("ceiling") or {}).items():
            value: Any = resolution.scope.o.get(name)
            if isinstance(value, int | float) and value > ceiling:
                at = document.at("ceiling", name)
                rows = ((name, value, _places(resolution.options[name])(())), ("ceiling", ceiling, at))
                what = f"{name} is {value}, but {resolution.chosen.hardware[-1].id} can give {ceiling}"
                yield Problem(what, at, f"at most {ceiling}", f"--{name} {ceiling}", rows, code="ceiling")
