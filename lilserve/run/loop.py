"""A plan and a claim in, an exit status out: waits, tells the policy what happened, does what it answers."""

from __future__ import annotations

import math
import select
import signal
import time
from typing import TYPE_CHECKING, Any

from lilserve.run.children import NOT_EXECUTABLE, Children, Hands
from lilserve.run.environment import engine_environment, service_environment
from lilserve.run.events import Begin, Ended, Gone, Pass, Phase, Probe, Send, Side, Signalled, Start, Tell, Tick
from lilserve.run.inquiry import Inquiry
from lilserve.run.policy import decide
from lilserve.run.program import failed, find_program
from lilserve.run.readiness import engine_url, questions
from lilserve.run.relay import Relay
from lilserve.run.segments import remove, segments
from lilserve.run.state import State
from lilserve.run.tell import tell

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lilserve.plan.model import Plan
    from lilserve.run.events import Event
    from lilserve.run.limits import Limits
    from lilserve.run.preflight import Claim
    from lilserve.run.waiting import Signals

STOPPING = (Phase.STOPPING_ENGINE, Phase.STOPPING_CACHE, Phase.SWEEPING, Phase.ENDED)
LOOK_AGAIN = 0.1  # s, while stopping: the end of a process that is no child of ours is not signalled to us
_LAST_KILLS = 50
_LAST_LINES = 1.0  # s that a reader may take for what the engine left in its pipe


class Loop:
    """One run of a pair: the state of its policy, its children and what is being asked of them."""

    def __init__(self, plan: Plan, environ: Mapping[str, str], claim: Claim, limits: Limits, signals: Signals) -> None:
        self._plan, self._environ, self._claim, self._signals = plan, environ, claim, signals
        self._children = Children()
        self._relay = Relay(tell)
        self._inquiries: dict[Side, Inquiry] = {}
        self._segments: set[str] = set()
        self._state = State(limits, observed=engine_url(plan) is not None)
        self._do: dict[type, Callable[[Any], object]] = {
            Start: self._start,
            Send: self._send,
            Pass: lambda action: self._children.send_leader(action.side, action.number),
            Probe: self._probe,
            Tell: lambda action: tell(action.text),
        }

    def run(self) -> int:
        """Until nothing is left of the pair. Whatever goes wrong in here, no descendant outlives it."""
        try:
            self._hear()
            self._take(Begin())
            while self._state.phase is not Phase.ENDED:
                self._wait()
        finally:
            self._close()
        return self._state.status or 0

    def _take(self, event: Event) -> None:
        before = self._state.phase
        self._state, actions = decide(self._state, event, time.monotonic())
        for action in actions:
            self._do[type(action)](action)
        if self._state.phase is Phase.SERVING is not before:
            self._relay.served()
            self._segments |= segments()

    def _wait(self) -> None:
        """Sleep until something can have happened, then hear it: signals first, for they are the cause of deaths."""
        poll = select.poll()
        poll.register(self._signals, select.POLLIN)
        asks = {side: inquiry.ask for side, inquiry in self._inquiries.items() if inquiry.ask}
        for ask in asks.values():
            poll.register(ask, ask.events)
        for descriptor, events in self._relay.interests():
            poll.register(descriptor, events)
        ready = {descriptor for descriptor, _ in poll.poll(self._timeout())}
        self._hear()
        self._relay.pump(ready)
        self._reap()
        self._ask({side for side, ask in asks.items() if ask.fileno() in ready})
        if self._state.deadline is not None and time.monotonic() >= self._state.deadline:
            self._take(Tick())

    def _reap(self) -> None:
        events = self._children.reap()
        if not self._children.any_left:
            self._relay.drain(_LAST_LINES)  # before the last line of ours, which is the last one
        for event in events:
            self._take(event)

    def _timeout(self) -> int | None:
        """Milliseconds until somebody wants to be woken, or None to wait for a descriptor alone."""
        now = time.monotonic()
        wakes = [inquiry.wake() for inquiry in self._inquiries.values()]
        wakes += [self._state.deadline] if self._state.deadline is not None else []
        wakes += [now + LOOK_AGAIN] if self._state.phase in STOPPING else []
        return max(0, math.ceil((min(wakes) - now) * 1000)) if wakes else None

    def _hear(self) -> None:
        for number in self._signals.read():
            self._take(Signalled(number))

    def _ask(self, ready: set[Side]) -> None:
        if self._state.phase in STOPPING:
            self._forget()
        for side, inquiry in list(self._inquiries.items()):
            event = inquiry.turn(time.monotonic(), ready=side in ready)
            if event is not None:
                del self._inquiries[side]
                self._take(event)

    def _start(self, action: Start) -> None:
        argv, env, hands = self._command(action.side)
        try:
            self._children.start(action.side, find_program(argv, env) or argv[0], argv, env, hands)
        except OSError as error:
            tell(failed(argv, action.side.value, error).what)
            self._take(Ended(action.side, NOT_EXECUTABLE))
            self._take(Gone(action.side))
        if action.side is Side.ENGINE:
            self._relay.handed_over()

    def _command(self, side: Side) -> tuple[tuple[str, ...], dict[str, str], Hands]:
        """A side's argv, its environment and its descriptors."""
        if side is Side.ENGINE:
            return self._plan.argv, engine_environment(self._plan, self._environ), Hands(given=self._relay.given())
        service = self._claim.service
        return service.argv, service_environment(self._plan, service, self._environ), Hands(kept=self._claim.kept())

    def _send(self, action: Send) -> None:
        self._segments |= segments()  # while those who have them are alive
        if action.side is None:
            self._children.send_all(action.number)
        else:
            self._children.send(action.side, action.number)

    def _probe(self, action: Probe) -> None:
        first = self._state.phase is Phase.STARTING_CACHE
        asked = questions(action.side, self._plan, first=first)
        self._inquiries[action.side] = Inquiry(time.monotonic() + action.after, self._state.limits.timeout, asked)

    def _forget(self) -> None:
        for inquiry in self._inquiries.values():
            inquiry.close()
        self._inquiries.clear()

    def _close(self) -> None:
        self._forget()
        for _ in range(_LAST_KILLS):
            if self._state.phase is Phase.ENDED or not self._children.any_left:
                break
            self._children.send_all(signal.SIGKILL)
            self._children.reap()
            time.sleep(0.02)
        self._relay.close()
        for path in remove(self._segments):
            tell(f"removed {path}, which the engine left behind")
