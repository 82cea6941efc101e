"""What ties lines together: who a process is, what a label and a line name, what a status word points at."""

from __future__ import annotations

import pytest
from backproof.triage import correlate
from backproof.triage.correlate import LINK_NEEDLES, LabelFacts, ProcessLink
from backproof.triage.line_header import Head
from backproof.triage.timestamps import parse_stamp

LINKS = {
    "SetupAgent rankNum[16], rank[3], x logicDevId[5]": ProcessLink(pid=77, rank=3, device=5, size=16),
    "SetupAgent rankNum[16], rank[0]": ProcessLink(pid=77, rank=0, device=None, size=16),
    "Entry-HcclCommInitRootInfoInner:ranks[8], rank[0], deviceLogicId[0]": ProcessLink(
        pid=77, rank=0, device=0, size=8
    ),
    "hcclCommInitInfo:comm[a], rank[1], totalRanks[2], logicDevId[4]": ProcessLink(pid=77, rank=1, device=4, size=2),
    "[RootInfoDetect] nRanks[4], rank[2], deviceLogicId[6]": ProcessLink(pid=77, rank=2, device=6, size=4),
    "enter into open process deviceId[7] rankSize[1]": ProcessLink(pid=77, rank=None, device=7, size=1),
}


@pytest.mark.parametrize("line", LINKS)
def test_a_process_introduces_itself_with_rank_device_and_size(line: str) -> None:
    assert correlate.find_link(Head(form="plog", pid=77, subject=f"HCCL [a.cc:1]7 {line}")) == LINKS[line]
    assert correlate.find_link(Head(form="plog", pid=None, subject=line)) is None
    assert any(needle in line.encode() for needle in LINK_NEEDLES)


@pytest.mark.parametrize("subject", ["HCCL rank 3 of 16", "HCCL [a.cc:1]7 rank[3]", ""])
def test_other_lines_introduce_nobody(subject: str) -> None:
    assert correlate.find_link(Head(form="plog", pid=77, subject=subject)) is None


PLACES = {
    "server.log": LabelFacts(host="", pid=None, rank=None, device=None),
    "plog-31_20270214100000001.log": LabelFacts(host="", pid=31, rank=None, device=None),
    "node1/rank_0/device-0/device-7_20270214100000001.log": LabelFacts(
        host="node1", pid=7, rank=0, device=0, device_log=True
    ),
    "10.0.0.7/rank12/plog-0_20270214100000001.log": LabelFacts(host="10.0.0.7", pid=0, rank=12, device=None),
    "a/worker-3/device-12/x.log": LabelFacts(host="worker-3", pid=None, rank=None, device=12),
}


@pytest.mark.parametrize("label", PLACES)
def test_a_label_names_host_process_rank_and_device(label: str) -> None:
    assert correlate.read_label(label) == PLACES[label]


@pytest.mark.parametrize(
    ("label", "stamp"),
    [
        ("a/plog-31_20270214103059123.log", "2027-02-14-10:30:59.123"),
        ("plog-31_20270214103059123456.log", "2027-02-14-10:30:59.123"),
        ("plog-31_2027021410305912.log", None),
        ("plog-31_20270214103059.log", None),
        ("plog-31_20270231103059123.log", None),
        ("server.log", None),
    ],
)
def test_a_label_says_when_its_file_was_created(label: str, stamp: str | None) -> None:
    expected = parse_stamp(stamp) if stamp else None
    assert correlate.find_creation(label) == (expected.us if expected else None)


@pytest.mark.parametrize(
    ("subject", "device", "chip", "task", "kernel"),
    [
        ("device_id=3, stream_id=2, task_id=12, kernel_name=conv_0, x", 3, None, 12, "conv_0"),
        ("Device[0] task id: 0 funcName=Foo]", 0, None, 0, "Foo"),
        ("the error from device(chipId:2, dieId:0)", None, 2, None, None),
        ("the error from device(chipId:2, dieId:1)", None, 5, None, None),
        ("the error from device(chipId:0,dieId:0) OpName:[Conv 2D]", None, 0, None, "Conv 2D"),
        ("MatMul do tiling failed", None, None, None, "MatMul"),
        ("funcName=Late kernel_name=early", None, None, None, "early"),
        ("nothing of it", None, None, None, None),
    ],
)
def test_a_line_names_device_chip_task_and_kernel(
    subject: str, device: int | None, chip: int | None, task: int | None, kernel: str | None
) -> None:
    assert correlate.find_device(Head(form="text", subject=subject)) == device
    assert correlate.find_chip(subject) == chip
    assert correlate.find_task(subject) == task
    assert correlate.find_kernel(subject) == kernel


@pytest.mark.parametrize(
    ("status", "result", "queue", "task"),
    [
        ("0x103a000c", 1, 58, 12),
        ("0x14db0028", 1, 1243, 40),
        ("0x2000ffff", 2, 0, 65535),
        ("0xffff0000", 15, 4095, 0),
        ("0xf00010000", 0, 1, 0),
    ],
)
def test_status_words_are_taken_apart(status: str, result: int, queue: int, task: int) -> None:
    assert correlate.decode_status(status) == correlate.StatusWord(result=result, queue=queue, task=task)
