"""A state and why it must end in; the steps of a stop out, engine before cache before everything else. Pure."""

from __future__ import annotations

import signal
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lilserve.run import limits as shares
from lilserve.run.events import Phase, Send, Side, Tell

if TYPE_CHECKING:
    from lilserve.run.events import Gone, Signalled, Tick
    from lilserve.run.state import Decision, State

HURRY = 2  # the interrupt that says so


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


def stop(state: State, now: float, cause: str, status: int, first: int = signal.SIGTERM) -> Decision:
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


def step_late(state: State, _event: Tick, now: float) -> Decision:
    """The grace of a step is over: kill; and where a kill does not help, leave it to the sweep and go on."""
    step = STEPS[state.phase]
    if state.killed:
        return _enter(state, step.then, now)
    told = Tell(f"{step.side.value} did not end within {now - state.since:.1f} s: SIGKILL")
    leave = max(state.since + step.leave * state.limits.grace, now)
    return replace(state, killed=True, deadline=leave), (told, Send(step.side, signal.SIGKILL))


def sweep_late(state: State, _event: Tick, now: float) -> Decision:
    if not state.killed:
        deadline = max(state.since + state.limits.grace, now + state.limits.linger)
        return replace(state, killed=True, deadline=deadline), (Send(None, signal.SIGKILL),)
    told = Tell("a process in uninterruptible sleep outlives its SIGKILL; leaving it to the kernel")
    settled, actions = _all_gone(state, now)
    return settled, (told, *actions)


def gone(state: State, event: Gone, now: float) -> Decision:
    if event.side is None:
        return state, ()
    left = replace(state, running=state.running - {event.side})
    step = STEPS.get(state.phase)
    return _enter(left, step.then, now) if step and step.side is event.side else (left, ())


def swept(state: State, event: Gone, now: float) -> Decision:
    return _all_gone(state, now) if event.side is None else gone(state, event, now)


def _all_gone(state: State, now: float) -> Decision:
    told = Tell(f"stopped in {now - state.since:.1f} s, status {state.status}: {state.cause}")
    return replace(state, phase=Phase.ENDED, running=frozenset(), deadline=None), (told,)


def again(state: State, event: Signalled, now: float) -> Decision:
    """A further signal changes nothing, lest it cut the cache's flush short; a second interrupt hurries."""
    interrupts = state.interrupts + int(event.number == signal.SIGINT)
    told = replace(state, interrupts=interrupts)
    if event.number != signal.SIGINT or interrupts < HURRY:
        return told, ()
    deadline = now + state.limits.linger
    hurried = replace(told, phase=Phase.SWEEPING, killed=True, deadline=deadline)
    return hurried, (Tell("interrupted again: SIGKILL for everything"), Send(None, signal.SIGKILL))
