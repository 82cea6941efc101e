"""Tie lines together: the rank and device of a process, the target of a status word, the fields of a line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from backproof.triage import timestamps
from backproof.triage.rules import compile_pattern

if TYPE_CHECKING:
    from backproof.triage.line_header import Head

# Which rank a process has: printed at INFO in run/plog by HCCL, once per communicator (facts: hcomm topoinfo_detect.cc,
# op_base.cc, hccl_communicator.cc). The largest communicator is the world.
_LINKS: Final = {
    "SetupAgent rankNum": r"\[(?P<size>\d+)\], rank\[(?P<rank>\d+)\](?:.*?logicDevId\[(?P<device>\d+)\])?",
    "Entry-HcclCommInitRootInfo": r"\w*:ranks\[(?P<size>\d+)\], rank\[(?P<rank>\d+)\](?:.*?deviceLogicId\[(?P<device>\d+)\])?",
    "hcclCommInitInfo:": r".*?rank\[(?P<rank>\d+)\], totalRanks\[(?P<size>\d+)\](?:.*?logicDevId\[(?P<device>\d+)\])?",
    "[RootInfoDetect] nRanks": r"\[(?P<size>\d+)\], rank\[(?P<rank>\d+)\](?:.*?deviceLogicId\[(?P<device>\d+)\])?",
    "enter into open process": r" deviceId\[(?P<device>\d+)\] rankSize\[(?P<size>\d+)\]",
}
_LINK_PATTERNS: Final = tuple(re.compile(re.escape(needle) + rest) for needle, rest in _LINKS.items())
LINK_NEEDLES: Final = tuple(needle.encode() for needle in _LINKS)
"""What to look for when only parts of a file are read."""

# What a line calls its device: logical ids of the host process; a chip and die only when nothing better is there.
_DEVICE: Final = r"(?:\bdevice[_ ]?id=|\bdevid=|\bdevId=|\bdev_id=|\bdevice ID |\b(?:Device|DEVICE)\[|\(NPU |\bDevice:|\bdevice\(|\bopen device |\bDevice )(?P<device>\d{1,4})\b"
_CHIP: Final = re.compile(r"device\(chipId:(?P<chip>\d+), ?dieId:(?P<die>\d+)\)")
_TASK: Final = re.compile(r"\btask[_ ]id[=:] ?(?P<task>\d+)")
_KERNEL: Final = (
    re.compile(r"\bkernel[_ ]name=(?P<kernel>[^,\s\[\]]+)"),
    re.compile(r"\bfuncName=(?P<kernel>[^,\s\[\]]+)"),
    re.compile(r"\bOpName:\[(?P<kernel>[^\]]+)\]"),
    re.compile(r"\b(?P<kernel>\w+) do tiling failed"),
)
_PEER: Final = re.compile(
    r"(?:remote ?[Rr]ank ?[:=\[ ]\[?|[Ww]aiting peer end: |\|\s+[\d.]+\()(?P<peer>\d{1,5})(?!\d)"
    r"|wait socket establish timeout, role\[\d+\] rank\[(?P<late>\d{1,5})\]"
)
_NO_RANK: Final = 1 << 16
_PROCESS_LABEL: Final = re.compile(r"(?:^|/)(?:plog|(?P<side>device(?:-app)?))-(?P<pid>\d+)_(?P<ts>\d{14,20})")
_RANK_LABEL: Final = re.compile(r"(?:^|/)rank[_-]?(?P<rank>\d+)(?=[/_.-]|$)", re.IGNORECASE)
_DEVICE_LABEL: Final = re.compile(r"(?:^|/)device-(?P<device>\d{1,3})/")
_HOST_LABEL: Final = re.compile(
    r"(?:^|/)(?P<host>(?:node|host|server|worker|master)[_-]?[\w.]*?\d[\w.]*|\d{1,3}(?:\.\d{1,3}){3})(?=/)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessLink:
    """A process, its rank in a communicator of `size` ranks, its device."""

    pid: int
    rank: int | None
    device: int | None
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelFacts:
    """The facts in the label of a file: its host, the process that wrote it, a rank, a device."""

    host: str
    pid: int | None
    rank: int | None
    device: int | None
    device_log: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusWord:
    """sqSwStatus taken apart: result[31:28], stream or sq [27:16], task [15:0] (runtime stars.hpp, notify_task.cc)."""

    result: int
    queue: int
    task: int


def find_link(head: Head) -> ProcessLink | None:
    """Return the rank and device of a process, when this line says so."""
    if head.pid is None or "[" not in head.subject:
        return None
    for pattern in _LINK_PATTERNS:
        if hit := pattern.search(head.subject):
            numbers = {name: int(value) for name, value in hit.groupdict().items() if value}
            size = numbers["size"]
            return ProcessLink(pid=head.pid, rank=numbers.get("rank"), device=numbers.get("device"), size=size)
    return None


@lru_cache(maxsize=4096)
def read_label(label: str) -> LabelFacts:
    process, rank, device, host = (
        pattern.search(label) for pattern in (_PROCESS_LABEL, _RANK_LABEL, _DEVICE_LABEL, _HOST_LABEL)
    )
    return LabelFacts(
        host=host["host"] if host else "",
        pid=int(process["pid"]) if process else None,
        rank=int(rank["rank"]) if rank else None,
        device=int(device["device"]) if device else None,
        device_log=bool(process and process["side"]),
    )


def find_creation(label: str) -> int | None:
    """Return the time at which a plog file was created (microseconds): its name holds YYYYMMDDHHMMSSmmm."""
    hit = _PROCESS_LABEL.search(label)
    if hit is None or len(hit["ts"]) < 17:
        return None
    ts = hit["ts"]
    clock = ":".join((ts[8:10], ts[10:12], ts[12:14]))
    stamp = timestamps.parse_parts({"day": ts[:8], "clock": clock, "us": f"{ts[14:17]}000"})
    return stamp.us if stamp else None


def find_device(head: Head) -> int | None:
    """Return the device that a record names; a chip and die are not a device, see `find_chip`."""
    if head.device is not None:
        return head.device
    hit = compile_pattern(_DEVICE).search(head.subject)  # RE2 looks for all these words at once
    return int(hit["device"]) if hit else None


def find_chip(subject: str) -> int | None:
    """Return the physical id from chip and die, two dies a chip only when a second die is named (A3)."""
    hit = _CHIP.search(subject)
    if hit is None:
        return None
    return 2 * int(hit["chip"]) + 1 if int(hit["die"]) else int(hit["chip"])


def find_task(subject: str) -> int | None:
    hit = _TASK.search(subject)
    return int(hit["task"]) if hit else None


def find_kernel(subject: str) -> str | None:
    """Return the kernel, AI CPU function or operator that a line names."""
    return next((hit["kernel"] for pattern in _KERNEL if (hit := pattern.search(subject))), None)


def find_peer(subject: str) -> int | None:
    """Return the rank that a line waits for or blames; HCCL's number for none is none."""
    hit = _PEER.search(subject)
    peer = int(hit["peer"] or hit["late"]) if hit else _NO_RANK
    return peer if peer < _NO_RANK else None


def decode_status(status: str) -> StatusWord:
    """Decode `0x103a000c`."""
    word = int(status, 16)
    return StatusWord(result=word >> 28 & 0xF, queue=word >> 16 & 0xFFF, task=word & 0xFFFF)
