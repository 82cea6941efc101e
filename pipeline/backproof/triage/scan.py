"""Read one file, or a range of a large one.

Small files are read line by line. Of large ones only the lines that a needle finds are looked at, with the lines that
continue them: searching bytes is some thirty times as fast as looking at lines.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import stringzilla

from backproof.triage import correlate, rules, serverlog
from backproof.triage.collect import FileSummary, LineReader
from backproof.triage.rules import compile_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from backproof.triage.inputs import Source

SMALL: Final = 8 << 20
"""Files up to this many bytes are read line by line."""
RANGE: Final = 64 << 20
"""Bytes of a large file that one task reads."""
_KEEP_SMALL: Final = 5000  # records of one rule that are kept at each end of a file read line by line
_KEEP: Final = 50  # the same of a range of a large file
_KEEP_ALL: Final = 640  # and of all those ranges together, so that memory and the answer's time stay flat
_KEEP_LEAST: Final = 8
_WINDOW: Final = 256 << 10  # what the processor's cache holds: searching is then as fast as reading
_BLOCK: Final = 1 << 20
_AHEAD: Final = 64 << 10  # a record and what continues it must fit
_LINE: Final = 4096  # bytes of a line that are looked at; records are cut at 1024
_BACK: Final = 4096
_CONTINUED: Final = 40
_EDGE: Final = 2 << 20  # where a process introduces itself
_SNIFF: Final = 16 << 10
_COMMUNICATORS: Final = 64
_PLOG_HEAD: Final = re.compile(rb"\[[A-Z0-9]+\] [A-Z0-9_]+\(-?\d+,")

_ERROR: Final = b"[ERROR]"
_MIXED: Final = (
    rb"\[ERROR\]|\[Error\]|\b[EW][0-9A-Z]\d{4}(?:: |\[PID)|\bERROR\b|error code|Error: |_down|File \"|out of memory"
    rb"|Heartbeat|heartbeat|excep_code|event_id|exception_print|"
    + serverlog.NEEDLE
    + rb"|"
    + b"|".join(re.escape(needle) for needle in correlate.LINK_NEEDLES)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRange:
    """Bytes `start` to `stop` of a source of `size` bytes. Lines that start in it belong to it.

    Of each rule the first `keep` records are kept, and the last `keep`. The first file of a process `introduces` it.
    """

    source: int
    path: Path
    start: int
    stop: int
    size: int
    keep: int
    introduces: bool


def split_ranges(sources: Sequence[Source]) -> list[FileRange]:
    """Split the input: one range for a small file, pieces for a large one. The more there are, the less is kept of each."""
    spans = [
        (number, source, at) for number, source in enumerate(sources) for at in range(0, source.size, _get_step(source))
    ]
    large = sum(source.size > SMALL for _, source, _ in spans)
    first = {_name_writer(source): number for number, source in reversed(list(enumerate(sources)))}.values()
    share = max(_KEEP_LEAST, min(_KEEP, _KEEP_ALL // max(large, 1)))
    return [
        FileRange(
            source=number,
            path=source.path,
            start=at,
            stop=min(at + _get_step(source), source.size),
            size=source.size,
            keep=_KEEP_SMALL if source.size <= SMALL else share,
            introduces=number in first,
        )
        for number, source, at in spans
    ]


def _name_writer(source: Source) -> tuple[str, int | str]:
    facts = correlate.read_label(source.label)
    return facts.host, source.label if facts.pid is None else facts.pid


def _get_step(source: Source) -> int:
    return RANGE if source.size > SMALL else max(source.size, 1)


def scan_range(part: FileRange) -> FileSummary:
    """Return the records of a range. A file that vanishes meanwhile raises OSError."""
    reader = LineReader(part.source, rules.load_shipped_rules(), part.keep)
    handle = os.open(part.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if part.size <= SMALL:
            _read_all_lines(reader, handle, part)
        else:
            _read_matching_lines(reader, handle, part)
    finally:
        os.close(handle)
    return reader.finish_summary()


def _read_all_lines(reader: LineReader, handle: int, part: FileRange) -> None:
    """Read every line up to the size the file had; a long line is looked at from its start only."""
    with os.fdopen(os.dup(handle), "rb") as stream:
        offset, number = 0, 0
        while offset < part.stop and (raw := stream.readline(min(_BLOCK, part.stop - offset))):
            number += 1
            reader.read_line(raw[:_LINE], offset, number)
            offset += len(raw)
            while (
                not raw.endswith(b"\n")
                and offset < part.stop
                and (raw := stream.readline(min(_BLOCK, part.stop - offset)))
            ):
                offset += len(raw)


def _read_matching_lines(reader: LineReader, handle: int, part: FileRange) -> None:
    """Read the lines with a needle, and the lines that continue them."""
    look = _look_for_errors if _is_plog(os.pread(handle, _SNIFF, 0)) else _look_for_words
    _read_edges(reader, handle, part)
    done = part.start
    for at in range(part.start, part.stop, _WINDOW):
        end = min(at + _WINDOW, part.stop)
        data = os.pread(handle, min(end + _LINE, part.size) - at, at)
        done = at + look(reader, handle, part, at, data, max(0, done - at))


def _look_for_errors(reader: LineReader, handle: int, part: FileRange, at: int, data: bytes, done: int) -> int:  # noqa: PLR0917
    """Read the errors of a plog window; return how far the lines are done. Written flat: it runs once per error of the input."""
    limit, repeated_of = min(part.stop - at, _WINDOW), reader.repeated.get
    at_error = stringzilla.find(data, _ERROR, done)
    while 0 <= at_error < limit:
        start = data.rfind(b"\n", 0, at_error) + 1
        stop = data.find(b"\n", at_error)
        if start and data.startswith(b"[", stop + 1) and 0 < stop - start < _LINE:  # most lines: nothing continues it
            raw = data[start:stop]
            cut = raw.find(b"):2", 0, 64)  # as without_time does it
            repeated = repeated_of(raw[:cut] + raw[cut + 29 :])
            if repeated is not None and repeated.enough and cut > 0:
                repeated.count_again(raw, at + start, 0)
            else:
                reader.read_line(raw, at + start, 0)
            done = stop + 1
        else:
            after = _read_record(reader, handle, at + start if start else _find_line_start(handle, at), part) - at
            done = max(after, at_error + 1)
        at_error = stringzilla.find(data, _ERROR, done)
    return done


def _look_for_words(reader: LineReader, handle: int, part: FileRange, at: int, data: bytes, done: int) -> int:  # noqa: PLR0917
    """Read anything that may matter in the window of a file with many writers; return how far the lines are done."""
    search = compile_pattern(_MIXED).search
    hit = search(data, done) if done < len(data) else None
    while hit is not None and hit.start() < min(part.stop - at, _WINDOW):
        start = data.rfind(b"\n", 0, hit.start()) + 1
        after = _read_record(reader, handle, at + start if start else _find_line_start(handle, at), part) - at
        done = max(after, hit.start() + 1)
        hit = search(data, done) if done < len(data) else None
    return done


def _read_record(reader: LineReader, handle: int, start: int, part: FileRange) -> int:
    """Read the line at `start` and those that continue it; return where the next line starts.

    A line that starts before the range is the work of the range before.
    """
    if start < part.start:
        return part.start
    data = os.pread(handle, min(_AHEAD, part.size - start), start)
    at = 0
    for number in range(_CONTINUED):
        stop = data.find(b"\n", at)
        line = data[at : stop if stop >= 0 else len(data)]
        if number and (not line or line[:1] == b"["):
            break
        reader.read_line(line[:_LINE], start + at, 0)
        at += len(line) + 1
        if stop < 0:
            break
    return start + at


def _find_line_start(handle: int, at: int) -> int:
    """Return the offset at which the line that holds `at` starts, or as far back as a line is looked at."""
    back = max(0, at - _BACK)
    return back + os.pread(handle, at - back, back).rfind(b"\n") + 1


def _read_edges(reader: LineReader, handle: int, part: FileRange) -> None:
    """Read the lines at the start where a process introduces itself, and the first and last stamp of the file."""
    if part.start == 0:
        head = os.pread(handle, min(_EDGE if part.introduces else _LINE, part.stop), 0)
        for start in [0, *_find_introductions(head)]:
            reader.read_introduction(head[start : start + _LINE].split(b"\n", 1)[0])
    if part.stop == part.size:
        tail = os.pread(handle, _LINE, max(0, part.size - _LINE)).rstrip(b"\n").rsplit(b"\n", 1)[-1]
        reader.read_last_line(tail)


def _find_introductions(head: bytes) -> Iterator[int]:
    """Return the offsets of lines that say which rank and device a process has."""
    for needle in correlate.LINK_NEEDLES:
        hit, count = stringzilla.find(head, needle), 0
        while hit >= 0 and count < _COMMUNICATORS:
            yield head.rfind(b"\n", 0, hit) + 1
            hit, count = stringzilla.find(head, needle, hit + len(needle)), count + 1


def _is_plog(start: bytes) -> bool:
    """Tell a file that is nothing but plog: nine lines of ten start with a head."""
    lines = start.split(b"\n")[:-1]
    return bool(lines) and sum(_PLOG_HEAD.match(line) is not None for line in lines) * 10 >= len(lines) * 9


def count_lines(path: Path, offsets: list[int]) -> Iterator[tuple[int, int]]:
    """Return (offset, line number from 1) for ascending offsets where lines start."""
    with path.open("rb", buffering=0) as stream:
        at, number = 0, 1
        for offset in offsets:
            while at < offset and (data := stream.read(min(_BLOCK, offset - at))):
                at += len(data)
                number += stringzilla.count(data, b"\n")
            yield offset, number
