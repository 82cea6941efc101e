"""Put the result together: the fault with its facts, the reasons in words, the lists and tables."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from backproof.core.plural import format_count
from backproof.records.triage import FirstFault, TriageResult
from backproof.triage import clues, codes, correlate, result_tables, roles, timestamps
from backproof.triage.conclude import COLLECT, draw_conclusion
from backproof.triage.events import get_time_key
from backproof.triage.line_index import LineIndex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.records.codes import Code
    from backproof.records.triage import Server
    from backproof.triage.choose_fault import Choice, Confidence
    from backproof.triage.collect import FileSummary
    from backproof.triage.events import World
    from backproof.triage.inputs import LogFiles, Source
    from backproof.triage.rules import RuleBook

_TEXT: Final = 400
_WRAPPERS: Final = {"361001", "500000"}
"""Codes that only say that a call below failed."""


class ResultBuilder:
    """A result in the making: the records, their lines and the first fault."""

    def __init__(
        self, sources: Sequence[Source], summaries: Sequence[FileSummary], world: World, choice: Choice, book: RuleBook
    ) -> None:
        self.sources, self.summaries, self.world, self.choice, self.book = sources, summaries, world, choice, book
        self.records = roles.classify_events(world, choice, book)
        self.index = LineIndex(sources, self.records)
        self.fault = choice.fault
        self.parts = [record.event for record in self.records if record.role in {"first-fault", "detail"}]
        self.secondary = [record.event for record in self.records if record.role == "secondary"]
        self.unknown = [record.event for record in self.records if record.role == "unknown"]

    def build_result(self, server: Server | None, files: LogFiles) -> TriageResult:
        ending = draw_conclusion(files, self.world, self.choice, self.book, self.index.locate_event)
        lists = self.index.list_lines()
        kind = roles.refine_kind(self.fault, self.records, self.book) if self.fault else ""
        return TriageResult(
            outcome=ending.outcome,
            first_fault=self._make_first_fault(kind),
            verdict=ending.sentence or self._phrase_verdict(kind),
            confidence=self._rate_confidence(),
            why=self._give_reasons(),
            advice=ending.advice or (self._choose_advice(kind) if self.fault else ""),
            code=self._find_user_code(),
            chain=tuple(codes.build_chain(self._find_codes())),
            codes=tuple(dict.fromkeys(self._find_codes())),
            device=self._find_device(),
            rank=self.fault.rank if self.fault else None,
            kernel=self._find_kernel(),
            peer=self._find_peer(),
            detail_lines=lists["detail"],
            pointer_lines=lists["pointer"],
            secondary_lines=lists["secondary"],
            noise_lines=lists["noise"],
            unknown_lines=lists["unknown"],
            lists_complete=len(self.index.listed) == len(self.records) == self._count_records(),
            pointers=tuple(result_tables.decode_pointers(self.index, self.parts, self.book)),
            counts=dict(sum((summary.roles for summary in self.summaries), Counter())),
            ranks=tuple(result_tables.count_ranks(self.sources, self.summaries, self.world, self.records)),
            distribution=tuple(result_tables.count_shapes(self.summaries)),
            timeline=tuple(result_tables.make_timeline(self.index, self.records)),
            server=server,
            notes=(*files.unread, *files.notes, *self.world.notes),
            unread=tuple(files.unread),
            earliest_error=ending.error,
            clues=clues.collect_clues(
                (*self.parts, *self.unknown, *self.secondary), self.world.marks, self.book, kind or None
            ),
            files=len(self.sources),
            bytes=self.index.size,
        )

    def _count_records(self) -> int:
        return sum(summary.roles.total() - summary.roles["context"] for summary in self.summaries)

    def _make_first_fault(self, kind: str) -> FirstFault | None:
        fault = self.fault
        if fault is None:
            return None
        file, line = self.index.locate_event(fault)
        return FirstFault(
            file=file,
            line=line,
            kind=kind,
            rule=fault.rule.id if fault.rule else "",
            text=fault.subject[:_TEXT],
            time=None if fault.time is None else timestamps.format_time(fault.time),
            began=timestamps.format_time(fault.began) if fault.due and fault.began is not None else None,
        )

    def _rate_confidence(self) -> Confidence:
        """Rate high when a dated report of a fault has details that agree with it."""
        fault = self.fault
        agreed = fault is not None and fault.role == "first-fault" and fault.time is not None and len(self.parts) > 1
        return "high" if agreed else self.choice.confidence

    def _give_reasons(self) -> tuple[str, ...]:
        reasons = list(self.choice.why)
        if self.fault is not None:
            if details := len(self.parts) - 1:
                verb = "describes" if details == 1 else "describe"
                reasons.append(f"{format_count(details, 'more record')} of the same process {verb} it")
            reasons += self._measure_gap(self.fault.time)
        ruled_out = Counter(self.choice.survived.values())
        reasons += [f"{format_count(count, 'record')} set aside: {why}" for why, count in ruled_out.most_common(5)]
        return tuple(reasons)

    def _measure_gap(self, at: int | None) -> list[str]:
        times = [event.time for event in self.secondary if event.time is not None]
        if at is None or not times:
            return []
        gap = (min(times) - at) / timestamps.SECOND
        if gap >= 0:
            return [f"the first secondary error comes {gap:.6f} s after it"]
        return [f"a secondary error is dated {-gap:.6f} s before it"]

    def _choose_advice(self, kind: str) -> str:
        if self.fault is not None and self.fault.rule is not None and self.fault.rule.advice:
            return self.fault.rule.advice
        known_kind = self.book.get_kind(kind)
        return known_kind.advice if known_kind else COLLECT

    def _phrase_verdict(self, kind: str) -> str:
        fault, known_kind = self.fault, self.book.get_kind(kind)
        if fault is None or known_kind is None:
            return next(iter(self.choice.why), "")
        facts = (("host", fault.process[0] or None), ("rank", fault.rank), ("device", self._find_device()))
        subject = " / ".join(f"{name} {number}" for name, number in facts if number is not None) or fault.process[1]
        kernel = f" in {self._find_kernel()}" if self._find_kernel() else ""
        rest = f"; {format_count(len(self.secondary), 'secondary error')}" if self.secondary else ""
        raised = (
            f": {self.parts[-1].subject.strip()[:_TEXT]}" if "Traceback" in fault.subject and self.parts[1:] else ""
        )
        rule = fault.rule
        # A rule with an advice of its own says more than its kind does.
        meaning = rule.meaning if rule and rule.advice and rule.kind == kind else known_kind.meaning
        return f"{subject}: {meaning}{raised}{kernel}{rest}"

    def _find_codes(self) -> list[Code]:
        return [code for event in self.parts for code in codes.find_codes(event.subject)]

    def _find_user_code(self) -> str | None:
        """Return the code that the user met: said by the fault's own process first, then by others, then what is only meant."""
        secondary = sorted(self.secondary, key=get_time_key)
        own = [event for event in secondary if self.fault and event.process == self.fault.process]
        groups = [self.parts, own] if self.fault in self.secondary else [own, self.parts]
        said = [[code for event in group for code in codes.find_codes(event.subject)] for group in (*groups, secondary)]
        implied = codes.build_chain(code for group in said for code in group)
        known = (_pick_code(group) for group in (*said, implied))
        usual = (event.rule.code for event in (*self.parts, *secondary) if event.rule and event.rule.code)
        return next((code for code in (*known, *usual) if code), None)

    def _find_device(self) -> int | None:
        """Return the device that the fault names, else that of its process, else of its file, else chip and die."""
        if self.fault is None:
            return None
        devices = [event.device for event in self.parts] + [self.world.devices.get(self.fault.process)]
        if self.fault.entry.head.pid is None:
            source = self.fault.entry.source
            devices += [record.event.device for record in self.records if record.event.entry.source == source]
        devices += [correlate.find_chip(event.subject) for event in self.parts]
        return next((device for device in devices if device is not None), None)

    def _find_peer(self) -> str | None:
        """Return the rank that the fault names, or that most of the errors wait for."""
        own = [correlate.find_peer(event.subject) for event in self.parts]
        others = Counter(correlate.find_peer(event.subject) for event in (*self.secondary, *self.unknown))
        rank = self.fault.rank if self.fault else None
        peers = [peer for peer in (*own, *(peer for peer, _ in others.most_common())) if peer not in {None, rank}]
        return f"rank {peers[0]}" if peers else None

    def _find_kernel(self) -> str | None:
        return next((name for event in self.parts if (name := correlate.find_kernel(event.subject))), None)


def _pick_code(seen: Sequence[Code]) -> str | None:
    """Pick what a user would search for: a code of an API before an alarm, none that only says that something failed."""
    for table in codes.USER_TABLES:
        for code in seen:
            if code.table == table and not code.code.endswith("9999") and code.code not in _WRAPPERS:
                return code.code
    return None
