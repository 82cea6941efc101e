"""Find errors that no rule knows, in logs without a known one: only after this search can logs be called healthy.

It runs only then, so the fast path of a log with a known failure does not pay for it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from backproof.records.triage import LoggedError
from backproof.triage import correlate, line_header, timestamps
from backproof.triage.rules import compile_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backproof.triage.inputs import LogFiles, Source
    from backproof.triage.rules import RuleBook
    from backproof.triage.timestamps import Clock

_BLOCK: Final = 4 << 20
_LINE: Final = 4096
_TEXT: Final = 400
_MOST: Final = 20_000
"""Lines that are looked at; a log with more harmless ones than that is not called healthy."""

_LEVELS: Final = (
    rb"\b(?:ERROR|FATAL|CRITICAL|SEVERE|EMERG|ALERT|PANIC)\b"
    rb"|[\[<=\" ](?:error|fatal|critical|panic|emerg)[\]>\",: ]|\b[EF]\d{4}(?:\d{4})? \d\d:\d\d:\d\d"
)
_CRASHES: Final = (
    rb"segfault at|Traceback \(most recent call last\)|^[\w.]*(?:Error|Exception|Interrupt)(?::|$)|[Ss]egmentation fault|core dumped"
    rb"|\bSIG(?:SEGV|ABRT|KILL|BUS|FPE|ILL|TERM)\b|[Oo]ut of memory|[Oo]om-kill|OOMKilled|Killed process"
    rb"|terminate called|Fatal Python error|Kernel panic|general protection fault|double free|stack smashing"
    rb"|panic: |Aborted|exit(?:ed)?(?: with)?(?: code| status)?[ :=]+-?(?:6|9|11|13[0-9]|1[45][0-9])\b|[Bb]us error"
)
_ANY_LEVEL: Final = re.compile(
    r"\b(?:TRACE|DEBUG|INFO|NOTICE|EVENT|WARN|WARNING|ERROR|FATAL|CRITICAL|SEVERE|EMERG|ALERT|PANIC)\b"
    r"|[\[<=\" ](?:trace|debug|info|notice|warn|warning|error|fatal|critical|panic|emerg)[\]>\",: ]"
    r"|^(?:\[[^\]]*\] |\([^)]*\) )*[IWEFD]\d{4}(?:\d{4})? \d\d:"
)
_GRAVE: Final = ("error", "fatal", "critical", "severe", "emerg", "alert", "panic")


def find_error(files: LogFiles, book: RuleBook, clock: Clock) -> LoggedError | None:
    """Return the first line, in the order of the files, that reports an error and is not known as harmless.

    A file that cannot be read any more is added to what was not read.
    """
    looked = 0
    for source in files.sources:
        try:
            for number, raw in _suspicious_lines(source):
                looked += 1
                if looked > _MOST or _is_error(raw, book):
                    return _make_logged_error(source, number, raw, clock)
        except OSError as error:
            files.unread.append(f"could not read {source.label}: {error.strerror or error}")
    return None


def _suspicious_lines(source: Source) -> Iterator[tuple[int, bytes]]:
    """Return the lines with a level or a crash in them, with their numbers from 1."""
    search = compile_pattern(b"(?m)" + _LEVELS + b"|" + _CRASHES).search
    number, rest = 0, b""
    with source.path.open("rb") as stream:
        while data := stream.read(_BLOCK):
            *lines, rest = (rest + data).split(b"\n")
            if len(rest) > _BLOCK:  # a line without an end is looked at in pieces
                lines, rest = [*lines, rest], b""
            hits = search(b"\n".join(lines))
            for offset, line in enumerate(lines, number + 1) if hits else ():
                if search(line):
                    yield offset, line[:_LINE]
            number += len(lines)
    if rest and search(rest):
        yield number + 1, rest[:_LINE]


def _is_error(raw: bytes, book: RuleBook) -> bool:
    line = raw.decode("utf-8", "replace")
    if compile_pattern(_CRASHES).search(raw):  # also where a rule that takes all other lines of a kernel calls it noise
        return not _is_below_error(line)
    heads = line_header.read_heads(raw)
    roles = [book.rules[index].role for head in heads if (index := book.match_head(head)) >= 0]
    if "noise" in roles:
        return False
    level = _ANY_LEVEL.search(line)
    return level is not None and _is_grave(level[0])


def _is_below_error(line: str) -> bool:
    """Tell a crash that is only mentioned at a lower level: a launcher that lists the signals it handles."""
    level = _ANY_LEVEL.search(line)
    return level is not None and not _is_grave(level[0])


def _is_grave(level: str) -> bool:
    return level.strip('[]<>=",: ').lower() in _GRAVE or (level.lstrip("[( ")[:1] in {"E", "F"} and level[-1] == ":")


def _make_logged_error(source: Source, number: int, raw: bytes, clock: Clock) -> LoggedError:
    head = line_header.read_heads(raw)[0]
    stamp = clock.settle_stamp(head.stamp, correlate.read_label(source.label).host)
    return LoggedError(
        file=source.label,
        line=number,
        text=raw.decode("utf-8", "replace").strip()[:_TEXT],
        time=timestamps.format_time(stamp.us) if stamp else None,
    )
