"""Read one physical line: strip the prefixes, then read every head on it. The grammar is docs/triage.md, "What it reads".

A head may stand in the middle of a line (two writers, one pipe), behind container or ray prefixes, in colour, and cut
at 1024 bytes (CANN runtime, dlog `MSG_LENGTH 1024`). Nothing here can fail: what has no head is text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal

from backproof.core.plain_text import strip_ansi
from backproof.triage import timestamps

if TYPE_CHECKING:
    from backproof.triage.timestamps import Stamp

Form = Literal["plog", "text", "kernel"]
LIMIT = 2048
"""Characters of a line that are looked at: twice the longest record."""

_DAY = r"\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d"
# CANN runtime dlog_message.c: "[%s] %s(%d,%s):%s "; unknown levels and modules print as numbers.
_PLOG = re.compile(
    r"\[(?P<level>DEBUG|INFO|WARNING|ERROR|EVENT|TRACE|NULL|\d{1,2})\] (?P<module>[A-Z0-9_]{1,16})"
    rf"\((?P<pid>-?\d{{1,10}}),(?P<name>[^()]{{0,32}})\):\s?(?P<ts>{_DAY}\.\d{{3}}\.\d{{3}})?\s?"
)
_CLOCK = r"(?P<clock>\d\d:\d\d:\d\d)"
_MONTH = r"(?P<month>[A-Z][a-z]{2}) +(?P<day>\d{1,2})"
# What launchers, containers and people put before a line: workers of vLLM and Ray, torchrun, mpirun, a container's stamp,
# compose, kubectl --prefix, pdsh, journald, a quotation, grep -n.
_PREFIX = re.compile(
    r"(?:\((?P<actor>[A-Za-z][\w.-]{0,40})(?: rank=(?P<vrank>\d+))?(?:,? ?pid=(?P<pid>\d+))?(?:, ip=[^)\s]*)?\) ?"
    r"|\[(?:[rR]ank|default(?:[rR]ank)?) ?(?P<rank>\d+)\]: ?"
    r"|\[\d+,(?P<mrank>\d+)\]<std(?:out|err)>: ?"
    r"|\[RAW SERVER\] ?"
    r"|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d) std(?:out|err) [FP] "
    r"|\d{4}-\d\d-\d\dT[\d:.]+Z "
    r"|[\w.-]{1,64} +\| ?"
    r"|\[pod/(?P<pod>[\w.-]{1,128})/[\w.-]{1,64}\] ?"
    r"|(?P<host>(?:node|host|server|worker|master|npu|ascend|ip)[\w.-]{0,60}\d[\w.-]{0,60}|\d{1,3}(?:\.\d{1,3}){3}): "
    rf"|{_MONTH} {_CLOCK} (?P<machine>[\w.-]{{1,64}}) (?!kernel)[\w@.-]{{1,64}}(?:\[(?P<unit>\d+)\])?: "
    r"|> ?"
    r"|[\w./~+-]{1,300}\.(?:log|out|err|txt)(?:\.\d+)?[:-]\d+[:-])"
)
_AXIS = re.compile(r"(?:\b|_)(?P<axis>DP|PP|TP|EP|DCP|PCP)(?P<n>\d+)")
_TORCH = re.compile(
    rf"\[ERROR\] (?P<ts>{_DAY}) \(PID:(?P<pid>\d+), Device:(?P<device>-?\d+), RankID:(?P<rank>-?\d+)\) "
)
_ALARM = re.compile(
    r"\s*(?:Warning: )?(?:(?P<code>[EW][0-9A-Z]\d{4})(?![0-9A-Za-z_.])(?:: ?)?)?(?:\[PID: (?P<pid>\d+)\]:?)?"
    rf"\s*(?P<ts>{_DAY}(?:\.\d{{3}}){{0,2}})?\s*(?:\w+\()?\(?(?P<late>[EW][0-9A-Z]\d{{4}})?\)?:?"
)
# What stands in front of a text, tried in this order: dmesg -T, two of syslog, history.log, dmesg; vLLM, glog, the warnings
# of torch, MindIE and ATB, loggers with a stamp in brackets (SGLang, DeepSpeed) or without, uvicorn. The groups of a stamp
# are those of `timestamps.parse_parts`.
_TIME = r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d"
_LEVEL = r"(?P<level>DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL|FATAL)"
_SMALL_LEVEL = r"(?P<level>trace|debug|info|warn|error|fatal)"
_UPTIME = r"(?:\[ *[\d.]+\] ?)?"
_PART = r"(?:[.,:]\d{1,9})?"
_KERNEL_FORMATS = (
    rf"\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) {_MONTH} {_CLOCK} (?P<year>\d{{4}})\] ",
    rf"{_MONTH} {_CLOCK} \S+ kernel: {_UPTIME}",
    rf"(?P<ts>{_TIME}(?:\.\d{{1,6}})?)(?:Z|[+-]\d\d:\d\d)?(?:\|\w+\|kernel\[-\]\|{_UPTIME}| \S+ kernel: )",
    rf"\[(?P<ts>{_TIME}\.\d{{6}})\] (?=system exception)",
    r"\[ *(?P<boot>\d{1,12}\.\d{1,6})\] ",
)
_TEXT_FORMATS = (
    rf"{_LEVEL} (?P<day>\d\d-\d\d) {_CLOCK}(?:\.\d+)? \[?[\w./-]+:\d+\] ?",
    rf"(?P<level>[IWEF])(?P<day>\d{{8}}|\d{{4}}) {_CLOCK}\.(?P<us>\d{{6}})\d* +\d+ [\w./-]+:\d+\] ",
    rf"\[(?P<level>[IWEF])(?P<day>\d{{3,4}}) {_CLOCK}\.(?P<us>\d{{6}})\d* \S+:\d+\] ",
    r"\[(?P<level>[IWEF]) [\w.]+:\d+\] ",
    rf"\[(?P<ts>{_TIME})\.(?P<us>\d{{1,6}})\] \[{_SMALL_LEVEL}\] \[(?P<pid>\d+)\] ",
    rf"\[(?P<ts>{_TIME}{_PART})(?:[+-]\d\d:\d\d)?\] \[(?P<pid>\d+)\] \[\d+\] \[[\w-]+\] \[{_LEVEL}\] \[[^\]]{{1,200}}\] : ",
    rf"(?:\[(?P<pid>\d+)\] )?\[(?P<ts>{_TIME}{_PART})(?P<axes>(?: [A-Z]{{2,3}}\d+)+)?\] (?:torch\.\w+: )?(?:\[{_LEVEL}\] )?",
    rf"\[{_LEVEL}\|[\w.]+:\d+\] (?P<ts>{_TIME}{_PART}) >> ",
    rf"(?P<ts>{_TIME}{_PART})(?:Z|[+-]\d\d:?\d\d)?[\s-]+(?:[\w.]+ - )?\[?{_LEVEL}\]?[\s:-]+",
    rf"{_LEVEL}:?\s+",
)
_FORMATS: tuple[tuple[Form, re.Pattern[str]], ...] = (
    *(("kernel", re.compile(pattern)) for pattern in _KERNEL_FORMATS),
    *(("text", re.compile(pattern)) for pattern in _TEXT_FORMATS),
)
_LEVELS = {"I": "INFO", "W": "WARNING", "E": "ERROR", "F": "ERROR", "WARN": "WARNING", "FATAL": "ERROR"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The head of one record. Rules match `subject`: for plog, module and everything after the time."""

    form: Form
    subject: str
    level: str = ""
    pid: int | None = None
    stamp: Stamp | None = None
    rank: int | None = None
    device: int | None = None
    alarm: str = ""
    prefixed: bool = False
    host: str = ""

    @property
    def is_error(self) -> bool:
        return self.level in {"ERROR", "CRITICAL"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """The prefix of a line: the worker and the host that a launcher names, and its own time."""

    pid: int | None = None
    rank: int | None = None
    host: str = ""
    stamp: Stamp | None = None
    length: int = 0


def read_heads(raw: bytes) -> tuple[Head, ...]:
    """Return all records of one physical line, in order; at least one, for a line without a head is text."""
    line = raw[: LIMIT * 2].decode("utf-8", "replace").rstrip("\r\n")[:LIMIT].replace("\xa0", " ")
    if "\x1b" in line:
        line = strip_ansi(line)
    if "\r" in line:  # a progress bar: the terminal shows what follows the last return
        line = line.rsplit("\r", 1)[1] if line.rsplit("\r", 1)[1].strip() else line.replace("\r", "")
    hits = list(_PLOG.finditer(line))
    if not hits:
        return (_read_loose(line),)
    return tuple(_read_records(line, hits))


def _read_records(line: str, hits: list[re.Match[str]]) -> list[Head]:
    prefix = read_prefix(line)
    heads = [
        _read_plog(line, hit, after.start() if after else None, prefix) for hit, after in zip_longest(hits, hits[1:])
    ]
    lead = line[prefix.length : hits[0].start()]
    return [_read_loose(line[: hits[0].start()]), *heads] if len(lead.strip()) > 40 else heads


def _read_plog(line: str, hit: re.Match[str], end: int | None, prefix: Prefix) -> Head:
    rest = line[hit.end() : end].rstrip() if end is not None else line[hit.end() :]
    # Device kernels come through klogd as EVENT with the real level inside (CANN slog, klogd.c).
    inner = hit["module"] == "KERNEL" and "[ascend]" in rest
    return Head(
        form="kernel" if inner else "plog",
        level="ERROR" if inner and "[ERROR]" in rest else hit["level"],
        pid=int(hit["pid"]),
        stamp=timestamps.parse_stamp(hit["ts"]) if hit["ts"] else None,
        rank=prefix.rank,
        host=prefix.host,
        subject=rest if inner else f"{hit['module']} {rest}",
        prefixed=bool(prefix.length),
    )


def read_prefix(line: str) -> Prefix:
    """Read the prefixes that launchers put before a line, as many as there are."""
    prefix = Prefix()
    while hit := _PREFIX.match(line, prefix.length):
        rank, pid = _find_prefix_rank(hit), hit["pid"] or hit["unit"]
        prefix = Prefix(
            pid=int(pid) if pid else prefix.pid,
            rank=prefix.rank if rank is None else rank,
            host=hit["host"] or hit["pod"] or hit["machine"] or prefix.host,
            stamp=timestamps.parse_parts(hit.groupdict()) or prefix.stamp,
            length=hit.end(),
        )
    return prefix


def _find_prefix_rank(hit: re.Match[str]) -> int | None:
    rank = hit["vrank"] or hit["rank"] or hit["mrank"]
    return int(rank) if rank else _parse_worker_rank(hit["actor"] or "")


def _parse_worker_rank(actor: str) -> int | None:
    """Return the rank from `Worker_DP0_TP3_EP3` or `DP0 TP3`: EP counts over all of DP and TP; TP alone is the rank; DP with TP says too little."""
    axes = {hit["axis"]: int(hit["n"]) for hit in _AXIS.finditer(actor)}
    if "EP" in axes:
        return axes["EP"]
    return axes.get("TP") if not {"DP", "PP"} & {name for name, value in axes.items() if value} else None


def _read_loose(line: str) -> Head:
    """Read text with a level and perhaps a stamp in front; the text behind may be an alarm with a stamp of its own."""
    prefix = read_prefix(line)
    rest = line[prefix.length :]
    form, hit = next(((form, hit) for form, pattern in _FORMATS if (hit := pattern.match(rest))), ("text", None))
    parts = hit.groupdict() if hit else {}
    text, stamp = rest[hit.end() :] if hit else rest, timestamps.parse_parts(parts) or prefix.stamp
    if form == "kernel":
        level = "ERROR" if "[ERROR]" in text else ""
        return Head(form="kernel", level=level, stamp=stamp, host=prefix.host, subject=text)
    level, axes = (parts.get("level") or "").upper(), parts.get("axes")
    head = Head(
        form="text",
        level=_LEVELS.get(level, level),
        pid=int(parts["pid"]) if parts.get("pid") else prefix.pid,
        stamp=stamp,
        rank=_parse_worker_rank(axes) if axes else prefix.rank,
        host=prefix.host,
        subject=text,
        prefixed=bool(prefix.length or level),
    )
    return _read_torch(head) or _read_alarm(head)


def _read_torch(head: Head) -> Head | None:
    hit = _TORCH.match(head.subject)
    if hit is None:
        return None
    rank, device = int(hit["rank"]), int(hit["device"])
    return replace(
        head,
        level="ERROR",
        pid=int(hit["pid"]) if head.pid is None or rank >= 0 else head.pid,  # Ray names the driver of the job in front
        stamp=timestamps.parse_stamp(hit["ts"]) or head.stamp,
        rank=rank if rank >= 0 else head.rank,  # vLLM workers print -1
        device=device if device >= 0 else None,
    )


def _read_alarm(head: Head) -> Head:
    hit = next(_ALARM.finditer(head.subject))  # all of it is optional, so there always is a match at the start
    code = hit["code"] or (hit["pid"] and hit["late"]) or ""
    if not (code or hit["pid"]):
        return head
    return replace(
        head,
        level="ERROR" if code.startswith("E") and head.level != "WARNING" else head.level,
        pid=int(hit["pid"]) if hit["pid"] and code else head.pid,
        stamp=(timestamps.parse_stamp(hit["ts"]) if hit["ts"] else None) or head.stamp,
        alarm=code,
    )
