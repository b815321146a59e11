"""The supervisor's policy by histories: what happened, and what was done about it."""

from __future__ import annotations

import signal
from dataclasses import dataclass, field, replace

import pytest

from lilserve.run.events import (
    Answered,
    Begin,
    Ended,
    Gone,
    Missed,
    Pass,
    Phase,
    Probe,
    Send,
    Side,
    Signalled,
    Start,
    Tell,
    Tick,
    Wrong,
)
from lilserve.run.limits import Limits
from lilserve.run.policy import decide
from lilserve.run.state import State

ENGINE, CACHE = Side.ENGINE, Side.CACHE
TERM, INT, KILL = signal.SIGTERM, signal.SIGINT, signal.SIGKILL
LIMITS = Limits(grace=100.0, ready=60.0)
DRAINING = replace(LIMITS, drain=True)
STARTED = (Begin(), Answered(CACHE))
SERVED = (*STARTED, Answered(ENGINE))
ORDERS = [(ENGINE, CACHE), (CACHE, ENGINE)]
BEFORE_STOP = {"nothing": (), "starting cache": (Begin(),), "starting engine": STARTED, "serving": SERVED}
STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)


@dataclass
class History:
    """A run of the policy on a clock of its own."""

    state: State = field(default_factory=lambda: State(LIMITS))
    now: float = 1000.0
    done: list = field(default_factory=list)

    def happen(self, *events):
        for event in events:
            self.state, actions = decide(self.state, event, self.now)
            self.done += actions
        return self

    def after(self, seconds, *events):
        self.now += seconds
        return self.happen(*events)

    def late(self):
        """The deadline that the state asked for."""
        return self.after(self.state.deadline - self.now, Tick())

    def sent(self):
        """Side and signal: to everything of it, or "alone" to its leader."""
        known = {Send: (), Pass: ("alone",)}
        return [(action.side, action.number, *known[type(action)]) for action in self.done if type(action) in known]

    def told(self):
        return [action.text for action in self.done if isinstance(action, Tell)]


def history(*events, **state):
    return History(State(**({"limits": LIMITS} | state))).happen(*events)


def die(side, code):
    return (Ended(side, code), Gone(side))


def test_the_cache_starts_first_and_the_engine_when_it_is_ready():
    run = history(Begin())
    assert [action for action in run.done if isinstance(action, Start)] == [Start(CACHE)]
    run.happen(Missed(CACHE, "refused"), Answered(CACHE))
    assert [action for action in run.done if isinstance(action, Start)] == [Start(CACHE), Start(ENGINE)]
    assert run.state.phase is Phase.STARTING_ENGINE
    assert run.happen(Answered(ENGINE)).state.phase is Phase.SERVING


def test_an_engine_without_an_address_counts_as_serving_at_once():
    run = history(*STARTED, observed=False)
    assert run.state.phase is Phase.SERVING
    assert Probe(ENGINE, 1.0) not in run.done


def test_a_cache_that_is_not_ready_in_time_ends_with_4():
    run = history(Begin(), Missed(CACHE, "connection refused"))
    while run.state.phase is Phase.STARTING_CACHE:
        run.late()
    assert run.now - 1000.0 == LIMITS.ready
    assert run.sent() == [(CACHE, TERM)]
    assert run.state.status == 4
    assert "connection refused" in run.told()[-1]
    assert sum("not ready after" in text for text in run.told()) == 3


@pytest.mark.parametrize(
    ("code", "status"), [(0, 0), (1, 1), (2, 2), (3, 3), (17, 17), (-9, 137), (-11, 139), (-15, 143)]
)
def test_the_engines_own_status_passes_through(code, status):
    run = history(*SERVED, *die(ENGINE, code), *die(CACHE, 0), Gone(None))
    assert (run.state.phase, run.state.status) == (Phase.ENDED, status)


@pytest.mark.parametrize("code", [0, 1, 2, 4, 77, -9, -15])
def test_a_cache_that_ends_by_itself_is_a_failure_whatever_it_says(code):
    run = history(*SERVED, *die(CACHE, code), *die(ENGINE, 0), Gone(None))
    assert (run.state.phase, run.state.status) == (Phase.ENDED, 1)


@pytest.mark.parametrize("before", BEFORE_STOP.values(), ids=BEFORE_STOP)
@pytest.mark.parametrize("number", STOPS)
def test_a_signal_in_every_state_ends_with_128_and_its_number(before, number):
    run = history(*before, Signalled(number))
    for side in (ENGINE, CACHE):
        if side in run.state.running:
            run.happen(*die(side, 0))
    run.happen(Gone(None))
    assert (run.state.phase, run.state.status) == (Phase.ENDED, 128 + number)
    assert run.sent()[0][1] == (number if before in (STARTED, SERVED) else TERM)


@pytest.mark.parametrize(("first", "second"), ORDERS)
@pytest.mark.parametrize("before", [STARTED, SERVED], ids=["starting", "serving"])
def test_whoever_dies_first_is_the_cause_and_the_other_is_stopped(before, first, second):
    run = history(*before, *die(first, -KILL))
    assert run.told()[-1].startswith(f"{first.value} ended by SIGKILL; the kernel's OOM killer is the usual sender")
    assert run.sent()[-1] == (second, TERM)
    run.happen(*die(second, 5), Gone(None))
    assert run.state.phase is Phase.ENDED
    assert run.state.status == (137 if first is ENGINE else 1)


@pytest.mark.parametrize(("first", "second"), ORDERS)
def test_two_deaths_at_once_end_it_in_any_order(first, second):
    run = history(*SERVED, Ended(first, 3), Ended(second, 4), Gone(ENGINE), Gone(CACHE), Gone(None))
    assert run.state.phase is Phase.ENDED
    assert run.state.status == (3 if first is ENGINE else 1)
    assert first.value in run.state.cause


def test_the_cause_is_told_before_anything_is_signalled():
    run = history(*SERVED)
    run.done.clear()
    run.happen(*die(CACHE, -KILL))
    assert [type(action) for action in run.done] == [Tell, Send]


def test_the_engine_stops_before_the_cache_and_the_rest_last():
    run = history(*SERVED, Signalled(TERM))
    assert run.sent() == [(ENGINE, TERM)]
    run.happen(Ended(ENGINE, 0))
    assert run.sent() == [(ENGINE, TERM)], "workers of the group are alive"
    run.happen(Gone(ENGINE))
    assert run.sent() == [(ENGINE, TERM), (CACHE, TERM)]
    run.happen(*die(CACHE, 0))
    assert run.sent() == [(ENGINE, TERM), (CACHE, TERM), (None, TERM)]
    assert run.state.phase is Phase.SWEEPING
    assert run.happen(Gone(None)).state.phase is Phase.ENDED


def test_an_engine_that_drains_is_asked_by_its_leader_alone():
    run = history(*SERVED, Signalled(TERM), limits=DRAINING)
    assert run.sent() == [(ENGINE, TERM, "alone")], "its workers would leave at once, requests in flight or not"
    assert run.state.deadline - run.now > 2 / 3 * LIMITS.grace, "its drain is over before its workers are asked"
    run.happen(Ended(ENGINE, 0))
    assert run.sent()[1:] == [(ENGINE, TERM)], "what it left behind"
    run.happen(Gone(ENGINE))
    assert run.sent()[2:] == [(CACHE, TERM)]


def test_workers_of_a_dead_leader_are_asked_at_once_even_where_it_drains():
    run = history(*SERVED, Ended(ENGINE, -KILL), limits=DRAINING)
    assert run.sent() == [(ENGINE, TERM)]
    assert run.late().sent()[1:] == [(ENGINE, KILL)]


@pytest.mark.parametrize("limits", [LIMITS, DRAINING])
def test_what_ignores_everything_is_killed_and_the_whole_fits_into_the_grace(limits):
    run = history(*SERVED, Signalled(TERM), limits=limits)
    begun = run.now
    while run.state.phase is not Phase.ENDED:
        run.late()
    assert run.sent() == [
        *([(ENGINE, TERM, "alone")] if limits.drain else []),
        *((side, number) for side in (ENGINE, CACHE, None) for number in (TERM, KILL)),
    ]
    assert run.now - begun <= LIMITS.grace
    assert run.state.status == 143


def test_a_killed_engine_leaves_the_cache_its_time_to_flush():
    run = history(*SERVED, Signalled(TERM)).late()
    run.happen(*die(ENGINE, -KILL))
    assert run.state.phase is Phase.STOPPING_CACHE
    assert run.state.deadline - run.now == pytest.approx(0.18 * LIMITS.grace)


def test_a_cache_that_ends_while_the_engine_stops_changes_nothing():
    run = history(*SERVED, Signalled(TERM), *die(CACHE, -KILL))
    assert run.state.phase is Phase.STOPPING_ENGINE
    run.happen(*die(ENGINE, 0), Gone(None))
    assert run.state.status == 143
    assert (CACHE, TERM) not in run.sent()


def test_a_second_signal_changes_nothing_but_a_second_interrupt_hurries():
    run = history(*SERVED, Signalled(TERM), Signalled(TERM), Signalled(INT))
    assert run.sent() == [(ENGINE, TERM)]
    run.happen(Signalled(INT))
    assert run.sent() == [(ENGINE, TERM), (None, KILL)]
    run.happen(*die(ENGINE, -KILL), *die(CACHE, -KILL), Gone(None))
    assert (run.state.phase, run.state.status) == (Phase.ENDED, 143)


@pytest.mark.parametrize("stopping", [(), (Gone(ENGINE),), (Gone(ENGINE), Gone(CACHE))])
def test_a_second_interrupt_hurries_in_every_state_of_a_stop(stopping):
    run = history(*SERVED, Signalled(INT), *stopping, Signalled(INT))
    assert run.sent()[-1] == (None, KILL)
    assert run.happen(Gone(None)).state.status == 130


def test_what_survives_a_kill_is_left_to_the_kernel():
    run = history(*SERVED, Signalled(INT), Signalled(INT)).late()
    assert run.state.phase is Phase.ENDED
    assert any("uninterruptible" in text for text in run.told())


def test_a_hang_is_found_after_a_bounded_number_of_misses():
    run = history(*SERVED)
    run.happen(Missed(CACHE, "slow"), Missed(CACHE, "slow"), Answered(CACHE), Missed(CACHE, "slow"))
    assert run.state.phase is Phase.SERVING, "misses count in a row"
    run.happen(Missed(CACHE, "slow"), Missed(CACHE, "no answer within 5 s"))
    assert run.state.phase is Phase.STOPPING_ENGINE
    assert run.state.status == 1
    assert "LMCache no longer answers (no answer within 5 s, 3 times)" in run.told()[-1]


def test_a_hang_is_also_found_while_the_engine_starts():
    run = history(*STARTED, *[Missed(CACHE, "slow")] * 3)
    assert run.sent() == [(ENGINE, TERM)]


def test_an_engine_that_is_not_yet_well_is_asked_again_and_never_stopped_for_it():
    run = history(*STARTED, *[Missed(ENGINE, "refused")] * 500)
    assert run.state.phase is Phase.STARTING_ENGINE
    assert run.done[-1] == Probe(ENGINE, 1.0)


def test_a_cache_that_is_not_what_was_planned_never_gets_an_engine():
    run = history(Begin(), Wrong(CACHE, "its pool is absent"))
    assert run.sent() == [(CACHE, TERM)]
    assert run.state.status == 1
    assert not any(action == Start(ENGINE) for action in run.done)


def test_user_signals_go_to_the_engines_leader_alone():
    run = history(*SERVED, Signalled(signal.SIGUSR1))
    assert run.done[-1] == Pass(ENGINE, signal.SIGUSR1)
    assert run.state.phase is Phase.SERVING
    assert history(Begin(), Signalled(signal.SIGUSR1)).state.phase is Phase.STARTING_CACHE


def test_the_last_line_says_again_what_ended_and_the_status():
    run = history(*SERVED, *die(CACHE, -KILL), *die(ENGINE, 0)).after(2.0, Gone(None))
    assert run.told()[-1] == (
        "stopped in 2.0 s, status 1: LMCache ended by SIGKILL; the kernel's OOM killer is the usual sender"
    )


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize(
    "event",
    [
        Begin(), Ended(ENGINE, 1), Ended(CACHE, 1), Gone(ENGINE), Gone(CACHE), Gone(None), Signalled(TERM),
        Answered(ENGINE), Answered(CACHE), Missed(ENGINE, ""), Missed(CACHE, ""), Wrong(CACHE, ""), Tick(),
    ],
    ids=repr,
)  # fmt: skip
def test_every_event_in_every_state_has_an_answer_and_no_way_back(phase, event):
    order = list(Phase)
    state = State(LIMITS, phase=phase, running=frozenset(Side), since=0.0, status=1)
    after, _ = decide(state, event, 1.0)
    assert order.index(after.phase) >= order.index(phase)
