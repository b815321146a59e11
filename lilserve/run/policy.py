"""What supervision does: a state, an event and the time in, the next state and actions out. Pure."""

from __future__ import annotations

import signal
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from lilserve.run import limits as shares
from lilserve.run.words import how_it_ended, signal_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from lilserve.run.limits import Limits

FAILED = 1
NOT_READY = 4
HURRY = 2  # the interrupt that says so


class Side(Enum):
    """One of the pair; the value is what a person calls it."""

    ENGINE = "the engine"
    CACHE = "LMCache"


class Phase(Enum):
    STARTING_CACHE = "starting-cache"
    STARTING_ENGINE = "starting-engine"
    SERVING = "serving"
    STOPPING_ENGINE = "stopping-engine"
    STOPPING_CACHE = "stopping-cache"
    SWEEPING = "sweeping"
    ENDED = "ended"


# --- events


@dataclass(frozen=True, slots=True)
class Begin:
    """Preflight is over."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The leader of a side ended: `code` is its status, or minus a signal. Others of its group may live on."""

    side: Side
    code: int


@dataclass(frozen=True, slots=True)
class Gone:
    """Nothing is left of a side's process group; without a side, no descendant of ours is left at all."""

    side: Side | None


@dataclass(frozen=True, slots=True)
class Signalled:
    number: int


@dataclass(frozen=True, slots=True)
class Answered:
    side: Side


@dataclass(frozen=True, slots=True)
class Missed:
    side: Side
    why: str


@dataclass(frozen=True, slots=True)
class Wrong:
    """A side answered, and what it said rules it out."""

    side: Side
    why: str


@dataclass(frozen=True, slots=True)
class Tick:
    """The state's deadline has passed."""


Event = Begin | Ended | Gone | Signalled | Answered | Missed | Wrong | Tick

# --- actions


@dataclass(frozen=True, slots=True)
class Start:
    side: Side


@dataclass(frozen=True, slots=True)
class Send:
    """A signal for a side's process group; without a side, for every descendant."""

    side: Side | None
    number: int


@dataclass(frozen=True, slots=True)
class Probe:
    """Ask a side how it is, `after` seconds from now."""

    side: Side
    after: float


@dataclass(frozen=True, slots=True)
class Tell:
    text: str


Action = Start | Send | Probe | Tell


@dataclass(frozen=True, slots=True)
class State:
    """All that supervision remembers. `deadline` is when it wants a Tick; `status` is what the run will return."""

    limits: Limits
    phase: Phase = Phase.STARTING_CACHE
    running: frozenset[Side] = frozenset()
    observed: bool = True
    since: float = 0.0
    deadline: float | None = None
    misses: int = 0
    why: str = ""
    interrupts: int = 0
    killed: bool = False
    cause: str = ""
    status: int | None = None


Decision = tuple[State, tuple[Action, ...]]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a stop: whom it ends, and the shares of the grace at which it kills and at which it gives up."""

    side: Side
    kill: float
    leave: float
    then: Phase


STEPS = {
    Phase.STOPPING_ENGINE: Step(Side.ENGINE, shares.ENGINE_KILLED, shares.ENGINE_LEFT, Phase.STOPPING_CACHE),
    Phase.STOPPING_CACHE: Step(Side.CACHE, shares.CACHE_KILLED, shares.CACHE_LEFT, Phase.SWEEPING),
}


def decide(state: State, event: Event, now: float) -> Decision:
    """The one transition function. `now` is a monotonic time in seconds."""
    rule = RULES.get((state.phase, type(event))) or RULES.get((None, type(event)))
    return rule(state, event, now) if rule else (state, ())


# --- starting and serving


def _begin(state: State, _event: Begin, now: float) -> Decision:
    started = replace(state, running=frozenset({Side.CACHE}), since=now, deadline=_next_word(state, now, now))
    return started, (Start(Side.CACHE), Probe(Side.CACHE, state.limits.starting))


def _next_word(state: State, since: float, now: float) -> float:
    return min(now + state.limits.progress, since + state.limits.ready)


def _cache_ready(state: State, event: Answered, now: float) -> Decision:
    if event.side is not Side.CACHE:
        return state, ()
    told = Tell(f"LMCache is ready after {now - state.since:.0f} s; starting the engine")
    running = state.running | {Side.ENGINE}
    actions = (told, Start(Side.ENGINE), Probe(Side.CACHE, state.limits.interval))
    if not state.observed:
        return replace(state, phase=Phase.SERVING, running=running, misses=0, deadline=None), actions
    begun = replace(state, phase=Phase.STARTING_ENGINE, running=running, misses=0, since=now, deadline=None)
    return begun, (*actions, Probe(Side.ENGINE, 1.0))


def _cache_late(state: State, _event: Tick, now: float) -> Decision:
    waited = now - state.since
    if waited >= state.limits.ready:
        return _stop(state, now, f"LMCache was not ready in {state.limits.ready:.0f} s: {state.why}", NOT_READY)
    told = Tell(f"LMCache is not ready after {waited:.0f} s: {state.why or 'no answer yet'}")
    return replace(state, deadline=_next_word(state, state.since, now)), (told,)


def _cache_not_yet(state: State, event: Missed, _now: float) -> Decision:
    return replace(state, why=event.why), (Probe(event.side, state.limits.starting),)


def _answered(state: State, event: Answered, now: float) -> Decision:
    if event.side is Side.CACHE:
        return replace(state, misses=0), (Probe(Side.CACHE, state.limits.interval),)
    told = Tell(f"the engine answers after {now - state.since:.0f} s")
    return replace(state, phase=Phase.SERVING), (told,)


def _missed(state: State, event: Missed, now: float) -> Decision:
    if event.side is Side.ENGINE:
        return state, (Probe(Side.ENGINE, 1.0),)
    misses = state.misses + 1
    if misses >= state.limits.misses:
        return _stop(state, now, f"LMCache no longer answers ({event.why}, {misses} times)", FAILED)
    return replace(state, misses=misses), (Probe(Side.CACHE, state.limits.retry),)


def _wrong(state: State, event: Wrong, now: float) -> Decision:
    return _stop(state, now, f"{event.side.value} is not what was planned: {event.why}", FAILED)


# --- stopping


def _ended(state: State, event: Ended, now: float) -> Decision:
    status = FAILED
    if event.side is Side.ENGINE:
        status = event.code if event.code >= 0 else 128 - event.code
    return _stop(state, now, how_it_ended(event.side.value, event.code), status)


def _signalled(state: State, event: Signalled, now: float) -> Decision:
    name = signal_name(event.number)
    interrupts = int(event.number == signal.SIGINT)
    begun = replace(state, interrupts=interrupts)
    return _stop(begun, now, f"{name} received", 128 + event.number, event.number)


def _stop(state: State, now: float, cause: str, status: int, first: int = signal.SIGTERM) -> Decision:
    """Tell the cause, then stop the engine, the cache and whatever else is left, in this order."""
    begun = replace(state, since=now, cause=cause, status=status)
    told = Tell(f"{cause}; stopping, status {status}")
    settled, actions = _enter(begun, Phase.STOPPING_ENGINE, now, first)
    return settled, (told, *actions)


def _enter(state: State, phase: Phase, now: float, first: int = signal.SIGTERM) -> Decision:
    step = STEPS.get(phase)
    if step is None:
        deadline = min(now + state.limits.linger, state.since + state.limits.grace)
        return replace(state, phase=phase, killed=False, deadline=deadline), (Send(None, first),)
    if step.side not in state.running:
        return _enter(state, step.then, now)
    deadline = state.since + step.kill * state.limits.grace
    return replace(state, phase=phase, killed=False, deadline=deadline), (Send(step.side, first),)


def _step_late(state: State, _event: Tick, now: float) -> Decision:
    """The grace of a step is over: kill; and where a kill does not help, leave it to the sweep and go on."""
    step = STEPS[state.phase]
    if state.killed:
        return _enter(state, step.then, now)
    told = Tell(f"{step.side.value} did not end within {now - state.since:.1f} s: SIGKILL")
    leave = max(state.since + step.leave * state.limits.grace, now)
    return replace(state, killed=True, deadline=leave), (told, Send(step.side, signal.SIGKILL))


def _sweep_late(state: State, _event: Tick, now: float) -> Decision:
    if not state.killed:
        deadline = max(state.since + state.limits.grace, now + state.limits.linger)
        return replace(state, killed=True, deadline=deadline), (Send(None, signal.SIGKILL),)
    told = Tell("a process in uninterruptible sleep outlives its SIGKILL; leaving it to the kernel")
    settled, actions = _all_gone(state, now)
    return settled, (told, *actions)


def _gone(state: State, event: Gone, now: float) -> Decision:
    if event.side is None:
        return state, ()
    left = replace(state, running=state.running - {event.side})
    step = STEPS.get(state.phase)
    return _enter(left, step.then, now) if step and step.side is event.side else (left, ())


def _swept(state: State, event: Gone, now: float) -> Decision:
    return _all_gone(state, now) if event.side is None else _gone(state, event, now)


def _all_gone(state: State, now: float) -> Decision:
    told = Tell(f"stopped in {now - state.since:.1f} s, status {state.status}: {state.cause}")
    return replace(state, phase=Phase.ENDED, running=frozenset(), deadline=None), (told,)


def _again(state: State, event: Signalled, now: float) -> Decision:
    """A further signal changes nothing, lest it cut the cache's flush short; a second interrupt hurries."""
    interrupts = state.interrupts + int(event.number == signal.SIGINT)
    told = replace(state, interrupts=interrupts)
    if event.number != signal.SIGINT or interrupts < HURRY:
        return told, ()
    deadline = now + state.limits.linger
    hurried = replace(told, phase=Phase.SWEEPING, killed=True, deadline=deadline)
    return hurried, (Tell("interrupted again: SIGKILL for everything"), Send(None, signal.SIGKILL))


def _stay(state: State, _event: Event, _now: float) -> Decision:
    return state, ()


_STOPPING = (Phase.STOPPING_ENGINE, Phase.STOPPING_CACHE, Phase.SWEEPING)

# The first row that fits is used: one for the phase, then one for any phase.
RULES: dict[tuple[Phase | None, type[Event]], Callable[[State, Event, float], Decision]] = {
    (None, Begin): _begin,
    (Phase.STARTING_CACHE, Answered): _cache_ready,
    (Phase.STARTING_CACHE, Missed): _cache_not_yet,
    (Phase.STARTING_CACHE, Tick): _cache_late,
    (None, Answered): _answered,
    (None, Missed): _missed,
    (None, Wrong): _wrong,
    (None, Ended): _ended,
    (None, Signalled): _signalled,
    (None, Gone): _gone,
    **{(phase, kind): _stay for phase in (*_STOPPING, Phase.ENDED) for kind in (Answered, Missed, Wrong, Ended)},
    **{(phase, Signalled): _again for phase in _STOPPING},
    **{(phase, Tick): _step_late for phase in STEPS},
    (Phase.SWEEPING, Tick): _sweep_late,
    (Phase.SWEEPING, Gone): _swept,
    (Phase.ENDED, Signalled): _stay,
}  # type: ignore[dict-item] -- each row's function takes the event that its key names
