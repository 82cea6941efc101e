"""The choice of the first fault, held on small worlds: order, ladder, what was survived, which run is asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from backproof.triage.choose_fault import Choice, SignsOfLife, choose_fault
from small_worlds import BOOK, make_event, make_life, make_rule, make_signs, make_world

if TYPE_CHECKING:
    from backproof.triage.events import Event, Lifetime

EARLIEST = "the earliest report of a fault that nothing survived"
NO_CLOCK = "; it has no clock of its own, so its place in the file decides"
EARLIER_RUN = "a fault of an earlier process, which had ended before this run began"
QUIET = make_signs()


def chosen(*events: Event, lives: dict[str, Lifetime] | None = None, of: SignsOfLife = QUIET) -> Choice:
    return choose_fault(make_world(events, lives=lives), BOOK, of)


FIRST_AND_SECOND = {
    "the earlier one": (make_event(at=3, offset=9), make_event(at=5)),
    "by microseconds, from the very start of the clock": (make_event(at=0, offset=9), make_event(at=0.000001)),
    "a wait counts from when it began": (make_event(at=100, due=60), make_event(at=50)),
    "a wait that began later": (make_event(at=50), make_event(at=120, due=60)),
    "what has a clock before what has none": (make_event(at=900, offset=9), make_event(at=None)),
    "plog before text that repeats it": (make_event(at=3, source=1), make_event(at=3, form="text")),
    "kernel before text": (make_event(at=3, form="kernel", source=1), make_event(at=3, form="text")),
    "text in its place, whatever its weight, after plog": (
        make_event(at=3, source=1),
        make_event(at=3, form="text", of=make_rule("first-fault", "mte", weight=99)),
    ),
    "the heavier one of a moment": (
        make_event(at=3, source=1, of=make_rule("first-fault", "mte", weight=70)),
        make_event(at=3, of=make_rule("first-fault", "mte", weight=10)),
    ),
    "the heavier one without a clock": (
        make_event(at=None, source=1, of=make_rule("first-fault", "mte", weight=70)),
        make_event(at=None, of=make_rule("first-fault", "mte", weight=10)),
    ),
    "the first file": (make_event(at=3, source=0, offset=9), make_event(at=3, source=1, offset=2)),
    "the first line": (make_event(at=None, offset=2), make_event(at=None, offset=9)),
}


@pytest.mark.parametrize(("first", "second"), FIRST_AND_SECOND.values(), ids=FIRST_AND_SECOND)
def test_of_two_faults_the_first_is_named_in_whatever_order_they_are_read(first: Event, second: Event) -> None:
    for events in ((first, second), (second, first)):
        assert chosen(*events).fault is first


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (make_event(at=3), (EARLIEST,)),
        (make_event(at=None), (EARLIEST + NO_CLOCK,)),
        (
            make_event(at=700, due=600),
            (EARLIEST, "counted back 600 s, from when the wait ran out to when it began"),
        ),
        (
            make_event(at=None, due=1.5),
            (EARLIEST + NO_CLOCK, "counted back 1 s, from when the wait ran out to when it began"),
        ),
    ],
)
def test_the_reason_says_how_it_was_dated(event: Event, why: tuple[str, ...]) -> None:
    assert chosen(event) == Choice(fault=event, confidence="medium", why=why, survived={})


DETAIL = make_event("detail", 30, kind="mte")
KINDLESS = make_event("detail", 5)
WAIT = make_event("secondary", 20, of=make_rule("secondary", fallback=True))
SECONDARY = make_event("secondary", 15)
POINTER = make_event("pointer", 15)
UNKNOWN = make_event("unknown", 10)
NOISE = make_event("noise", 1)
WHY_DETAIL = "the report of the fault itself is missing; this is the earliest detail of one"
WHY_WAIT = "nobody reports a fault: this wait ran out first, so look at the peer that it waited for"
WHY_UNKNOWN = "no rule knows this error; it is the earliest one before the secondary errors"


@pytest.mark.parametrize(
    ("events", "choice"),
    [
        ((NOISE, UNKNOWN, SECONDARY, WAIT, KINDLESS, DETAIL), (DETAIL, "medium", WHY_DETAIL)),
        ((DETAIL, make_event("detail", 40, kind="mte")), (DETAIL, "medium", WHY_DETAIL)),
        ((NOISE, UNKNOWN, SECONDARY, WAIT, KINDLESS), (WAIT, "low", WHY_WAIT)),
        ((WAIT, make_event("secondary", 19, of=make_rule("secondary"))), (WAIT, "low", WHY_WAIT)),
        ((NOISE, KINDLESS, UNKNOWN, SECONDARY), (UNKNOWN, "low", WHY_UNKNOWN)),
        ((NOISE, UNKNOWN, POINTER), (UNKNOWN, "low", WHY_UNKNOWN)),
        ((NOISE, KINDLESS, SECONDARY), (None, "none", "")),
        ((NOISE, KINDLESS, POINTER), (None, "none", "")),
        ((NOISE, SECONDARY, POINTER), (None, "none", "")),
        ((NOISE, UNKNOWN, KINDLESS, make_event("continued", 2)), (None, "none", "")),
        ((), (None, "none", "")),
    ],
)
def test_without_a_first_fault_the_ladder_goes_down_one_step_at_a_time(
    events: tuple[Event, ...], choice: tuple[Event | None, str, str]
) -> None:
    outcome = chosen(*events)
    assert (outcome.fault, outcome.confidence, outcome.why) == (*choice[:2], (choice[2],) if choice[2] else ())


BEFORE_SECONDARY_ERRORS = {
    "earlier": (make_event("unknown", 10), [make_event("secondary", 50)], True),
    "at the same microsecond": (make_event("unknown", 10), [make_event("secondary", 10)], True),
    "later": (make_event("unknown", 10.000001), [make_event("secondary", 10)], False),
    "between two secondary errors": (
        make_event("unknown", 30),
        [make_event("secondary", 50), make_event("pointer", 10, offset=5)],
        False,
    ),
    "earlier, in a later file": (make_event("unknown", 10, source=1), [make_event("secondary", 50)], True),
    "without a clock, and the secondary error has one": (
        make_event("unknown", None),
        [make_event("secondary", 50, offset=5)],
        False,
    ),
    "before a secondary error without a clock": (
        make_event("unknown", 10, source=1),
        [make_event("secondary", None)],
        True,
    ),
    "without clocks, above": (make_event("unknown", None, offset=1), [make_event("secondary", None, offset=2)], True),
    "without clocks, below": (make_event("unknown", None, offset=3), [make_event("secondary", None, offset=2)], False),
    "without clocks, on its line": (
        make_event("unknown", None, offset=2),
        [make_event("secondary", None, offset=2)],
        False,
    ),
    "secondary error that began to wait before": (
        make_event("unknown", 10),
        [make_event("secondary", 50, due=45)],
        False,
    ),
}


@pytest.mark.parametrize(
    ("event", "secondary", "is_cause"), BEFORE_SECONDARY_ERRORS.values(), ids=BEFORE_SECONDARY_ERRORS
)
def test_an_unknown_error_is_a_cause_only_before_the_first_secondary(
    event: Event, secondary: list[Event], is_cause: bool
) -> None:
    assert (chosen(event, *secondary).fault is event) == is_cause


SOFT = make_event(at=100, kind="memory")
HEALTHY = "the server became healthy afterwards"
TOKENS = "the server produced tokens afterwards"
AFTER_A_FAULT = "the device itself reports a fault, and this has no clock"


def fault(at: float | None, kind: str | None = "mte") -> Event:
    return make_event(at=at, kind=kind, process="pid 2", offset=5)


def run_went_on(seconds: int) -> str:
    return f"the run went on for {seconds} s, until the device itself reported a fault"


# name: (what else was written, signs of life, last record of each process, why the soft error was survived)
AFTERWARDS: dict[str, tuple[tuple[Event, ...], SignsOfLife, dict[str, Lifetime], str | None]] = {
    "nothing": ((), QUIET, {}, None),
    "healthy within a second": ((), make_signs(healthy=[99.5, 101]), {}, None),
    "healthy": ((), make_signs(healthy=[99.5, 101.000001]), {}, HEALTHY),
    "tokens within a second": ((), make_signs(loads=[99.5, 101]), {}, None),
    "tokens": ((), make_signs(loads=[99.5, 101.000001]), {}, TOKENS),
    "healthy and tokens": ((), make_signs(healthy=[200], loads=[150]), {}, HEALTHY),
    "ten seconds of life": ((), QUIET, {"pid 1": make_life(last=110)}, None),
    "a little more": ((), QUIET, {"pid 1": make_life(last=110.000001)}, "the process went on for 10 s"),
    "more than a minute": ((), QUIET, {"pid 1": make_life(last=175.9)}, "the process went on for 75 s"),
    "a life without a clock": ((), QUIET, {"pid 1": make_life()}, None),
    "life of another process": ((), QUIET, {"pid 2": make_life(last=900)}, None),
    "a secondary error within a minute": (
        (make_event("secondary", 160),),
        make_signs(healthy=[900]),
        {"pid 1": make_life(last=900)},
        None,
    ),
    "a secondary error at once": ((make_event("secondary", 100),), make_signs(healthy=[900]), {}, None),
    "a secondary error after a minute": (
        (make_event("secondary", 160.000001),),
        make_signs(healthy=[900]),
        {},
        HEALTHY,
    ),
    "a secondary error before": ((make_event("secondary", 99),), make_signs(healthy=[900]), {}, HEALTHY),
    "a secondary error late and one within": (
        (make_event("secondary", 300), make_event("secondary", 120)),
        make_signs(healthy=[900]),
        {},
        None,
    ),
    "a secondary error without a clock": ((make_event("secondary", None),), make_signs(healthy=[900]), {}, HEALTHY),
    "a secondary error elsewhere": (
        (make_event("secondary", 120, process="pid 2"),),
        make_signs(healthy=[900]),
        {},
        HEALTHY,
    ),
    "a pointer is no secondary error": ((make_event("pointer", 120),), make_signs(healthy=[900]), {}, HEALTHY),
    "a fault within a second": ((fault(101),), QUIET, {}, None),
    "a fault": ((fault(101.000001),), QUIET, {}, run_went_on(1)),
    "a fault, then healthy": ((fault(200),), make_signs(healthy=[150]), {}, run_went_on(100)),
    "faults": ((fault(200), fault(150.9), fault(None)), QUIET, {}, run_went_on(50)),
    "a fault before": ((fault(50),), QUIET, {}, None),
    "a fault just before": ((fault(99.5),), QUIET, {}, None),
    "a fault without a clock": ((fault(None),), QUIET, {}, None),
    "trouble, and a fault within a minute": ((make_event("secondary", 120), fault(160)), QUIET, {}, None),
    "trouble, and a fault later": ((make_event("secondary", 120), fault(160.000001)), QUIET, {}, run_went_on(60)),
    "a detail is no fault": ((make_event("detail", 200, kind="mte"),), QUIET, {}, None),
    "a fault that can be survived": ((fault(200, "tiling"),), QUIET, {}, None),
    "a fault of a kind that no table has": ((fault(200, None),), QUIET, {}, run_went_on(100)),
}


@pytest.mark.parametrize(("others", "of", "lives", "why"), AFTERWARDS.values(), ids=AFTERWARDS)
@pytest.mark.parametrize("role", ["first-fault", "detail"])
def test_an_error_is_survived_only_with_a_sign_of_life(
    role: str, others: tuple[Event, ...], of: SignsOfLife, lives: dict[str, Lifetime], why: str | None
) -> None:
    soft = make_event(role, at=100, kind="memory")
    outcome = chosen(soft, *others, lives=lives, of=of)
    assert outcome.survived == ({soft: why} if why else {})
    assert outcome.fault is not soft or why is None


@pytest.mark.parametrize(
    ("others", "why"), [((fault(50),), AFTER_A_FAULT), ((fault(None),), AFTER_A_FAULT), ((), None)]
)
def test_an_error_without_a_clock_gives_way_to_a_fault_of_the_device(
    others: tuple[Event, ...], why: str | None
) -> None:
    soft = make_event(at=None, kind="memory")
    outcome = chosen(soft, *others, of=make_signs(healthy=[900]))
    assert outcome.survived == ({soft: why} if why else {})
    assert outcome.fault is (others[0] if others else soft)


@pytest.mark.parametrize(
    "event",
    [
        make_event(at=100, kind="mte"),
        make_event(at=100),
        make_event(at=100, kind="no such kind"),
        make_event("secondary", 100, kind="memory"),
    ],
)
def test_what_cannot_be_survived_is_not_whatever_follows(event: Event) -> None:
    assert chosen(event, of=make_signs(healthy=[900], loads=[900]), lives={"pid 1": make_life(last=900)}).survived == {}


def test_what_was_survived_is_on_no_step_of_the_ladder() -> None:
    soft, detail = make_event(at=100, kind="memory"), make_event("detail", 101, kind="memory")
    assert chosen(soft, detail, of=make_signs(healthy=[900])) == Choice(
        fault=None, confidence="none", why=(), survived={soft: HEALTHY, detail: HEALTHY}
    )


def test_a_fault_on_the_line_of_an_error_that_was_survived_is_still_the_first_fault() -> None:
    """Two writers, one pipe: two records of one line."""
    soft, hard = make_event(at=100, kind="memory"), make_event(at=100, kind="mte", process="pid 2")
    outcome = chosen(soft, hard, of=make_signs(healthy=[900]))
    assert soft.place == hard.place
    assert outcome.fault is hard
    assert outcome.survived == {soft: HEALTHY}


OLD = make_event(at=40, process="pid 1", device=3)
OLD_LIFE = make_life(created=0, last=50)


def later(at: float | None, *, device: int | None = 3, process: str = "pid 2") -> Event:
    return make_event(at=at, process=process, device=device, source=1)


@pytest.mark.parametrize(
    ("new", "created", "is_asked_about"),
    [
        pytest.param(later(1000), 60, True, id="failed by itself, long after it began"),
        pytest.param(later(120), 60, False, id="failed within a minute on the same device: a victim"),
        pytest.param(later(120.000001), 60, True, id="failed after a minute"),
        pytest.param(later(61, device=5), 60, True, id="failed at once on another device"),
        pytest.param(later(61, device=None), 60, True, id="failed at once, on no device that is named"),
        pytest.param(later(None), 60, True, id="without a clock"),
        pytest.param(later(1000), 50.000001, True, id="began a microsecond after the other ended"),
        pytest.param(later(1000), 50, False, id="began when the other ended"),
        pytest.param(later(1000), None, False, id="nobody knows when it began"),
    ],
)
def test_a_later_run_that_fails_by_itself_is_asked_about(
    new: Event, created: float | None, is_asked_about: bool
) -> None:
    outcome = chosen(OLD, new, lives={"pid 1": OLD_LIFE, "pid 2": make_life(created=created, last=2000)})
    assert outcome.fault is (new if is_asked_about else OLD)
    assert outcome.survived == ({OLD: EARLIER_RUN} if is_asked_about else {})


def test_two_faults_on_no_device_are_no_victims_of_each_other() -> None:
    old, new = make_event(at=40), later(61, device=None)
    assert chosen(old, new, lives={"pid 1": OLD_LIFE, "pid 2": make_life(created=60, last=70)}).fault is new


def test_a_victim_needs_the_same_device_and_an_ended_process_in_one_fault() -> None:
    """One fault of an ended process on another device, and one on its device of a process that lives."""
    ended, alive, new = make_event(at=40, device=4), make_event(at=45, device=3, process="pid 3"), later(61)
    lives = {"pid 1": OLD_LIFE, "pid 2": make_life(created=60, last=70), "pid 3": make_life(created=0, last=900)}
    outcome = chosen(ended, alive, new, lives=lives)
    assert outcome.fault is alive
    assert outcome.survived == {ended: EARLIER_RUN}


def test_a_process_of_which_nothing_is_known_stays_a_cause() -> None:
    stranger = make_event(at=30, process="pid 7")
    for lives in ({}, {"pid 7": make_life()}):
        outcome = chosen(OLD, later(1000), stranger, lives={"pid 1": OLD_LIFE, "pid 2": make_life(created=60)} | lives)
        assert outcome.fault is stranger
        assert outcome.survived == {OLD: EARLIER_RUN}


def test_the_run_began_with_the_first_process_that_failed_by_itself() -> None:
    """What still lived when that one began belongs to the run."""
    alive = make_event(at=30, process="pid 4")
    lives = {
        "pid 1": OLD_LIFE,
        "pid 2": make_life(created=60, last=100),
        "pid 3": make_life(created=120, last=900),
        "pid 4": make_life(last=80),
    }
    outcome = chosen(OLD, later(99, device=9), later(800, device=9, process="pid 3"), alive, lives=lives)
    assert outcome.fault is alive
    assert outcome.survived == {OLD: EARLIER_RUN}


def test_a_run_is_not_set_aside_for_itself_when_its_clock_was_set_back() -> None:
    old, own = make_event(at=10), make_event(at=35, process="pid 2")
    outcome = chosen(old, own, lives={"pid 1": make_life(last=20), "pid 2": make_life(created=100, last=40)})
    assert outcome.fault is own
    assert outcome.survived == {old: EARLIER_RUN}
