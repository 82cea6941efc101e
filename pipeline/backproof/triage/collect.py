"""Turn lines into a bounded summary of records, whatever the input: some are kept, all are counted."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from backproof.triage import correlate, line_header, serverlog, timestamps
from backproof.triage.repeats import RepeatedLine, make_shape, strip_time

if TYPE_CHECKING:
    from backproof.triage.correlate import ProcessLink
    from backproof.triage.line_header import Head
    from backproof.triage.rules import RuleBook
    from backproof.triage.serverlog import ServerMark
    from backproof.triage.timestamps import Stamp

MANY: Final = 500
LOADS: Final = 4000
_SHAPES: Final = 4000

UNKNOWN: Final = -1
CONTINUED: Final = -2
LEADING: Final = -3
_TRACEBACK: Final = "Traceback (most recent call last):"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRecord:
    """One record that matters.

    `rule` is an index, or UNKNOWN, or CONTINUED for a line that only continues a block, or LEADING for the start of a
    traceback whose exception has a rule of its own.
    `line` is 0 until somebody counts; `block` is the offset where an exception text starts; `stamp` is the record's own, or
    outside of such a text that of what stood before it.
    """

    source: int
    offset: int
    line: int
    rule: int
    head: Head
    stamp: Stamp | None
    block: int


@dataclass(slots=True)
class FileSummary:
    """The kept records of one range and counts of all. Bounded, whatever the input."""

    source: int
    entries: list[LogRecord] = field(default_factory=list)
    matched: Counter[int] = field(default_factory=Counter)
    roles: Counter[str] = field(default_factory=Counter)
    errors: Counter[int | None] = field(default_factory=Counter)
    shapes: Counter[str] = field(default_factory=Counter)
    links: list[ProcessLink] = field(default_factory=list)
    workers: dict[tuple[str, int], int] = field(default_factory=dict)
    ranks: set[int] = field(default_factory=set)
    """Ranks that prefixes of errors name."""
    loads: list[ServerMark] = field(default_factory=list)
    marks: list[ServerMark] = field(default_factory=list)
    anchors: list[int] = field(default_factory=list)
    first: Stamp | None = None
    last: Stamp | None = None


_NOBODY: Final = (None, None, "", "")


def _name_writer(head: Head) -> tuple[int | None, int | None, str, str]:
    return head.pid, head.rank, head.host, head.level


class LineReader:
    """Reads lines into a summary; remembers the exception text it is in and the last time stamp."""

    def __init__(self, source: int, book: RuleBook, keep: int) -> None:
        self.summary = FileSummary(source=source)
        self._book = book
        self._keep_up_to = keep
        self._block = -1
        self._bare = False
        self._rank: int | None = None
        self._stamp: Stamp | None = None
        self._tracebacks: dict[tuple[int | None, int | None, str, str], int] = {}
        self.repeated: dict[bytes, RepeatedLine] = {}
        self._late: dict[int, deque[tuple[int, int, bytes]]] = {}

    def read_line(self, raw: bytes, offset: int, line: int) -> None:
        """Read one physical line of any content."""
        key = strip_time(raw)
        repeated = self.repeated.get(key) if key else None
        if repeated is not None and repeated.enough:
            repeated.count_again(raw, offset, line)
            self._block = -1
            return
        heads = line_header.read_heads(raw)
        for head in heads:
            self._read_head(head, raw, offset, line)
        if key and len(heads) == 1 and heads[0].form == "plog" and heads[0].is_error:
            self._learn_line(key, heads[0], repeated)

    def _learn_line(self, key: bytes, head: Head, repeated: RepeatedLine | None) -> None:
        """Remember a line without its time: once enough of its rule are kept, more of the same are only counted."""
        if repeated is None and len(self.repeated) < _SHAPES:
            repeated = self.repeated[key] = RepeatedLine(
                rule=self._book.match_head(head), pid=head.pid, shape=make_shape(head.subject)
            )
        if repeated is not None:
            repeated.enough = self.summary.matched[repeated.rule] >= self._keep_up_to

    def finish_summary(self) -> FileSummary:
        """Return the summary, its records in the order of the file."""
        self._block = -1
        for repeated in self.repeated.values():
            if repeated.again:
                self._count_repeats(repeated)
        for rule, late in self._late.items():
            for offset, line, raw in late:
                again = [head for head in line_header.read_heads(raw) if self._book.match_head(head) == rule]
                self.summary.entries.extend(self._make_record(head, rule, offset, line) for head in again[:1])
        self.summary.entries.sort(key=lambda entry: entry.offset)
        return self.summary

    def _count_repeats(self, repeated: RepeatedLine) -> None:
        summary = self.summary
        summary.roles[self._get_role(repeated.rule)] += repeated.again
        summary.errors[repeated.pid] += repeated.again
        if repeated.shape in summary.shapes:
            summary.shapes[repeated.shape] += repeated.again
        self._keep_late(repeated.rule, repeated.raw, repeated.offset, repeated.line)

    def _keep_late(self, rule: int, raw: bytes, offset: int, line: int) -> None:
        """Keep the last lines of a rule: a fault may be the last of a thousand harmless lines that look like it."""
        late = self._late.get(rule)
        if late is None:
            late = self._late[rule] = deque(maxlen=self._keep_up_to)
        late.append((offset, line, raw))

    def read_introduction(self, raw: bytes) -> None:
        """Read from a line at the start of a large file who the process is and when it began, nothing else."""
        for head in line_header.read_heads(raw):
            self.summary.first = self.summary.first or head.stamp
            if (link := correlate.find_link(head)) is not None:
                self.summary.links.append(link)

    def read_last_line(self, raw: bytes) -> None:
        """Read the last line of a file of which not every line is read: its time says how long the process lived."""
        for head in line_header.read_heads(raw):
            self.summary.last = head.stamp or self.summary.last

    def _read_head(self, head: Head, raw: bytes, offset: int, line: int) -> None:
        summary = self.summary
        if head.stamp is not None:
            self._stamp = summary.last = head.stamp
            summary.first = summary.first or head.stamp
        continued = self._follow_block(head, offset)
        if head.rank is None and self._block >= 0:
            head = replace(head, rank=self._rank)
        self._count_head(head)
        if not (head.is_error and head.form == "plog"):
            self._read_context(head)
        rule, start = self._book.match_head(head), self._find_traceback(head)
        if start is not None:
            rule, continued = self._follow_traceback(head, rule, start), True
        elif rule == UNKNOWN and continued:
            rule = CONTINUED
        if rule >= 0 or continued or (head.is_error and head.form != "kernel"):
            self._keep_record(head, rule, raw, offset, line, start)
        if _TRACEBACK in head.subject and rule >= 0:
            self._begin_traceback(head, offset)

    def _count_head(self, head: Head) -> None:
        summary = self.summary
        if head.rank is not None and len(summary.workers) < MANY:
            if head.pid is not None:
                summary.workers[head.host, head.pid] = head.rank
            if head.is_error:
                summary.ranks.add(head.rank)
        if head.is_error:
            summary.errors[head.pid] += 1
            self._count_shape(head.subject)

    def _count_shape(self, subject: str) -> None:
        shape = make_shape(subject)
        if shape in self.summary.shapes or len(self.summary.shapes) < _SHAPES:
            self.summary.shapes[shape] += 1

    def _read_context(self, head: Head) -> None:
        """Read the lines that say who a process is, how the server fared, when the kernel booted."""
        summary = self.summary
        if head.form == "text":
            self._read_server(head)
        elif head.form == "kernel":
            if head.stamp and (anchor := timestamps.find_boot_anchor(head.stamp, head.subject)) is not None:
                summary.anchors.append(anchor)
        elif len(summary.links) < MANY and (link := correlate.find_link(head)) is not None:
            summary.links.append(link)

    def _read_server(self, head: Head) -> None:
        mark = serverlog.read_mark(head, self._stamp)
        if mark is None:
            return
        if mark.name == "load":
            self.summary.loads.append(mark)
            if len(self.summary.loads) > LOADS:  # a day of statistics: every second one will do
                del self.summary.loads[1::2]
        elif len(self.summary.marks) < MANY:
            self.summary.marks.append(mark)

    def _follow_block(self, head: Head, offset: int) -> bool:
        """Keep track of the exception text; return True for a line that only continues it."""
        if head.form != "text":
            self._block = -1
            return False
        if head.alarm:
            if not (self._bare and self._block >= 0):
                self._block, self._rank = offset, head.rank
            self._bare = head.subject.rstrip().endswith("Inner Error!")
            return False
        self._bare = False
        if self._block < 0 or not head.subject.strip():
            return False
        if head.subject[0].isspace() or head.subject.startswith(("TraceBack (most", "Possible Cause:", "Solution:")):
            return True
        self._block = -1
        return False

    def _begin_traceback(self, head: Head, offset: int) -> None:
        """Remember who prints a traceback; SGLang puts its prefix before the first line only."""
        if len(self._tracebacks) < MANY:
            self._tracebacks[_name_writer(head)] = self._tracebacks[_NOBODY] = offset

    def _find_traceback(self, head: Head) -> int | None:
        """Return where the traceback starts that this line continues."""
        if head.form != "text" or not head.subject.strip() or _TRACEBACK in head.subject:
            return None
        return self._tracebacks.get(_name_writer(head))

    def _follow_traceback(self, head: Head, rule: int, start: int) -> int:
        """Return the rule of a frame, or of the exception that ends the traceback.

        An exception that a rule knows better than the traceback itself decides: the start only leads to it.
        """
        if head.subject[0].isspace():
            return CONTINUED
        self._tracebacks = {writer: at for writer, at in self._tracebacks.items() if at != start}
        if rule < 0 or self._book.rules[rule].kind == "host":
            return CONTINUED
        for number, entry in enumerate(self.summary.entries):
            if entry.offset == start and entry.rule >= 0:
                self.summary.entries[number] = replace(entry, rule=LEADING)
        return rule

    def _get_role(self, rule: int) -> str:
        return self._book.rules[rule].role if rule >= 0 else ("continued" if rule == CONTINUED else "unknown")

    def _keep_record(  # noqa: PLR0917
        self, head: Head, rule: int, raw: bytes, offset: int, line: int, start: int | None
    ) -> None:
        role, summary = self._get_role(rule), self.summary
        summary.roles[role] += 1
        if role == "context":
            return
        summary.matched[rule] += 1
        if summary.matched[rule] <= self._keep_up_to:
            record = self._make_record(head, rule, offset, line)
            if start is not None or _TRACEBACK in head.subject:
                record = replace(record, block=offset if start is None else start)
            summary.entries.append(record)
        elif head.form == "plog":
            self._keep_late(rule, raw, offset, line)

    def _make_record(self, head: Head, rule: int, offset: int, line: int) -> LogRecord:
        return LogRecord(
            source=self.summary.source,
            offset=offset,
            line=line,
            rule=rule,
            head=head,
            stamp=(head.stamp or self._stamp) if self._block < 0 else head.stamp if head.alarm else None,
            block=self._block,
        )
