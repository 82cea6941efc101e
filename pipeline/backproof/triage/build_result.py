"""Puts the answer together: lines get their numbers, records their names, and the reasons their words."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, Literal

from backproof.core.plural import format_count
from backproof.records.triage import FirstFault, Point, Pointer, RankCount, Shape, TriageResult
from backproof.triage import codes, correlate, events, roles, scan, timestamps
from backproof.triage.conclude import COLLECT, draw_conclusion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from backproof.records.codes import Code
    from backproof.records.triage import Server
    from backproof.triage.choose_fault import Choice, Confidence
    from backproof.triage.collect import FileSummary
    from backproof.triage.events import Event, Process, World
    from backproof.triage.inputs import LogFiles, Source
    from backproof.triage.roles import ClassifiedEvent
    from backproof.triage.rules import RuleBook

_NUMBERED: Final = 64 << 20
"""Bytes of input up to which every listed line gets its number; beyond, only the earliest few of each class do, for
counting lines reads the file a second time."""
_FEW: Final = 20
_POINTS: Final = 2000
_SHAPES: Final = 50
_TEXT: Final = 400


class ResultBuilder:
    """Collects what the parts of the answer share: the records, their lines, the first fault."""

    def __init__(
        self, sources: Sequence[Source], summaries: Sequence[FileSummary], world: World, choice: Choice, book: RuleBook
    ) -> None:
        self.sources, self.summaries, self.world, self.choice, self.book = sources, summaries, world, choice, book
        self.settled = roles.classify_events(world, choice, book)
        self.size = sum(source.size for source in sources)
        self.listed = self._select_listed()
        self.lines = _number_lines(sources, self.listed)
        self.fault = choice.fault
        self.parts = [each.event for each in self.settled if each.role in {"first-fault", "detail"}]

    def _select_listed(self) -> list[ClassifiedEvent]:
        """The records whose lines are named."""
        if self.size <= _NUMBERED:
            return self.settled
        seen: Counter[str] = Counter()
        found = []
        for each in sorted(self.settled, key=lambda each: _sort_key(each.event)):
            seen[each.role] += 1
            if seen[each.role] <= _FEW or each.role == "detail":
                found.append(each)
        return found

    def locate_event(self, event: Event) -> tuple[str, int]:
        """File and line; 0 when the lines of the file were not counted."""
        return self.sources[event.entry.source].label, self.lines.get(event.place) or 0

    def name_place(self, event: Event) -> str:
        """`file:line`; the file alone when its lines were not counted."""
        file, line = self.locate_event(event)
        return f"{file}:{line}" if line else file

    def build_result(self, server: Server | None, found: LogFiles) -> TriageResult:
        ending = draw_conclusion(found, self.world, self.choice, self.book, self.locate_event)
        lists = self._sort_lines()
        kind = roles.refine_kind(self.fault, self.settled, self.book) if self.fault else ""
        chain = codes.build_chain(self._find_codes())
        return TriageResult(
            outcome=ending.outcome,
            first_fault=self._make_first_fault(kind),
            verdict=ending.sentence or self._phrase_verdict(kind),
            confidence=self._rate_confidence(),
            why=self._give_reasons(),
            advice=ending.advice or self._choose_advice(kind),
            code=self._find_user_code(kind),
            chain=tuple(chain),
            codes=tuple(dict.fromkeys(self._find_codes())),
            device=self._find_device(),
            rank=self._find_rank(),
            kernel=self._find_kernel(),
            detail_lines=lists["detail"],
            pointer_lines=lists["pointer"],
            secondary_lines=lists["secondary"],
            noise_lines=lists["noise"],
            unknown_lines=lists["unknown"],
            lists_complete=len(self.listed)
            == len(self.settled)
            == sum(sum(t.roles.values()) - t.roles["context"] for t in self.summaries),
            pointers=tuple(self._decode_pointers()),
            counts=dict(sum((summary.roles for summary in self.summaries), Counter())),
            ranks=tuple(self._count_ranks()),
            distribution=tuple(self._count_shapes()),
            timeline=tuple(self._draw_timeline()),
            server=server,
            notes=(*found.unread, *found.notes, *self.world.notes),
            unread=tuple(found.unread),
            earliest_error=ending.error,
            files=len(self.sources),
            bytes=self.size,
        )

    def _sort_lines(self) -> Mapping[str, tuple[str, ...]]:
        """Lines per class; a line with two records stands under the more telling one."""
        best: dict[str, int] = {}
        for each in self.listed:
            name, rank = self.name_place(each.event), roles.BEST_FIRST.index(each.role)
            best[name] = min(rank, best.get(name, rank))
        found: dict[str, list[str]] = defaultdict(list)
        for name, rank in best.items():
            found[roles.BEST_FIRST[rank]].append(name)
        return defaultdict(tuple, {role: tuple(names) for role, names in found.items()})

    def _make_first_fault(self, kind: str) -> FirstFault | None:
        fault = self.fault
        if fault is None:
            return None
        return FirstFault(
            file=self.sources[fault.entry.source].label,
            line=self.lines[fault.place],
            kind=kind,
            rule=fault.rule.id if fault.rule else "",
            text=fault.entry.subject[:_TEXT],
            time=None if fault.time is None else timestamps.format_time(fault.time),
            began=timestamps.format_time(fault.began) if fault.due and fault.began is not None else None,
        )

    def _rate_confidence(self) -> Confidence:
        """High when a dated report of a fault has details that agree with it."""
        fault = self.fault
        agreed = fault is not None and fault.role == "first-fault" and fault.time is not None and len(self.parts) > 1
        return "high" if agreed else self.choice.confidence

    def _give_reasons(self) -> tuple[str, ...]:
        reasons = list(self.choice.why)
        if self.fault is not None:
            if len(self.parts) > 1:
                reasons.append(f"{len(self.parts) - 1} more records of the same process describe it")
            reasons += self._measure_gap(self.fault.time)
        ruled_out = Counter(self.choice.survived.values())
        reasons += [f"{format_count(count, 'record')} set aside: {why}" for why, count in ruled_out.most_common(5)]
        return tuple(reasons)

    def _measure_gap(self, at: int | None) -> list[str]:
        secondary = [
            each.event.time for each in self.settled if each.role == "secondary" and each.event.time is not None
        ]
        if at is None or not secondary:
            return []
        gap = (min(secondary) - at) / timestamps.SECOND
        return (
            [f"the first secondary error comes {gap:.6f} s after it"]
            if gap >= 0
            else [f"a secondary error is dated {-gap:.6f} s before it"]
        )

    def _choose_advice(self, kind: str) -> str:
        if self.fault is not None and self.fault.rule is not None and self.fault.rule.advice:
            return self.fault.rule.advice
        found = self.book.get_kind(kind)
        return found.advice if found else COLLECT

    def _phrase_verdict(self, kind: str) -> str:
        fault, found = self.fault, self.book.get_kind(kind)
        if fault is None or found is None:
            return next(iter(self.choice.why), "")
        who = [
            f"rank {self._find_rank()}" if self._find_rank() is not None else "",
            f"device {self._find_device()}" if self._find_device() is not None else "",
        ]
        name = " / ".join(each for each in who if each) or fault.process[1]
        kernel = f" in {self._find_kernel()}" if self._find_kernel() else ""
        secondary = sum(each.role == "secondary" for each in self.settled)
        return f"{name}: {found.meaning}{kernel}" + (
            f"; {format_count(secondary, 'secondary error')}" if secondary else ""
        )

    def _find_codes(self) -> list[Code]:
        return [code for event in self.parts for code in codes.find_codes(event.entry.subject)]

    def _find_user_code(self, kind: str) -> str | None:
        """The first code that the user met: ACL or alarm, of the secondary errors, then of the fault, then what the kind means."""
        secondary = sorted((each.event for each in self.settled if each.role == "secondary"), key=_sort_key)
        seen = [codes.find_codes(event.entry.subject) for event in [*secondary, *self.parts]]
        said = (code for found in seen for code in found if code.table in {"acl", "alarm_code"})
        meant = (code for found in seen for code in codes.build_chain(found) if code.table == "acl")
        named = next((code.code for code in (*said, *meant) if not code.code.endswith("9999")), None)
        return named or _USUAL.get(kind)

    def _find_device(self) -> int | None:
        """The device that the fault names, else that of its process, else of its file, else chip and die."""
        if self.fault is None:
            return None
        named = [event.device for event in self.parts] + [self.world.devices.get(self.fault.process)]
        if self.fault.entry.pid is None:
            named += [each.event.device for each in self.settled if each.event.entry.source == self.fault.entry.source]
        named += [correlate.find_chip(event.entry.subject) for event in self.parts]
        return next((device for device in named if device is not None), None)

    def _find_rank(self) -> int | None:
        return None if self.fault is None else self.fault.rank

    def _find_kernel(self) -> str | None:
        return next((name for event in self.parts if (name := correlate.find_kernel(event.entry.subject))), None)

    def _decode_pointers(self) -> Iterable[Pointer]:
        for each in self.listed:
            event = each.event
            groups = self.book.find_groups(event.entry.rule, event.entry.subject) if event.role == "pointer" else {}
            if "sw" not in groups:
                continue
            found = correlate.decode_status(groups["sw"])
            target = next(
                (
                    part
                    for part in self.parts
                    if part.process == event.process and correlate.find_task(part.entry.subject) == found.task
                ),
                None,
            )
            yield Pointer(
                where=self.name_place(event),
                status=groups["sw"],
                result=codes.decode_code("sqsw", str(found.result)).meaning or str(found.result),
                queue=found.queue,
                task=found.task,
                joined=self.name_place(target) if target else None,
            )

    def _count_ranks(self) -> list[RankCount]:
        errors: Counter[Process] = Counter()
        for summary in self.summaries:
            for pid, count in summary.errors.items():
                errors[events.name_process(self.sources[summary.source].label, pid)] += count
        mine: dict[Process, list[ClassifiedEvent]] = defaultdict(list)
        for each in self.settled:
            mine[each.event.process].append(each)
        made = [self._count_rank(who, count, mine[who]) for who, count in errors.items()]
        return sorted(made, key=lambda each: (each.rank is None, each.rank or 0, each.host, each.process))

    def _count_rank(self, who: Process, count: int, mine: Sequence[ClassifiedEvent]) -> RankCount:
        times = [each.event.time for each in mine if each.event.time is not None]
        return RankCount(
            host=who[0],
            process=who[1],
            rank=self.world.ranks.get(who),
            device=self.world.devices.get(who),
            errors=count,
            first=timestamps.format_time(min(times)) if times else None,
            role=_find_worst(mine),
        )

    def _count_shapes(self) -> list[Shape]:
        total: Counter[str] = Counter()
        for summary in self.summaries:
            total.update(summary.shapes)
        return [Shape(count=count, text=text) for text, count in total.most_common(_SHAPES)]

    def _draw_timeline(self) -> list[Point]:
        """Records with a clock, thinned evenly when there are too many; the fault is always there."""
        dated = [(each.event.time, each) for each in self.settled if each.event.time is not None]
        step = (len(dated) + _POINTS - 1) // _POINTS
        points = [
            Point(us=at, lane=_name_lane(each.event), role=each.role, where=self.name_place(each.event))
            for number, (at, each) in enumerate(dated)
            if number % step == 0 or each.role in {"first-fault", "detail"}
        ]
        return sorted(points, key=lambda point: point.us)


_USUAL: Final = {"tiling": "561002", "kernel-missing": "561003", "aclnn-param": "161002"}


def _sort_key(event: Event) -> tuple[bool, int]:
    """Orders by time; what has no clock comes last."""
    return event.time is None, event.time or 0


def _name_lane(event: Event) -> str:
    host = f"{event.process[0]} " if event.process[0] else ""
    return f"{host}rank {event.rank}" if event.rank is not None else f"{host}{event.process[1]}"


def _find_worst(mine: Sequence[ClassifiedEvent]) -> Literal["first-fault", "secondary", "noise", "unknown"]:
    found = {each.role for each in mine}
    if found & {"first-fault", "detail"}:
        return "first-fault"
    if found & {"secondary", "pointer"}:
        return "secondary"
    return "noise" if "noise" in found else "unknown"


def _number_lines(sources: Sequence[Source], listed: Sequence[ClassifiedEvent]) -> dict[tuple[int, int], int]:
    """Line numbers by place. Small files were counted while they were read."""
    lines = {each.event.place: each.event.entry.line for each in listed}
    missing: dict[int, list[int]] = defaultdict(list)
    for source, offset in sorted(place for place, line in lines.items() if not line):
        missing[source].append(offset)
    for source, offsets in missing.items():
        lines.update({(source, offset): line for offset, line in scan.count_lines(sources[source].path, offsets)})
    return lines
