"""What a person wrote after `--gpus` in, the devices a container reserves out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lilserve.errors import Problem

if TYPE_CHECKING:
    from lilserve.plan.model import Plan

ALL = -1
NONE = "none"
CDI = "="  # nvidia.com/gpu=0


class Gpus(NamedTuple):
    """Either an `amount` of them (-1 is all), or `ids` (indices or UUIDs), or `cdi` device names. All empty is none."""

    amount: int = 0
    ids: tuple[str, ...] = ()
    cdi: tuple[str, ...] = ()

    def number(self) -> int | None:
        """How many, or None where only the host can tell."""
        if any(name.endswith("=all") for name in self.cdi) or self.amount == ALL:
            return None
        return self.amount or len(self.ids) or len(self.cdi)


def needed(plan: Plan) -> int:
    """How many GPUs the plan takes in all: the product of its parallel sizes."""
    sizes = ("tensor-parallel-size", "pipeline-parallel-size", "data-parallel-size")
    total = 1
    for name in sizes:
        total *= _whole(plan, name)
    return total


def divided(plan: Plan, problems: list[Problem]) -> int:
    """How many GPUs the plan takes on each of its machines."""
    total, nodes = needed(plan), _whole(plan, "nnodes")
    if total % nodes:
        what = f"the parallel sizes of this launch make {total} ranks, which {nodes} machines cannot share alike"
        problems.append(Problem(what, hint=f"-- --tensor-parallel-size {nodes}", code="nnodes"))
    return max(1, total // nodes)


def _whole(plan: Plan, name: str) -> int:
    option = plan.options.get(name)
    return option.value if option and isinstance(option.value, int) and option.value > 0 else 1


def read_gpus(plan: Plan, text: str | None, problems: list[Problem]) -> Gpus:
    """The devices that were asked for, or as many as the plan takes on a machine that has GPUs."""
    figures, wanted = plan.hardware_figures.get("gpu") or {}, divided(plan, problems)
    if text is None:
        has_gpus = any(figures.get(name) for name in ("name", "memory_gib", "compute_capability", "count"))
        gpus = Gpus(amount=wanted) if has_gpus else Gpus()
    else:
        gpus = _parse(text.strip(), problems)
    number, count = gpus.number(), figures.get("count")
    if number is not None and count is not None and number > count:
        problems.append(_problem(f"{number} GPUs are wanted, and {plan.hardware} has {count}", f"--gpus {count}"))
    elif number and number < wanted:
        problems.append(
            _problem(
                f"--gpus {text} is {number}, and this launch takes {wanted}", f"-- --tensor-parallel-size {number}"
            )
        )
    return gpus


def _parse(text: str, problems: list[Problem]) -> Gpus:
    if text == "all":
        return Gpus(amount=ALL)
    if text == NONE:
        return Gpus()
    names = [name.strip() for name in text.removeprefix("device=").split(",")]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        problems.append(_problem(f"--gpus names {', '.join(twice)} twice", "--gpus " + ",".join(dict.fromkeys(names))))
    if not all(names):
        problems.append(_problem(f"--gpus {text!r} has an empty name in it", "--gpus 0,1"))
    if all(CDI in name for name in names):
        return Gpus(cdi=tuple(names))
    if any(CDI in name for name in names):
        problems.append(_problem("--gpus mixes CDI names and indices", "--gpus nvidia.com/gpu=0,nvidia.com/gpu=1"))
    if len(names) == 1 and names[0].isdigit() and "device=" not in text:
        return _counted(int(names[0]), problems)
    bad = [name for name in names if not (name.isdigit() or name.startswith(("GPU-", "MIG-")) or CDI in name)]
    problems += [
        _problem(f"--gpus {name!r} is no GPU", "--gpus 0,1, --gpus all, or GPU-... UUIDs") for name in bad if name
    ]
    return Gpus(ids=tuple(names))


def _counted(count: int, problems: list[Problem]) -> Gpus:
    if count == 0:
        problems.append(_problem("--gpus 0 could be no GPU or the first one", "--gpus none, or --gpus device=0"))
    return Gpus(amount=count)


def _problem(what: str, hint: str) -> Problem:
    return Problem(what, None, "a number, `all`, `none`, indices, UUIDs or CDI names", hint, code="gpus")
