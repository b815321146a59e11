"""What supervision does: a state, an event and the time in, the next state and actions out. Pure."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from lilserve.run.events import (
    Answered,
    Begin,
    Ended,
    Event,
    Gone,
    Missed,
    Pass,
    Phase,
    Probe,
    Side,
    Signalled,
    Start,
    Tell,
    Tick,
    Wrong,
)
from lilserve.run.state import Decision, State
from lilserve.run.stopping import STEPS, again, gone, leader_ended, step_late, stop, sweep_late, swept
from lilserve.run.words import how_it_ended, signal_name

FAILED = 1
NOT_READY = 4
PASSED = frozenset({signal.SIGUSR1, signal.SIGUSR2})
Rule = Callable[[State, Any, float], Decision]  # the event is the one that the rule's row names


def decide(state: State, event: Event, now: float) -> Decision:
    """The one transition function. `now` is a monotonic time in seconds."""
    rule = RULES.get((state.phase, type(event))) or RULES.get((None, type(event)))
    return rule(state, event, now) if rule else (state, ())


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
        return stop(state, now, f"LMCache was not ready in {state.limits.ready:.0f} s: {state.why}", NOT_READY)
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
        return stop(state, now, f"LMCache no longer answers ({event.why}, {misses} times)", FAILED)
    return replace(state, misses=misses), (Probe(Side.CACHE, state.limits.retry),)


def _wrong(state: State, event: Wrong, now: float) -> Decision:
    return stop(state, now, f"{event.side.value} is not what was planned: {event.why}", FAILED)


def _ended(state: State, event: Ended, now: float) -> Decision:
    status = FAILED
    if event.side is Side.ENGINE:
        status = event.code if event.code >= 0 else 128 - event.code
    left = replace(state, headless=state.headless | {event.side})
    return stop(left, now, how_it_ended(event.side.value, event.code), status)


def _signalled(state: State, event: Signalled, now: float) -> Decision:
    if event.number in PASSED:
        return state, (Pass(Side.ENGINE, event.number),) if Side.ENGINE in state.running else ()
    name = signal_name(event.number)
    interrupts = int(event.number == signal.SIGINT)
    begun = replace(state, interrupts=interrupts)
    return stop(begun, now, f"{name} received", 128 + event.number, event.number)


def _stay(state: State, _event: Event, _now: float) -> Decision:
    return state, ()


_STOPPING = (Phase.STOPPING_ENGINE, Phase.STOPPING_CACHE, Phase.SWEEPING)

# A row for the phase is used before one for any phase; what has no row changes nothing.
RULES: dict[tuple[Phase | None, type[Event]], Rule] = {
    (Phase.STARTING_CACHE, Begin): _begin,
    (Phase.STARTING_CACHE, Answered): _cache_ready,
    (Phase.STARTING_CACHE, Missed): _cache_not_yet,
    (Phase.STARTING_CACHE, Tick): _cache_late,
    (None, Answered): _answered,
    (None, Missed): _missed,
    (None, Wrong): _wrong,
    (None, Ended): _ended,
    (None, Signalled): _signalled,
    (None, Gone): gone,
    **{(phase, kind): _stay for phase in (*_STOPPING, Phase.ENDED) for kind in (Answered, Missed, Wrong)},
    **{(phase, Ended): leader_ended for phase in (*_STOPPING, Phase.ENDED)},
    **{(phase, Signalled): again for phase in _STOPPING},
    **{(phase, Tick): step_late for phase in STEPS},
    (Phase.SWEEPING, Tick): sweep_late,
    (Phase.SWEEPING, Gone): swept,
    (Phase.ENDED, Signalled): _stay,
}
