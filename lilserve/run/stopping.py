"""A state and why it must end in; the steps of a stop out, engine before cache before everything else. Pure."""

from __future__ import annotations

import signal
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from lilserve.run.events import Pass, Phase, Send, Side, Tell
from lilserve.run.limits import CACHE, DRAINED, ENGINE
from lilserve.run.state import Pressed

if TYPE_CHECKING:
    from lilserve.run.events import Ended, Gone, Signalled, Tick
    from lilserve.run.limits import Shares
    from lilserve.run.state import Decision, State

HURRY = 2  # the interrupt that says so


class Step(NamedTuple):
    """One step of a stop: whom it ends, when it presses harder, and what comes then."""

    side: Side
    shares: Shares
    then: Phase


STEPS = {
    Phase.STOPPING_ENGINE: Step(Side.ENGINE, ENGINE, Phase.STOPPING_CACHE),
    Phase.STOPPING_CACHE: Step(Side.CACHE, CACHE, Phase.SWEEPING),
}


def stop(state: State, now: float, cause: str, status: int, first: int = signal.SIGTERM) -> Decision:
    """Tell the cause, then stop the engine, the cache and whatever else is left, in this order."""
    begun = replace(state, since=now, cause=cause, status=status)
    told = Tell(f"{cause}; stopping, status {status}")
    settled, actions = _enter(begun, Phase.STOPPING_ENGINE, now, first)
    return settled, (told, *actions)


def _enter(state: State, phase: Phase, now: float, first: int = signal.SIGTERM) -> Decision:
    """Ask a whole group, or of an engine that drains its leader alone: workers leave at once, requests or not."""
    step = STEPS.get(phase)
    if step is None:
        deadline = min(now + state.limits.linger, state.since + state.limits.grace)
        return replace(state, phase=phase, pressed=Pressed.ALL_ASKED, deadline=deadline), (Send(None, signal.SIGTERM),)
    if step.side not in state.running:
        return _enter(state, step.then, now)
    entered = replace(state, phase=phase)
    if step.side is Side.CACHE or step.side in state.headless or not state.limits.drain:
        return _ask_all(entered, step, now, first)
    asked = replace(entered, pressed=Pressed.ASKED, deadline=_at(state, DRAINED, now))
    return asked, (Pass(step.side, first),)


def _at(state: State, share: float, now: float) -> float:
    """The moment at which a share of the grace is over."""
    return max(state.since + share * state.limits.grace, now)


def _ask_all(state: State, step: Step, now: float, first: int = signal.SIGTERM) -> Decision:
    asked = replace(state, pressed=Pressed.ALL_ASKED, deadline=_at(state, step.shares.killed, now))
    return asked, (Send(step.side, first),)


def leader_ended(state: State, event: Ended, now: float) -> Decision:
    """What a leader leaves behind is asked to end too."""
    left = replace(state, headless=state.headless | {event.side})
    step = STEPS.get(state.phase)
    if step and step.side is event.side and state.pressed is Pressed.ASKED:
        return _ask_all(left, step, now)
    return left, ()


def step_late(state: State, _event: Tick, now: float) -> Decision:
    """A share of the grace is over: press harder; and where a kill does not help, leave it to the sweep and go on."""
    step = STEPS[state.phase]
    if state.pressed is Pressed.ASKED:
        return _ask_all(state, step, now)
    if state.pressed is Pressed.KILLED:
        return _enter(state, step.then, now)
    told = Tell(f"{step.side.value} did not end within {now - state.since:.1f} s: SIGKILL")
    killed = replace(state, pressed=Pressed.KILLED, deadline=_at(state, step.shares.left, now))
    return killed, (told, Send(step.side, signal.SIGKILL))


def sweep_late(state: State, _event: Tick, now: float) -> Decision:
    if state.pressed is not Pressed.KILLED:
        deadline = max(state.since + state.limits.grace, now + state.limits.linger)
        return replace(state, pressed=Pressed.KILLED, deadline=deadline), (Send(None, signal.SIGKILL),)
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
    hurried = replace(told, phase=Phase.SWEEPING, pressed=Pressed.KILLED, deadline=deadline)
    return hurried, (Tell("interrupted again: SIGKILL for everything"), Send(None, signal.SIGKILL))
