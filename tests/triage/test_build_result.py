"""The answer, held on small worlds: whole results, and each sentence, list and field in a table of its own."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from backproof.records.triage import Clue, FirstFault, Point, Pointer, RankCount, Server, Shape, TriageResult
from backproof.triage import codes, timestamps
from backproof.triage.build_result import ResultBuilder
from backproof.triage.choose_fault import Choice
from backproof.triage.collect import FileSummary
from backproof.triage.inputs import LogFiles, Source
from backproof.triage.rules import Kind
from small_worlds import KINDS, make_book, make_event, make_rule, make_world, to_us

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from backproof.triage.choose_fault import Confidence
    from backproof.triage.events import Event, Process
    from backproof.triage.rules import RuleBook

POINTS_AT = make_rule("pointer", pattern="sqSwStatus=(?P<sw>0x[0-9a-f]+)")
POINTS = make_rule("pointer", id="no-word", pattern="look there")
# Its index, 2, is what "continued" counts as from the end.
BOOK = make_book(POINTS, POINTS_AT, POINTS_AT, POINTS)
RANK0 = "rank0/plog-11_20270214100000001.log"
RANK1 = "rank1/plog-12_20270214100000002.log"
SOURCES = (
    Source(label=RANK0, path=Path("/nowhere/0"), size=1000),
    Source(label=RANK1, path=Path("/nowhere/1"), size=24),
)
LARGE = 64 << 20
SERVER = Server(
    samples=(), healthy_at=None, pace="stuck", pace_why="", stack=(), ranks=(), spread="unknown", hypotheses=()
)


def answered(
    *events: Event,
    fault: Event | None = None,
    confidence: Confidence = "medium",
    why: tuple[str, ...] = ("as it was chosen",),
    survived: dict[Event, str] | None = None,
    sources: Sequence[Source] = SOURCES,
    summaries: Sequence[FileSummary] = (),
    of: RuleBook = BOOK,
    ranks: Mapping[Process, int] | None = None,
    devices: Mapping[Process, int] | None = None,
    notes: tuple[str, ...] = (),
    server: Server | None = None,
    unread: Sequence[str] = ("could not read it",),
) -> TriageResult:
    """The result for a fault and the other records."""
    all_records = make_world([*events, *([fault] if fault else [])], ranks=ranks, devices=devices, notes=notes)
    choice = Choice(fault=fault, confidence=confidence, why=why, survived=survived or {})
    files = LogFiles(folder=Path, alone=False, sources=list(sources), notes=["two of a kind"], unread=list(unread))
    return ResultBuilder(sources, summaries, all_records, choice, of).build_result(server, files)


def make_fault(at: float | None = 100, *, kind: str | None = "core", **given: Any) -> Event:
    return make_event(at=at, kind=kind, **({"offset": 50, "line": 50} | given))


def make_detail(at: float | None = 100, **given: Any) -> Event:
    """A detail of the fault."""
    return make_event("detail", at, **({"offset": 60, "line": 60} | given))


def make_secondary(at: float | None = 101, subject: str = "it failed", **given: Any) -> Event:
    plain: dict[str, Any] = {"source": 1, "offset": 10, "line": 10, "subject": subject}
    return make_event("secondary", at, **(plain | given))


def test_a_whole_answer() -> None:
    fault = make_fault(
        of=make_rule("first-fault", "core", id="core-fault"),
        process="pid 11",
        rank=3,
        line=7,
        subject="RUNTIME [a.cc:1]7 fault, device_id=5, task_id=12, retCode=0x31",
        due=2.5,
    )
    detail = make_detail(
        100.5, kind="mte", process="pid 11", line=8, subject="RUNTIME [a.cc:2]7 errcode:(0x800000) retCode=0x31, funcName=conv_0"
    )  # fmt: skip
    word = make_event(
        "pointer",
        100.75,
        process="pid 11",
        rule=1,
        offset=70,
        line=9,
        subject="RUNTIME sqSwStatus=0x103a000c",
    )
    noise = make_event("noise", 10, process="pid 11", offset=1, line=1)
    soft = make_event(at=20, kind="memory", process="pid 11", offset=2, line=2)
    secondary = make_secondary(102.25, "error code is 507015", process="pid 12", rank=4)
    unknown = make_event("unknown", 95, process="pid 12", source=1, offset=5, line=5)
    counted = [
        FileSummary(
            source=0,
            roles=Counter({"first-fault": 2, "detail": 1, "pointer": 1, "noise": 1, "context": 40}),
            errors=Counter({11: 5}),
            shapes=Counter({"it failed": 2, "RUNTIME # fault": 1}),
        ),
        FileSummary(
            source=1,
            roles=Counter({"secondary": 1, "unknown": 1, "context": 2}),
            errors=Counter({12: 2}),
            shapes=Counter({"it failed": 2}),
        ),
    ]
    result = answered(
        secondary, unknown, word, detail, soft, noise,
        fault=fault,
        survived={soft: "it lived"},
        summaries=counted,
        ranks={("", "pid 11"): 3, ("", "pid 12"): 4},
        devices={("", "pid 11"): 5, ("", "pid 12"): 6},
        notes=("two hosts",),
        server=SERVER,
    )  # fmt: skip
    ts, aicore = codes.decode_code("ts", "0x31"), codes.decode_code("aicore", "0x800000")
    assert result == TriageResult(
        outcome="first-fault",
        first_fault=FirstFault(
            file=RANK0,
            line=7,
            kind="mte",
            rule="core-fault",
            text=fault.subject,
            time="1970-01-01 00:01:40.000000",
            began="1970-01-01 00:01:37.500000",
        ),
        verdict="rank 3 / device 5: an address was out of range in conv_0; 1 secondary error",
        confidence="high",
        why=(
            "as it was chosen",
            "1 more record of the same process describes it",
            "the first secondary error comes 2.250000 s after it",
            "1 record set aside: it lived",
        ),
        advice="Look at the indices.",
        code="507015",
        chain=(ts, codes.decode_code("inner", "0x715005e"), codes.decode_code("acl", "507035")),
        codes=(ts, aicore),
        device=5,
        rank=3,
        kernel="conv_0",
        detail_lines=(f"{RANK0}:8",),
        pointer_lines=(f"{RANK0}:9",),
        secondary_lines=(f"{RANK1}:10",),
        noise_lines=(f"{RANK0}:1", f"{RANK0}:2"),
        unknown_lines=(f"{RANK1}:5",),
        lists_complete=True,
        pointers=(
            Pointer(
                where=f"{RANK0}:9",
                status="0x103a000c",
                result="stream execution failed",
                queue=58,
                task=12,
                joined=f"{RANK0}:7",
            ),
        ),
        counts={"first-fault": 2, "detail": 1, "pointer": 1, "noise": 1, "context": 42, "secondary": 1, "unknown": 1},
        ranks=(
            RankCount(
                host="",
                process="pid 11",
                rank=3,
                device=5,
                errors=5,
                first="1970-01-01 00:00:10.000000",
                role="first-fault",
            ),
            RankCount(
                host="",
                process="pid 12",
                rank=4,
                device=6,
                errors=2,
                first="1970-01-01 00:01:35.000000",
                role="secondary",
            ),
        ),
        distribution=(Shape(count=4, text="it failed"), Shape(count=1, text="RUNTIME # fault")),
        timeline=tuple(
            Point(us=to_us(at), lane=lane, role=role, where=where)
            for at, lane, role, where in [
                (10, "pid 11", "noise", f"{RANK0}:1"),
                (20, "pid 11", "noise", f"{RANK0}:2"),
                (95, "pid 12", "unknown", f"{RANK1}:5"),
                (100, "rank 3", "first-fault", f"{RANK0}:7"),
                (100.5, "pid 11", "detail", f"{RANK0}:8"),
                (100.75, "pid 11", "pointer", f"{RANK0}:9"),
                (102.25, "rank 4", "secondary", f"{RANK1}:10"),
            ]
        ),
        server=SERVER,
        notes=("could not read it", "two of a kind", "two hosts"),
        unread=("could not read it",),
        clues=(
            Clue(what="kind", text="mte"),
            Clue(what="kernel", text="conv_0"),
            Clue(what="code", text="507015"),
        ),
        files=2,
        bytes=1024,
    )


def test_an_answer_from_nothing() -> None:
    assert answered(why=(), confidence="none", sources=()) == TriageResult(
        outcome="unread",
        first_fault=None,
        verdict="unknown: no log was read; could not read it",
        confidence="none",
        why=(),
        advice="Give what was not read in another form: plain text, zip, tar, gz, bz2 or xz, readable by this user.",
        code=None,
        chain=(),
        codes=(),
        device=None,
        rank=None,
        kernel=None,
        detail_lines=(),
        pointer_lines=(),
        secondary_lines=(),
        noise_lines=(),
        unknown_lines=(),
        lists_complete=True,
        pointers=(),
        counts={},
        ranks=(),
        distribution=(),
        timeline=(),
        server=None,
        notes=("could not read it", "two of a kind"),
        unread=("could not read it",),
        files=0,
        bytes=0,
    )


@pytest.mark.parametrize("role", ["secondary", "pointer"])
def test_secondary_errors_alone_say_that_the_fault_is_elsewhere(role: str) -> None:
    result = answered(make_event(role), make_event("noise"), confidence="none", why=())
    assert (result.outcome, result.exit_code, result.first_fault) == ("only-secondary", 4, None)
    assert result.advice == (
        "Collect debug/plog of every rank, the device logs (msnpureport) and dmesg of the same run."
    )
    assert result.verdict.startswith("these files hold only secondary errors and pointers")


def test_secondary_errors_alone_name_the_ranks_that_have_no_log() -> None:
    ranks = {("", "pid 1"): 0, ("", "pid 2"): 3}
    result = answered(make_event("secondary"), confidence="none", why=(), ranks=ranks)
    assert result.advice.startswith("There is no log of rank 1, 2 here. ")


@pytest.mark.parametrize("role", ["unknown", "first-fault", "detail"])
def test_an_error_that_is_not_explained_is_named_and_is_no_all_clear(role: str) -> None:
    late, early = make_event(role, 9), make_event("noise", 1)
    result = answered(early, late, confidence="none", why=(), unread=())
    assert (result.outcome, result.exit_code) == ("errors", 4)
    assert result.earliest_error is not None
    assert result.earliest_error.text == late.subject
    assert result.earliest_error.text in result.verdict


def test_a_survived_fault_is_no_all_clear(tmp_path: Path) -> None:
    event = make_fault()
    result = answered(event, confidence="none", why=(), survived={event: "the process went on"}, unread=())
    assert (result.outcome, result.exit_code) == ("errors", 4)


ROLES = ("pointer", "secondary", "noise", "unknown")


@pytest.mark.parametrize("better", ROLES)
@pytest.mark.parametrize("worse", ROLES)
@pytest.mark.parametrize("turned", [False, True])
def test_a_line_of_two_records_stands_once_under_the_more_telling_one(better: str, worse: str, turned: bool) -> None:
    if ROLES.index(better) > ROLES.index(worse):
        better, worse = worse, better
    pair = [make_event(better, line=3), make_event(worse, line=3)]
    lists = dict(answered(*(reversed(pair) if turned else pair)).list_lines())
    assert lists == {"detail": ()} | {name: (f"{RANK0}:3",) if name == better else () for name in ROLES}


@pytest.mark.parametrize("other", ["detail", "secondary"])
def test_the_line_of_the_first_fault_is_in_no_list(other: str) -> None:
    fault = make_fault()
    result = answered(make_event(other, 100, offset=50, line=50), fault=fault)
    assert [lines for _, lines in result.list_lines()] == [()] * 5


def test_a_line_of_a_detail_and_a_secondary_error_is_of_the_fault() -> None:
    result = answered(make_detail(), make_secondary(source=0, offset=60, line=60), fault=make_fault())
    assert (result.detail_lines, result.secondary_lines) == ((f"{RANK0}:60",), ())


def sized(size: int) -> tuple[Source, ...]:
    return (Source(label=RANK0, path=Path("/nowhere/0"), size=size - 24), SOURCES[1])


def many() -> Iterator[Event]:
    """Thirty of each, later ones first in their file; some without a clock, which stand first."""
    for number in range(30):
        at = 200 - number if number >= 3 else None
        for step, role in enumerate(("detail", "secondary", "noise")):
            yield make_event(role, at, offset=10 * number + step + 100, line=1000 * (step + 1) + number)


def test_of_a_large_input_the_fault_and_the_earliest_of_each_class_are_named() -> None:
    result = answered(*many(), fault=make_fault(90, line=1), sources=sized(LARGE + 1))
    latest_first = range(29, 2, -1)
    assert result.detail_lines == tuple(f"{RANK0}:{1000 + number}" for number in [*latest_first, 0, 1, 2])
    assert result.secondary_lines == tuple(f"{RANK0}:{2000 + number}" for number in latest_first[:20])
    assert result.noise_lines == tuple(f"{RANK0}:{3000 + number}" for number in latest_first[:20])
    assert not result.lists_complete
    assert [point.where for point in result.timeline if point.role == "secondary"] == [
        f"{RANK0}:{2000 + number}" for number in latest_first[:20]
    ] + [RANK0] * 7


def test_what_has_no_clock_is_named_last_even_beside_the_start_of_the_clock() -> None:
    events = [
        make_event("secondary", None, offset=1, line=1),
        make_event("secondary", 0.000001, offset=2, line=2),
        make_event("secondary", 0, offset=3, line=3),
    ]
    result = answered(*events, sources=sized(LARGE + 1))
    assert result.secondary_lines == (f"{RANK0}:3", f"{RANK0}:2", f"{RANK0}:1")


def test_up_to_64_mib_every_line_is_named_in_the_order_of_the_files() -> None:
    result = answered(*many(), fault=make_fault(90, line=1), sources=sized(LARGE))
    for lines, start in ((result.detail_lines, 1000), (result.secondary_lines, 2000), (result.noise_lines, 3000)):
        assert lines == tuple(f"{RANK0}:{start + number}" for number in range(30))


@pytest.mark.parametrize(
    ("size", "counted", "complete"),
    [
        (LARGE, {"secondary": 25}, True),
        (LARGE, {"secondary": 25, "context": 9}, True),
        (LARGE, {"secondary": 26}, False),
        (LARGE, {"secondary": 24, "context": 1}, False),
        (LARGE + 1, {"secondary": 20}, False),
        (LARGE + 1, {"secondary": 25}, False),
    ],
)
def test_lists_are_complete_when_all_that_was_counted_is_named(
    size: int, counted: dict[str, int], complete: bool
) -> None:
    summaries = [FileSummary(source=0, roles=Counter(counted)), FileSummary(source=1)]
    events = [make_secondary(number, source=0, offset=number, line=number + 1) for number in range(25)]
    assert answered(*events, sources=sized(size), summaries=summaries).lists_complete is complete


def test_lines_are_counted_only_where_nobody_did(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a", "b", "c")]
    for path in paths[:2]:
        path.write_text("one\ntwo\nthree\nfour\n", "utf-8")
    sources = [Source(label=path.name, path=path, size=LARGE) for path in paths]
    events = [
        make_event("secondary", 3, source=0, offset=4, line=0),
        make_event("secondary", 1, source=0, offset=14, line=0),
        make_event("secondary", 4, source=0, offset=0, line=0),
        make_event("secondary", 2, source=1, offset=8, line=0),
        make_event("secondary", 5, source=1, offset=14, line=99),
        make_event("secondary", 6, source=2, offset=5, line=7),
    ]
    assert answered(*events, sources=sources).secondary_lines == ("a:4", "b:3", "a:2", "a:1", "b:99", "c:7")


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (make_fault(of=make_rule("first-fault", "core", id="a-rule")), {"rule": "a-rule"}),
        (make_event("unknown", 100), {"rule": "", "kind": "unknown", "line": 1}),
        (make_fault(subject="é" * 401), {"text": "é" * 400}),
        (make_fault(1.5), {"time": "1970-01-01 00:00:01.500000", "began": None}),
        (make_fault(None), {"time": None, "began": None}),
        (make_fault(None, due=3), {"time": None, "began": None}),
        (make_fault(3.5, due=3), {"time": "1970-01-01 00:00:03.500000", "began": "1970-01-01 00:00:00.500000"}),
        (make_fault(3, due=3), {"time": "1970-01-01 00:00:03.000000", "began": "1970-01-01 00:00:00.000000"}),
    ],
)
def test_the_first_fault_says_where_and_when(fault: Event, expected: dict[str, str | int | None]) -> None:
    first = answered(fault=fault).first_fault
    assert first is not None
    assert expected.items() <= first.model_dump().items()


@pytest.mark.parametrize(
    ("fault", "parts", "given", "confidence"),
    [
        (make_fault(), [make_detail()], "medium", "high"),
        (make_fault(), [], "medium", "medium"),
        (make_fault(None), [make_detail()], "medium", "medium"),
        (make_event("detail", 100, kind="core"), [make_detail()], "medium", "medium"),
        (make_event("secondary", 100), [make_detail()], "low", "low"),
        (None, [make_detail()], "none", "none"),
    ],
)
def test_confidence_is_high_only_for_a_dated_report_with_details(
    fault: Event | None, parts: list[Event], given: Confidence, confidence: str
) -> None:
    assert answered(*parts, fault=fault, confidence=given).confidence == confidence


@pytest.mark.parametrize(
    ("fault", "others", "sentences"),
    [
        (make_fault(), [], ()),
        (make_fault(), [make_detail()], ("1 more record of the same process describes it",)),
        (make_fault(), [make_detail(), make_detail(offset=61)], ("2 more records of the same process describe it",)),
        (
            make_fault(),
            [make_secondary(103), make_secondary(100.000001)],
            ("the first secondary error comes 0.000001 s after it",),
        ),
        (make_fault(), [make_secondary(100)], ("the first secondary error comes 0.000000 s after it",)),
        (
            make_fault(),
            [make_secondary(97.75), make_secondary(103)],
            ("a secondary error is dated 2.250000 s before it",),
        ),
        (make_fault(), [make_secondary(None)], ()),
        (make_fault(), [make_event("noise", 101)], ()),
        (make_fault(None), [make_secondary(103)], ()),
        (None, [make_secondary(103), make_detail()], ()),
    ],
)
def test_the_reasons_say_what_agrees_and_when_the_secondary_came(
    fault: Event | None, others: list[Event], sentences: tuple[str, ...]
) -> None:
    assert answered(*others, fault=fault, why=("first", "second")).why == ("first", "second", *sentences)


def test_the_five_commonest_reasons_why_records_were_set_aside_are_told() -> None:
    soft = [make_event(at=1, kind="memory", offset=number) for number in range(8)]
    reasons = ["a", "b", "b", "b", "c", "d", "e", "f"]
    result = answered(*soft, survived=dict(zip(soft, reasons, strict=True)))
    assert result.why == (
        "as it was chosen",
        "3 records set aside: b",
        *(f"1 record set aside: {reason}" for reason in "acde"),
    )


@pytest.mark.parametrize(
    ("fault", "advice"),
    [
        (make_fault(of=make_rule("first-fault", "core", advice="Do this.")), "Do this."),
        (make_fault(kind="link"), "Check the cable."),
        (make_fault(kind="none such"), "Collect debug/plog of every rank, the device logs (msnpureport) and dmesg of the same run."),
        (make_event("unknown"), "Collect debug/plog of every rank, the device logs (msnpureport) and dmesg of the same run."),
    ],
)  # fmt: skip
def test_advice_is_the_rules_own_then_that_of_the_kind(fault: Event, advice: str) -> None:
    assert answered(fault=fault).advice == advice


@pytest.mark.parametrize(
    ("fault", "others", "devices", "verdict"),
    [
        (make_fault(kind="mte"), [], {}, "pid 1: an address was out of range"),
        (make_fault(kind="mte", rank=0), [], {}, "rank 0: an address was out of range"),
        (make_fault(kind="mte", device=0), [], {}, "device 0: an address was out of range"),
        (make_fault(kind="link"), [], {("", "pid 1"): 6}, "device 6: a link failed"),
        (make_fault(kind="mte", rank=2, device=3), [], {}, "rank 2 / device 3: an address was out of range"),
        (
            make_fault(kind="mte", subject="kernel_name=conv, x"),
            [],
            {},
            "pid 1: an address was out of range in conv",
        ),
        (
            make_fault(kind="mte"),
            [make_secondary(), make_secondary(offset=11), make_event("noise", 101), make_event("pointer", 101)],
            {},
            "pid 1: an address was out of range; 2 secondary errors",
        ),
        (make_fault(kind="none such"), [make_secondary()], {}, "as it was chosen"),
    ],
)
def test_the_verdict_is_one_sentence(
    fault: Event, others: list[Event], devices: dict[Process, int], verdict: str
) -> None:
    assert answered(*others, fault=fault, devices=devices).verdict == verdict


USUAL = {name: Kind(family="op", meaning=name, advice=name) for name in ("tiling", "kernel-missing", "aclnn-param")} | {
    "core": KINDS["core"]
}


@pytest.mark.parametrize(
    ("fault", "others", "code"),
    [
        pytest.param(
            make_fault(), [make_secondary(subject="error code is 507011")], "507011", id="said by a secondary error"
        ),
        pytest.param(
            make_fault(),
            [make_secondary(105, "error code is 507011"), make_secondary(103, "error code is 507015", offset=20)],
            "507015",
            id="by the earliest secondary error",
        ),
        pytest.param(
            make_fault(),
            [make_secondary(None, "error code is 507011"), make_secondary(103, "error code is 507015", offset=20)],
            "507015",
            id="what has no clock comes last",
        ),
        pytest.param(
            make_fault(subject="ErrCode=507018"),
            [make_secondary(subject="EI0002: x")],
            "EI0002",
            id="an alarm, before the fault's",
        ),
        pytest.param(make_fault(subject="ErrCode=507018"), [make_secondary()], "507018", id="said by the fault"),
        pytest.param(make_fault(), [make_detail(subject="ErrCode=507018")], "507018", id="said by a detail"),
        pytest.param(
            make_fault(subject="ErrCode=507018"),
            [make_secondary(subject="EZ9999: Inner Error!")],
            "507018",
            id="9999 says nothing",
        ),
        pytest.param(make_fault(), [make_secondary(subject="EZ9999: Inner Error!")], None, id="9999 alone"),
        pytest.param(
            make_fault(subject="retCode=0x31"),
            [make_secondary(subject="EI0002: x")],
            "EI0002",
            id="what is said before what is meant",
        ),
        pytest.param(make_fault(subject="retCode=0x31"), [], "507035", id="meant by the fault"),
        pytest.param(
            make_fault(subject="retCode=0x31"),
            [make_secondary(subject="InnerCode=0x7150050")],
            "507011",
            id="meant by the secondary error",
        ),
        pytest.param(
            make_fault(),
            [make_secondary(103, "InnerCode=0x7150050"), make_secondary(105, "error code is 507015", offset=20)],
            "507015",
            id="what is said late before what is meant early",
        ),
        pytest.param(make_fault(subject="retCode=0x103, ret[9]"), [], None, id="no code that a user meets"),
        pytest.param(
            make_fault(), [make_event("noise", 101, subject="error code is 507011")], None, id="noise says nothing"
        ),
        pytest.param(make_fault(), [], None, id="none"),
        pytest.param(
            make_fault(kind="tiling", of=make_rule("first-fault", "tiling", code="561002")),
            [],
            "561002",
            id="usual for tiling",
        ),
        pytest.param(
            make_fault(kind="kernel-missing", of=make_rule("first-fault", "kernel-missing", code="561003")),
            [],
            "561003",
            id="usual for a missing kernel",
        ),
        pytest.param(
            make_fault(kind="aclnn-param", of=make_rule("first-fault", "aclnn-param", code="161002")),
            [],
            "161002",
            id="usual for an argument",
        ),
        pytest.param(
            make_fault(kind="tiling", of=make_rule("first-fault", "tiling", code="561002")),
            [make_secondary(subject="error code is 507011")],
            "507011",
            id="said before usual",
        ),
        pytest.param(None, [make_secondary(subject="error code is 507011")], "507011", id="secondary errors alone"),
        pytest.param(None, [], None, id="nothing"),
    ],
)
def test_the_code_is_the_one_that_the_user_met_first(
    fault: Event | None, others: list[Event], code: str | None
) -> None:
    assert answered(*others, fault=fault, of=make_book(POINTS, kinds=USUAL)).code == code


CHIP = "device(chipId:3, dieId:1)"
OWN = {("", "pid 1"): 6, ("", "pid 2"): 9}


@pytest.mark.parametrize(
    ("fault", "others", "devices", "device"),
    [
        pytest.param(make_fault(device=0), [make_detail(device=5)], OWN, 0, id="the fault's own"),
        pytest.param(make_fault(), [make_detail(device=5)], OWN, 5, id="of a detail"),
        pytest.param(make_fault(subject=CHIP), [make_detail()], OWN, 6, id="of its process"),
        pytest.param(make_fault(pid=None), [make_detail()], OWN, 6, id="of its process, before the file's"),
        pytest.param(make_fault(pid=None, subject=CHIP), [make_secondary(device=8, source=0)], {}, 8, id="of its file"),
        pytest.param(make_fault(pid=None, subject=CHIP), [make_secondary(device=8)], {}, 7, id="not of another file"),
        pytest.param(
            make_fault(subject=CHIP),
            [make_secondary(device=8, source=0)],
            {},
            7,
            id="of its file only without a process",
        ),
        pytest.param(make_fault(), [make_detail(subject=CHIP)], {}, 7, id="chip and die of a detail"),
        pytest.param(make_fault(), [make_secondary(device=7)], {}, None, id="nobody says it"),
        pytest.param(None, [make_secondary(device=7)], OWN, None, id="no fault"),
    ],
)
def test_the_device_is_the_faults_then_its_processs_then_its_files(
    fault: Event | None, others: list[Event], devices: dict[Process, int], device: int | None
) -> None:
    assert answered(*others, fault=fault, devices=devices).device == device


@pytest.mark.parametrize(
    ("fault", "others", "kernel"),
    [
        (make_fault(subject="kernel_name=a,"), [make_detail(subject="kernel_name=b,")], "a"),
        (make_fault(), [make_detail(), make_detail(subject="kernel_name=b,", offset=61)], "b"),
        (make_fault(), [make_secondary(subject="kernel_name=c,")], None),
        (None, [make_secondary(subject="kernel_name=c,")], None),
    ],
)
def test_the_kernel_is_the_first_that_the_fault_names(
    fault: Event | None, others: list[Event], kernel: str | None
) -> None:
    assert answered(*others, fault=fault).kernel == kernel


def word(status: str, **given: Any) -> Event:
    plain: dict[str, Any] = {"rule": 1, "offset": 70, "line": 70, "subject": f"sqSwStatus={status}"}
    return make_event("pointer", 101, **(plain | given))


@pytest.mark.parametrize(
    ("others", "pointers"),
    [
        ([word("0x103a000c")], [("0x103a000c", "stream execution failed", 58, 12, f"{RANK0}:50")]),
        ([word("0x903a000d")], [("0x903a000d", "9", 58, 13, f"{RANK0}:60")]),
        ([word("0x1000000e")], [("0x1000000e", "stream execution failed", 0, 14, None)]),
        ([word("0x103a000c", process="pid 2")], [("0x103a000c", "stream execution failed", 58, 12, None)]),
        ([make_event("pointer", 101, rule=0, offset=70, subject="look there")], []),
        ([make_event("secondary", 101, rule=1, offset=70, subject="sqSwStatus=0x103a000c")], []),
        (
            [
                make_event("pointer", 101, rule=0, offset=70, subject="look there"),
                make_event("continued", 101, offset=71, subject="sqSwStatus=0x103a000c"),
                word("0x1000000e", offset=72, line=70),
            ],
            [("0x1000000e", "stream execution failed", 0, 14, None)],
        ),
    ],
)
def test_a_status_word_is_joined_to_the_report_about_its_task(
    others: list[Event], pointers: list[tuple[str, str, int, int, str | None]]
) -> None:
    fault = make_fault(subject="task_id=12")
    actual = answered(make_detail(subject="task_id=13"), *others, fault=fault).pointers
    assert actual == tuple(
        Pointer(where=f"{RANK0}:70", status=status, result=result, queue=queue, task=task, joined=joined)
        for status, result, queue, task, joined in pointers
    )


def test_errors_are_counted_by_process_over_all_files() -> None:
    """A process has no number of its own in its record: its file's name has it, or is all there is."""
    labels = ["node1/plog-7_20270214100000001.log", "node1/more-of-7.log", "server.log"]
    sources = [Source(label=label, path=Path(label), size=1) for label in labels]
    summaries = [
        FileSummary(source=0, errors=Counter({7: 1, None: 2, -1: 4})),
        FileSummary(source=1, errors=Counter({7: 8})),
        FileSummary(source=2, errors=Counter({None: 16, 0: 32})),
    ]
    actual = answered(sources=sources, summaries=summaries).ranks
    assert [(row.host, row.process, row.errors) for row in actual] == [
        ("", "pid 0", 32),
        ("", "server.log", 16),
        ("node1", "pid 7", 15),
    ]
    assert {(row.rank, row.device, row.first, row.role) for row in actual} == {(None, None, None, "unknown")}


def test_processes_come_by_rank_then_host_then_number_and_without_a_rank_last() -> None:
    hosts = ("node1", "node2")
    sources = [Source(label=f"{host}/x.log", path=Path(host), size=1) for host in hosts]
    summaries = [FileSummary(source=number, errors=Counter({1: 1, 2: 1})) for number in (1, 0)]
    ranks = {("node2", "pid 1"): 0, ("node1", "pid 2"): 1, ("node1", "pid 1"): 1}
    actual = answered(sources=sources, summaries=summaries, ranks=ranks).ranks
    assert [(row.rank, row.host, row.process) for row in actual] == [
        (0, "node2", "pid 1"),
        (1, "node1", "pid 1"),
        (1, "node1", "pid 2"),
        (None, "node2", "pid 2"),
    ]


@pytest.mark.parametrize(
    ("fault_of", "wrote", "role", "first"),
    [
        ("pid 1", [make_event("noise", 5), make_event("secondary", 3)], "first-fault", 3),
        ("pid 2", [make_event("noise", 5), make_event("secondary", 7), make_event("unknown", None)], "secondary", 5),
        ("pid 2", [make_event("noise", 5), make_event("pointer", 7)], "secondary", 5),
        ("pid 2", [make_event("noise", 5), make_event("unknown", 99)], "noise", 5),
        ("pid 2", [make_event("unknown", 99)], "unknown", 99),
        ("pid 2", [make_event("unknown", None)], "unknown", None),
    ],
)
def test_a_process_is_as_bad_as_the_worst_that_it_wrote(
    fault_of: str, wrote: list[Event], role: str, first: float | None
) -> None:
    summaries = [FileSummary(source=0, errors=Counter({1: 1}))]
    (actual,) = answered(
        *wrote, make_secondary(1, process="pid 3"), fault=make_fault(process=fault_of), summaries=summaries
    ).ranks
    assert (actual.role, actual.first) == (role, None if first is None else timestamps.format_time(to_us(first)))


def test_a_process_that_wrote_a_detail_of_the_fault_is_at_the_fault() -> None:
    summaries = [FileSummary(source=0, errors=Counter({2: 1}))]
    fault, other = make_fault(form="text", block=40), make_detail(form="text", block=40, process="pid 2")
    (actual,) = answered(other, fault=fault, summaries=summaries).ranks
    assert (actual.process, actual.role) == ("pid 2", "first-fault")


def test_the_distribution_is_of_all_files_and_has_fifty_rows() -> None:
    shapes = Counter({f"shape {number:02}": 100 - number for number in range(40)})
    more = Counter({f"shape {number:02}": 100 - number for number in range(30, 60)})
    actual = answered(summaries=[FileSummary(source=0, shapes=shapes), FileSummary(source=1, shapes=more)]).distribution
    assert actual[:2] == (Shape(count=140, text="shape 30"), Shape(count=138, text="shape 31"))
    assert (len(actual), actual[-1]) == (50, Shape(count=51, text="shape 49"))


@pytest.mark.parametrize(("count", "step"), [(0, 1), (1, 1), (1999, 1), (2000, 1), (2001, 2), (4000, 2), (4001, 3)])
def test_the_timeline_is_thinned_evenly_above_2000_and_keeps_the_fault(count: int, step: int) -> None:
    """Records later in the file are earlier, the fault and its detail among those that would go."""
    events = [make_event("noise", 9000 - at, offset=at) for at in range(count)]
    shown = list(range(0, count, step))
    assert [point.us for point in answered(*events).timeline] == [to_us(9000 - at) for at in reversed(shown)]
    if step > 1:
        events[1], events[5] = make_detail(8999, offset=1), make_fault(8995, offset=5)
        shown = sorted([*shown, 1, 5])
        actual = answered(*events[:5], *events[6:], fault=events[5]).timeline
        assert [point.us for point in actual] == [to_us(9000 - at) for at in reversed(shown)]


def test_what_has_no_clock_is_not_on_the_timeline_and_a_lane_is_a_rank_or_a_process() -> None:
    events = [
        make_event("noise", 0, rank=0, host="node1"),
        make_event("noise", 1, rank=1),
        make_event("noise", 2, host="node1"),
        make_event("noise", 3, process="server.log"),
        make_event("noise", None),
    ]
    actual = answered(*events).timeline
    assert [(point.us, point.lane) for point in actual] == [
        (0, "node1 rank 0"),
        (to_us(1), "rank 1"),
        (to_us(2), "node1 pid 1"),
        (to_us(3), "server.log"),
    ]
