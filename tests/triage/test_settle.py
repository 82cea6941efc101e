"""Final roles as seen from the first scene, held on small worlds: each line beside a scene, and what it becomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from backproof.triage.choose_fault import Choice
from backproof.triage.roles import precise_kind, settle
from small_worlds import BOOK, record, rule, world

if TYPE_CHECKING:
    from backproof.triage.events import Event
    from backproof.triage.roles import FinalRole

US = 0.000001


def choice(scene: Event | None, survived: dict[Event, str] | None = None) -> Choice:
    return Choice(scene=scene, confidence="medium", why=(), survived=survived or {})


def role_of(event: Event, scene: Event | None, *, survived: bool = False) -> FinalRole:
    """What a record becomes beside a scene."""
    events = [event] if scene is None else [event, scene]
    settled = settle(world(events), choice(scene, {event: "it went on"} if survived else None), BOOK)
    return next(each.role for each in settled if each.event is event)


def plog_scene(at: float | None = 100) -> Event:
    return record(at=at, kind="mte", offset=50, subject="RUNTIME [a.cc:1]7 the fault")


def text_scene(*, block: int = -1) -> Event:
    return record(at=100, kind="mte", offset=50, form="text", block=block)


def kernel_scene(at: float | None = 100) -> Event:
    return record(at=at, kind="mte", offset=50, form="kernel")


def detail(at: float | None = 100, kind: str | None = "core", **given: Any) -> Event:
    return record("detail", at, kind=kind, **({"offset": 60} | given))


# name: (a detail, the scene, whether it is of the scene's dump)
BESIDE = {
    "same process": (detail(), plog_scene(), True),
    "another process": (detail(process="pid 2"), plog_scene(), False),
    "another file of the process": (detail(source=1), plog_scene(), True),
    "five seconds before": (detail(95), plog_scene(), True),
    "longer before": (detail(95 - US), plog_scene(), False),
    "two minutes after": (detail(220), plog_scene(), True),
    "longer after": (detail(220 + US), plog_scene(), False),
    "no clock, same file": (detail(None), plog_scene(), True),
    "no clock, another file": (detail(None, source=1), plog_scene(), False),
    "scene without a clock, same file": (detail(900), plog_scene(None), True),
    "scene without a clock, another file": (detail(100, source=1), plog_scene(None), False),
    "same family": (detail(kind="mte"), plog_scene(), True),
    "another family": (detail(kind="link"), plog_scene(), False),
    "no kind": (detail(kind=None), plog_scene(), True),
    "scene of no kind": (detail(), record(at=100, offset=50), True),
    "a first scene of the family": (record(at=101, kind="core"), plog_scene(), True),
    "a first scene of another family": (record(at=101, kind="link"), plog_scene(), False),
    "a first scene on the line of the scene": (record(at=100, kind="link", offset=50), plog_scene(), False),
    "text beside plog": (detail(form="text"), plog_scene(), True),
    "text a second before plog": (detail(99, form="text"), plog_scene(), True),
    "text longer before plog": (detail(99 - US, form="text"), plog_scene(), False),
    "text a second after plog": (detail(101, form="text"), plog_scene(), True),
    "text longer after plog": (detail(101 + US, form="text"), plog_scene(), False),
    "text behind a prefix": (detail(form="text", prefixed=True), plog_scene(), False),
    "text of another file": (detail(form="text", source=1), plog_scene(), False),
    "text beside the kernel": (detail(form="text"), kernel_scene(), True),
    "the exception of the scene": (detail(form="text", block=40, process="pid 2"), text_scene(block=40), True),
    "an exception that began at the start of the file": (
        detail(form="text", block=0, process="pid 2"),
        text_scene(block=0),
        True,
    ),
    "another exception": (detail(form="text", block=60), text_scene(block=40), False),
    "an exception of another file": (detail(form="text", block=40, source=1), text_scene(block=40), False),
    "text of the process": (detail(form="text"), text_scene(), True),
    "text of another process": (detail(form="text", process="pid 2"), text_scene(), False),
    "text in an exception, the scene in none": (detail(form="text", block=40), text_scene(), False),
    "plog beside text": (detail(), text_scene(), True),
    "plog of another process beside text": (detail(process="pid 2"), text_scene(), False),
    "kernel beside kernel": (detail(form="kernel", process="other"), kernel_scene(), True),
    "kernel of another file": (detail(form="kernel", source=1), kernel_scene(), False),
    "kernel five seconds before": (detail(95, form="kernel"), kernel_scene(), True),
    "kernel longer before": (detail(95 - US, form="kernel"), kernel_scene(), False),
    "kernel two minutes after": (detail(220, form="kernel"), kernel_scene(), True),
    "kernel longer after": (detail(220 + US, form="kernel"), kernel_scene(), False),
    "plog beside the kernel": (detail(), kernel_scene(), False),
    "kernel beside plog": (detail(form="kernel"), plog_scene(), False),
    "kernel beside text": (detail(form="kernel"), text_scene(), False),
}


@pytest.mark.parametrize(("event", "scene", "beside"), BESIDE.values(), ids=BESIDE)
def test_a_detail_is_of_the_scene_when_its_writer_dumped_it_then(event: Event, scene: Event, beside: bool) -> None:
    assert role_of(event, scene) == ("scene" if beside else "echo")


@pytest.mark.parametrize("with_scene", [True, False])
@pytest.mark.parametrize("process", ["pid 1", "pid 2"])
def test_noise_is_of_the_scene_only_when_its_rule_says_so_and_it_stands_beside(with_scene: bool, process: str) -> None:
    noise = record("noise", 101, process=process, of=rule("noise", with_scene=with_scene))
    assert role_of(noise, plog_scene()) == ("scene" if with_scene and process == "pid 1" else "noise")
    assert role_of(noise, None) == "noise"


@pytest.mark.parametrize("scene", [plog_scene(), None])
def test_echoes_and_pointers_are_what_their_rules_say(scene: Event | None) -> None:
    assert role_of(record("echo", 50, kind="mte"), scene) == "echo"
    assert role_of(record("pointer", 50, kind="mte"), scene) == "pointer"


def test_a_detail_without_a_scene_is_unknown() -> None:
    assert role_of(detail(), None) == "unknown"


@pytest.mark.parametrize(
    ("at", "scene", "role"),
    [
        (100 + US, plog_scene(), "echo"),
        (100, plog_scene(), "noise"),
        (50, plog_scene(), "noise"),
        (None, plog_scene(), "noise"),
        (150, plog_scene(None), "noise"),
        (150, None, "noise"),
    ],
)
def test_what_was_survived_is_noise_and_after_the_scene_an_echo(
    at: float | None, scene: Event | None, role: str
) -> None:
    assert role_of(record(at=at, kind="memory"), scene, survived=True) == role


def unknown(at: float | None, thread: str = "7", process: str = "pid 1") -> Event:
    return record("unknown", at, process=process, offset=60, subject=f"GE [b.cc:1]{thread} what")


@pytest.mark.parametrize(
    ("event", "role"),
    [
        pytest.param(unknown(100), "scene", id="same thread, same microsecond"),
        pytest.param(unknown(101), "scene", id="same thread, within a second"),
        pytest.param(unknown(101 + US), "echo", id="same thread, later"),
        pytest.param(unknown(100, "8"), "echo", id="another thread, same microsecond"),
        pytest.param(unknown(100, "thread"), "echo", id="no thread that is known"),
        pytest.param(unknown(100, process="pid 2"), "echo", id="another process, its thread has the same number"),
        pytest.param(unknown(100 - US), "unknown", id="just before"),
        pytest.param(unknown(90), "unknown", id="ten seconds before"),
        pytest.param(unknown(90 - US), "noise", id="longer before: the process went on"),
        pytest.param(unknown(50, process="pid 2"), "unknown", id="longer before, elsewhere"),
        pytest.param(unknown(None), "unknown", id="no clock"),
    ],
)
def test_an_error_that_no_rule_knows_is_settled_by_thread_and_time(event: Event, role: str) -> None:
    assert role_of(event, plog_scene()) == role
    assert role_of(event, plog_scene(None)) == "unknown"
    assert role_of(event, None) == "unknown"


def test_no_thread_is_not_the_same_thread() -> None:
    scene = record(at=100, offset=50, subject="the fault")
    assert role_of(unknown(100, "thread"), scene) == "echo"


def test_roles_come_in_the_order_of_the_files_and_what_continues_a_record_is_what_that_is() -> None:
    scene = plog_scene()
    events = [
        record("continued", 0, source=0, offset=10),
        scene,
        record("continued", 0, source=0, offset=51),
        record("continued", 0, source=0, offset=52),
        record("echo", 101, source=0, offset=53),
        record("continued", 0, source=0, offset=54),
        record("continued", 0, source=1, offset=0),
        record("pointer", 101, source=1, offset=5),
        record("continued", 0, source=1, offset=6),
    ]
    settled = settle(world(list(reversed(events))), choice(scene), BOOK)
    assert [each.event for each in settled] == events
    assert [each.role for each in settled] == [
        "unknown",
        "first-scene",
        "scene",
        "scene",
        "echo",
        "echo",
        "unknown",
        "pointer",
        "pointer",
    ]


def test_two_records_of_the_line_of_the_scene_are_told_apart() -> None:
    scene, twin = plog_scene(), record(at=900, kind="mte", offset=50)
    assert [each.role for each in settle(world([scene, twin]), choice(scene), BOOK)] == ["first-scene", "echo"]


@pytest.mark.parametrize(
    ("own", "others", "kind"),
    [
        pytest.param("core", [detail(kind="mte")], "mte", id="a precise detail of the family"),
        pytest.param(
            "core", [detail(kind="core"), detail(kind="mte", offset=61)], "mte", id="the first that is precise"
        ),
        pytest.param("core", [detail(kind=None), detail(kind="none such", offset=61)], "core", id="no kind"),
        pytest.param("core", [detail(kind="link")], "core", id="another family is no detail"),
        pytest.param("core", [detail(kind="mte", process="pid 2")], "core", id="an echo"),
        pytest.param("core", [], "core", id="alone"),
        pytest.param("mte", [detail(kind="core")], "mte", id="precise by itself"),
        pytest.param("link", [detail(kind="mte")], "link", id="precise, of another family"),
        pytest.param(None, [detail(kind="mte")], "unknown", id="no kind, whatever its details"),
        pytest.param("none such", [detail(kind="mte")], "unknown", id="a kind that no table has"),
    ],
)
def test_a_general_kind_gives_way_to_a_precise_one_of_its_details(
    own: str | None, others: list[Event], kind: str
) -> None:
    scene = record(at=100, kind=own, offset=50)
    assert precise_kind(scene, settle(world([scene, *others]), choice(scene), BOOK), BOOK) == kind


def test_a_detail_of_another_family_beside_the_scene_makes_nothing_precise() -> None:
    """As noise printed with the scene can be."""
    scene = record(at=100, kind="core", offset=50)
    noise = record("noise", 100, kind="link", offset=51, of=rule("noise", with_scene=True))
    settled = settle(world([scene, noise]), choice(scene), BOOK)
    assert [each.role for each in settled] == ["first-scene", "scene"]
    assert precise_kind(scene, settled, BOOK) == "core"
