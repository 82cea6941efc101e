"""Turns lines into a bounded tally of records, whatever the input: some are kept, all are counted."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from backproof.triage import correlate, line_header, serverlog, timestamps

if TYPE_CHECKING:
    from backproof.triage.correlate import Link
    from backproof.triage.line_header import Head
    from backproof.triage.rules import RuleBook
    from backproof.triage.serverlog import Load, Mark
    from backproof.triage.timestamps import Stamp

MANY: Final = 500
LOADS: Final = 4000
_SHAPES: Final = 4000
_DIGITS: Final = str.maketrans("0123456789", "##########")

UNKNOWN: Final = -1
CONTINUED: Final = -2


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One record that matters. `rule` is an index, or UNKNOWN, or CONTINUED for a line that only continues a block.

    `line` is 0 until somebody counts; `block` is the offset where an exception text starts; `dated` says that `stamp`
    is the record's own, not that of what stood before it.
    """

    source: int
    offset: int
    line: int
    rule: int
    form: str
    pid: int | None
    rank: int | None
    device: int | None
    stamp: Stamp | None
    dated: bool
    block: int
    prefixed: bool
    subject: str


@dataclass(slots=True)
class Tally:
    """What one range gave: kept records and counts of all. Bounded, whatever the input."""

    source: int
    entries: list[Entry] = field(default_factory=list)
    kept: Counter[int] = field(default_factory=Counter)
    roles: Counter[str] = field(default_factory=Counter)
    errors: Counter[int | None] = field(default_factory=Counter)
    shapes: Counter[str] = field(default_factory=Counter)
    links: list[Link] = field(default_factory=list)
    workers: dict[int, int] = field(default_factory=dict)
    loads: list[Load] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    anchors: list[int] = field(default_factory=list)
    first: Stamp | None = None
    last: Stamp | None = None


@dataclass(slots=True, kw_only=True)
class Known:
    """A line without its time: what it is, and how often it came again after enough of its rule were kept."""

    rule: int
    pid: int | None
    shape: str
    enough: bool = False
    again: int = 0
    raw: bytes = b""
    offset: int = 0
    line: int = 0

    def count(self, raw: bytes, offset: int, line: int) -> None:
        """Once more; the last one is kept as it was."""
        self.again += 1
        self.raw, self.offset, self.line = raw, offset, line


def without_time(raw: bytes) -> bytes:
    """A plog record without its stamp of 27 characters and a blank; empty for anything else."""
    at = raw.find(b"):2", 0, 64)
    return raw[:at] + raw[at + 29 :] if at > 0 else b""


def _shape(subject: str) -> str:
    """A record without its numbers."""
    return subject[:160].translate(_DIGITS)


class Reader:
    """Turns lines into the records of a tally; remembers the exception text it is in and the last time it saw."""

    def __init__(self, source: int, book: RuleBook, keep: int) -> None:
        self.tally = Tally(source=source)
        self._book = book
        self._keep_up_to = keep
        self._block = -1
        self._bare = False
        self._stamp: Stamp | None = None
        self.known: dict[bytes, Known] = {}
        self._late: dict[int, deque[tuple[int, int, bytes]]] = {}

    def feed(self, raw: bytes, offset: int, line: int) -> None:
        """One physical line, without a bound on what it may hold."""
        key = without_time(raw)
        known = self.known.get(key) if key else None
        if known is not None and known.enough:
            known.count(raw, offset, line)
            self._block = -1
            return
        found = line_header.read(raw)
        for head in found:
            self._record(head, raw, offset, line)
        if key and len(found) == 1 and found[0].form == "plog" and found[0].is_error:
            self._learn(key, found[0], known)

    def _learn(self, key: bytes, head: Head, known: Known | None) -> None:
        """Remembers a line without its time: once enough of its rule are kept, more of the same are only counted."""
        if known is None and len(self.known) < _SHAPES:
            known = self.known[key] = Known(rule=self._book.match(head), pid=head.pid, shape=_shape(head.subject))
        if known is not None:
            known.enough = self.tally.kept[known.rule] >= self._keep_up_to

    def finish(self) -> Tally:
        """The tally, its records in the order of the file."""
        self._block = -1
        for known in self.known.values():
            if known.again:
                self._count(known)
        for rule, late in self._late.items():
            for offset, line, raw in late:
                again = [head for head in line_header.read(raw) if self._book.match(head) == rule]
                self.tally.entries.extend(self._entry(head, rule, offset, line) for head in again[:1])
        self.tally.entries.sort(key=lambda entry: entry.offset)
        return self.tally

    def _count(self, known: Known) -> None:
        tally = self.tally
        tally.roles[self._role(known.rule)] += known.again
        tally.errors[known.pid] += known.again
        if known.shape in tally.shapes:
            tally.shapes[known.shape] += known.again
        self._defer(known.rule, known.raw, known.offset, known.line)

    def _defer(self, rule: int, raw: bytes, offset: int, line: int) -> None:
        """Keeps the last lines of a rule: a fault may be the last of a thousand harmless lines that look like it."""
        late = self._late.get(rule)
        if late is None:
            late = self._late[rule] = deque(maxlen=self._keep_up_to)
        late.append((offset, line, raw))

    def introduce(self, raw: bytes) -> None:
        """A line at the start of a large file: who the process is and when it began, nothing else."""
        for head in line_header.read(raw):
            self.tally.first = self.tally.first or head.stamp
            if (found := correlate.link(head)) is not None:
                self.tally.links.append(found)

    def close(self, raw: bytes) -> None:
        """The last line of a file of which not every line is read: its time says how long the process lived."""
        for head in line_header.read(raw):
            self.tally.last = head.stamp or self.tally.last

    def _record(self, head: Head, raw: bytes, offset: int, line: int) -> None:
        tally = self.tally
        if head.stamp is not None:
            self._stamp = tally.last = head.stamp
            tally.first = tally.first or head.stamp
        if head.rank is not None and head.pid is not None and len(tally.workers) < MANY:
            tally.workers[head.pid] = head.rank
        rule = self._book.match(head)
        if head.is_error:
            tally.errors[head.pid] += 1
            self._shape(head.subject)
        if not (head.is_error and head.form == "plog"):
            self._context(head, offset)
        continued = self._follow(head, offset)
        if rule == UNKNOWN and continued:
            rule = CONTINUED
        if rule >= 0 or continued or (head.is_error and head.form != "kernel"):
            self._keep(head, rule, raw, offset, line)

    def _shape(self, subject: str) -> None:
        shape = _shape(subject)
        if shape in self.tally.shapes or len(self.tally.shapes) < _SHAPES:
            self.tally.shapes[shape] += 1

    def _context(self, head: Head, offset: int) -> None:
        """Lines that say who a process is, how the server fared, when the kernel booted."""
        tally = self.tally
        if head.form == "text":
            self._server(head, offset)
        elif head.form == "kernel":
            anchor = (
                timestamps.boot_anchor(head.stamp, head.subject) if head.stamp and head.stamp.scale == "boot" else None
            )
            if anchor is not None:
                tally.anchors.append(anchor)
        elif len(tally.links) < MANY and (found := correlate.link(head)) is not None:
            tally.links.append(found)

    def _server(self, head: Head, offset: int) -> None:
        tally = self.tally
        if (load := serverlog.load(head, self._stamp)) is not None:
            tally.loads.append(load)
            if len(tally.loads) > LOADS:  # a day of statistics: every second one will do
                del tally.loads[1::2]
        elif (mark := serverlog.mark(head, self._stamp, offset)) is not None and len(tally.marks) < MANY:
            tally.marks.append(mark)

    def _follow(self, head: Head, offset: int) -> bool:
        """Keeps track of the exception text; says whether this line only continues it."""
        if head.form != "text":
            self._block = -1
            return False
        if head.alarm:
            if not (self._bare and self._block >= 0):
                self._block = offset
            self._bare = "Inner Error!" in head.subject and head.stamp is None
            return False
        self._bare = False
        if self._block < 0 or not head.subject.strip():
            return False
        if head.subject[0].isspace() or head.subject.startswith(("TraceBack (most", "Possible Cause:", "Solution:")):
            return True
        self._block = -1
        return False

    def _role(self, rule: int) -> str:
        return self._book.rules[rule].role if rule >= 0 else ("continued" if rule == CONTINUED else "unknown")

    def _keep(self, head: Head, rule: int, raw: bytes, offset: int, line: int) -> None:
        role, tally = self._role(rule), self.tally
        tally.roles[role] += 1
        if role == "context":
            return
        tally.kept[rule] += 1
        if tally.kept[rule] <= self._keep_up_to:
            tally.entries.append(self._entry(head, rule, offset, line))
        elif head.form == "plog":
            self._defer(rule, raw, offset, line)

    def _entry(self, head: Head, rule: int, offset: int, line: int) -> Entry:
        own = head.stamp is not None and (self._block < 0 or bool(head.alarm))
        return Entry(
            source=self.tally.source,
            offset=offset,
            line=line,
            rule=rule,
            form=head.form,
            pid=head.pid,
            rank=head.rank,
            device=head.device,
            stamp=head.stamp or self._stamp,
            dated=own or (self._block < 0 and self._stamp is not None),
            block=self._block,
            prefixed=head.prefixed,
            subject=head.subject[:1200],
        )
