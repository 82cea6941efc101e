"""Final roles as seen from the first fault, held on small worlds: each line beside a fault, and what it becomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from backproof.triage.choose_fault import Choice
from backproof.triage.roles import classify_events, refine_kind
from small_worlds import BOOK, make_event, make_rule, make_world

if TYPE_CHECKING:
    from backproof.triage.events import Event
    from backproof.triage.roles import FinalRole

US = 0.000001


def choice(fault: Event | None, survived: dict[Event, str] | None = None) -> Choice:
    return Choice(fault=fault, confidence="medium", why=(), survived=survived or {})


def role_of(event: Event, fault: Event | None, *, survived: bool = False) -> FinalRole:
    """What a record becomes beside a fault."""
    events = [event] if fault is None else [event, fault]
    settled = classify_events(make_world(events), choice(fault, {event: "it went on"} if survived else None), BOOK)
    return next(classified.role for classified in settled if classified.event is event)


def plog_fault(at: float | None = 100) -> Event:
    return make_event(at=at, kind="mte", offset=50, subject="RUNTIME [a.cc:1]7 the fault")


def text_fault(*, block: int = -1) -> Event:
    return make_event(at=100, kind="mte", offset=50, form="text", block=block)


def kernel_fault(at: float | None = 100) -> Event:
    return make_event(at=at, kind="mte", offset=50, form="kernel")


def make_detail(at: float | None = 100, kind: str | None = "core", **given: Any) -> Event:
    return make_event("detail", at, kind=kind, **({"offset": 60} | given))


# name: (a detail, the fault, whether it is of the fault's dump)
BESIDE = {
    "same process": (make_detail(), plog_fault(), True),
    "another process": (make_detail(process="pid 2"), plog_fault(), False),
    "another file of the process": (make_detail(source=1), plog_fault(), True),
    "five seconds before": (make_detail(95), plog_fault(), True),
    "longer before": (make_detail(95 - US), plog_fault(), False),
    "two minutes after": (make_detail(220), plog_fault(), True),
    "longer after": (make_detail(220 + US), plog_fault(), False),
    "no clock, same file": (make_detail(None), plog_fault(), True),
    "no clock, another file": (make_detail(None, source=1), plog_fault(), False),
    "fault without a clock, same file": (make_detail(900), plog_fault(None), True),
    "fault without a clock, another file": (make_detail(100, source=1), plog_fault(None), False),
    "same family": (make_detail(kind="mte"), plog_fault(), True),
    "another family": (make_detail(kind="link"), plog_fault(), False),
    "no kind": (make_detail(kind=None), plog_fault(), True),
    "fault of no kind": (make_detail(), make_event(at=100, offset=50), True),
    "a first fault of the family": (make_event(at=101, kind="core"), plog_fault(), True),
    "a first fault of another family": (make_event(at=101, kind="link"), plog_fault(), False),
    "a first fault on the line of the fault": (make_event(at=100, kind="link", offset=50), plog_fault(), False),
    "text beside plog": (make_detail(form="text"), plog_fault(), True),
    "text a second before plog": (make_detail(99, form="text"), plog_fault(), True),
    "text longer before plog": (make_detail(99 - US, form="text"), plog_fault(), False),
    "text a second after plog": (make_detail(101, form="text"), plog_fault(), True),
    "text longer after plog": (make_detail(101 + US, form="text"), plog_fault(), False),
    "text behind a prefix": (make_detail(form="text", prefixed=True), plog_fault(), False),
    "text of another file": (make_detail(form="text", source=1), plog_fault(), False),
    "text beside the kernel": (make_detail(form="text"), kernel_fault(), True),
    "the exception of the fault": (make_detail(form="text", block=40, process="pid 2"), text_fault(block=40), True),
    "an exception that began at the start of the file": (
        make_detail(form="text", block=0, process="pid 2"),
        text_fault(block=0),
        True,
    ),
    "another exception": (make_detail(form="text", block=60), text_fault(block=40), False),
    "an exception of another file": (make_detail(form="text", block=40, source=1), text_fault(block=40), False),
    "text of the process": (make_detail(form="text"), text_fault(), True),
    "text of another process": (make_detail(form="text", process="pid 2"), text_fault(), False),
    "text in an exception, the fault in none": (make_detail(form="text", block=40), text_fault(), False),
    "plog beside text": (make_detail(), text_fault(), True),
    "plog of another process beside text": (make_detail(process="pid 2"), text_fault(), False),
    "kernel beside kernel": (make_detail(form="kernel", process="other"), kernel_fault(), True),
    "kernel of another file": (make_detail(form="kernel", source=1), kernel_fault(), False),
    "kernel five seconds before": (make_detail(95, form="kernel"), kernel_fault(), True),
    "kernel longer before": (make_detail(95 - US, form="kernel"), kernel_fault(), False),
    "kernel two minutes after": (make_detail(220, form="kernel"), kernel_fault(), True),
    "kernel longer after": (make_detail(220 + US, form="kernel"), kernel_fault(), False),
    "plog beside the kernel": (make_detail(), kernel_fault(), False),
    "kernel beside plog": (make_detail(form="kernel"), plog_fault(), False),
    "kernel beside text": (make_detail(form="kernel"), text_fault(), False),
}


@pytest.mark.parametrize(("event", "fault", "beside"), BESIDE.values(), ids=BESIDE)
def test_a_detail_is_of_the_fault_when_its_writer_dumped_it_then(event: Event, fault: Event, beside: bool) -> None:
    assert role_of(event, fault) == ("detail" if beside else "secondary")


@pytest.mark.parametrize("with_fault", [True, False])
@pytest.mark.parametrize("process", ["pid 1", "pid 2"])
def test_noise_is_of_the_fault_only_when_its_rule_says_so_and_it_stands_beside(with_fault: bool, process: str) -> None:
    noise = make_event("noise", 101, process=process, of=make_rule("noise", with_fault=with_fault))
    assert role_of(noise, plog_fault()) == ("detail" if with_fault and process == "pid 1" else "noise")
    assert role_of(noise, None) == "noise"


@pytest.mark.parametrize("fault", [plog_fault(), None])
def test_secondary_errors_and_pointers_are_what_their_rules_say(fault: Event | None) -> None:
    assert role_of(make_event("secondary", 50, kind="mte"), fault) == "secondary"
    assert role_of(make_event("pointer", 50, kind="mte"), fault) == "pointer"


def test_a_detail_without_a_fault_is_unknown() -> None:
    assert role_of(make_detail(), None) == "unknown"


@pytest.mark.parametrize(
    ("at", "fault", "role"),
    [
        (100 + US, plog_fault(), "secondary"),
        (100, plog_fault(), "noise"),
        (50, plog_fault(), "noise"),
        (None, plog_fault(), "noise"),
        (150, plog_fault(None), "noise"),
        (150, None, "noise"),
    ],
)
def test_what_was_survived_is_noise_and_after_the_fault_a_secondary_error(
    at: float | None, fault: Event | None, role: str
) -> None:
    assert role_of(make_event(at=at, kind="memory"), fault, survived=True) == role


def unknown(at: float | None, thread: str = "7", process: str = "pid 1") -> Event:
    return make_event("unknown", at, process=process, offset=60, subject=f"GE [b.cc:1]{thread} what")


@pytest.mark.parametrize(
    ("event", "role"),
    [
        pytest.param(unknown(100), "detail", id="same thread, same microsecond"),
        pytest.param(unknown(101), "detail", id="same thread, within a second"),
        pytest.param(unknown(101 + US), "secondary", id="same thread, later"),
        pytest.param(unknown(100, "8"), "secondary", id="another thread, same microsecond"),
        pytest.param(unknown(100, "thread"), "secondary", id="no thread that is known"),
        pytest.param(unknown(100, process="pid 2"), "secondary", id="another process, its thread has the same number"),
        pytest.param(unknown(100 - US), "unknown", id="just before"),
        pytest.param(unknown(90), "unknown", id="ten seconds before"),
        pytest.param(unknown(90 - US), "noise", id="longer before: the process went on"),
        pytest.param(unknown(50, process="pid 2"), "unknown", id="longer before, elsewhere"),
        pytest.param(unknown(None), "unknown", id="no clock"),
    ],
)
def test_an_error_that_no_rule_knows_is_settled_by_thread_and_time(event: Event, role: str) -> None:
    assert role_of(event, plog_fault()) == role
    assert role_of(event, plog_fault(None)) == "unknown"
    assert role_of(event, None) == "unknown"


def test_no_thread_is_not_the_same_thread() -> None:
    fault = make_event(at=100, offset=50, subject="the fault")
    assert role_of(unknown(100, "thread"), fault) == "secondary"


def test_roles_come_in_the_order_of_the_files_and_what_continues_a_classifiedis_what_that_is() -> None:
    fault = plog_fault()
    events = [
        make_event("continued", 0, source=0, offset=10),
        fault,
        make_event("continued", 0, source=0, offset=51),
        make_event("continued", 0, source=0, offset=52),
        make_event("secondary", 101, source=0, offset=53),
        make_event("continued", 0, source=0, offset=54),
        make_event("continued", 0, source=1, offset=0),
        make_event("pointer", 101, source=1, offset=5),
        make_event("continued", 0, source=1, offset=6),
    ]
    settled = classify_events(make_world(list(reversed(events))), choice(fault), BOOK)
    assert [classified.event for classified in settled] == events
    assert [classified.role for classified in settled] == [
        "unknown",
        "first-fault",
        "detail",
        "detail",
        "secondary",
        "secondary",
        "unknown",
        "pointer",
        "pointer",
    ]


def test_two_records_of_the_line_of_the_fault_are_told_apart() -> None:
    fault, twin = plog_fault(), make_event(at=900, kind="mte", offset=50)
    assert [classified.role for classified in classify_events(make_world([fault, twin]), choice(fault), BOOK)] == [
        "first-fault",
        "secondary",
    ]


@pytest.mark.parametrize(
    ("own", "others", "kind"),
    [
        pytest.param("core", [make_detail(kind="mte")], "mte", id="a precise detail of the family"),
        pytest.param(
            "core",
            [make_detail(kind="core"), make_detail(kind="mte", offset=61)],
            "mte",
            id="the first that is precise",
        ),
        pytest.param("core", [make_detail(kind=None), make_detail(kind="none such", offset=61)], "core", id="no kind"),
        pytest.param("core", [make_detail(kind="link")], "core", id="another family is no detail"),
        pytest.param("core", [make_detail(kind="mte", process="pid 2")], "core", id="a secondary error"),
        pytest.param("core", [], "core", id="alone"),
        pytest.param("mte", [make_detail(kind="core")], "mte", id="precise by itself"),
        pytest.param("link", [make_detail(kind="mte")], "link", id="precise, of another family"),
        pytest.param(None, [make_detail(kind="mte")], "unknown", id="no kind, whatever its details"),
        pytest.param("none such", [make_detail(kind="mte")], "unknown", id="a kind that no table has"),
    ],
)
def test_a_general_kind_gives_way_to_a_precise_one_of_its_details(
    own: str | None, others: list[Event], kind: str
) -> None:
    fault = make_event(at=100, kind=own, offset=50)
    assert refine_kind(fault, classify_events(make_world([fault, *others]), choice(fault), BOOK), BOOK) == kind


def test_a_detail_of_another_family_beside_the_fault_makes_nothing_precise() -> None:
    """As noise printed with the fault can be."""
    fault = make_event(at=100, kind="core", offset=50)
    noise = make_event("noise", 100, kind="link", offset=51, of=make_rule("noise", with_fault=True))
    settled = classify_events(make_world([fault, noise]), choice(fault), BOOK)
    assert [classified.role for classified in settled] == ["first-fault", "detail"]
    assert refine_kind(fault, settled, BOOK) == "core"
