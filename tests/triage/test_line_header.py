"""Lines and what their heads say, each held as a whole: every field of every record of the line."""

from __future__ import annotations

import pytest
from backproof.triage.line_header import Head, Prefix, read_heads, read_prefix
from backproof.triage.timestamps import SECOND, Stamp, parse_stamp


def at(text: str) -> Stamp:
    stamp = parse_stamp(f"2027-02-14 {text}")
    assert stamp is not None
    return stamp


def yearless(text: str) -> Stamp:
    stamp = parse_stamp(f"2000-02-14 {text}")
    assert stamp is not None
    return Stamp(stamp.us, stamp.step, "yearless")


def text(subject: str, **more: object) -> Head:
    return Head(form="text", subject=subject, **more)  # type: ignore[arg-type]


def error(subject: str, **more: object) -> Head:
    return text(subject, **({"level": "ERROR"} | more))


PLOG = "[ERROR] RUNTIME(77,python3):2027-02-14-10:00:00.000.001 [a.cc:1]8 it failed"
FAILED = Head(form="plog", level="ERROR", pid=77, stamp=at("10:00:00.000001"), subject="RUNTIME [a.cc:1]8 it failed")
OTHER = "[INFO] GE(-1,):2027-02-14-10:00:00.000.002 [b.cc:2]9 fine"
FINE = Head(form="plog", level="INFO", pid=-1, stamp=at("10:00:00.000002"), subject="GE [b.cc:2]9 fine")
LEAD = "what stood before the head, just 40 signs"[:40]
DMESG = "[Sun Feb 14 10:00:01 2027] "
DEVICE = "[ascend] [drv] [ERROR] Heartbeat lost. (dev_id=1)"
ISO = "2027-02-14T10:00:01.000002"


def kernel(stamp: Stamp | None, subject: str = DEVICE, level: str = "ERROR", **more: object) -> Head:
    return Head(form="kernel", stamp=stamp, subject=subject, level=level, **more)  # type: ignore[arg-type]


def with_rank(head: Head, rank: int | None) -> Head:
    return Head(
        form=head.form, level=head.level, pid=head.pid, stamp=head.stamp, rank=rank, subject=head.subject, prefixed=True
    )


LINES: dict[str, tuple[str | bytes, list[Head]]] = {
    "plog": (PLOG, [FAILED]),
    "plog without a process": (OTHER, [FINE]),
    "plog, numbers for names": (
        "[16] 1_A(77,a b):2027-02-14-10:00:00.000.001 x",
        [Head(form="plog", level="16", pid=77, stamp=at("10:00:00.000001"), subject="1_A x")],
    ),
    "plog without a time": (
        "[WARNING] HCCL(7,p):no time, [ERROR] in the text",
        [Head(form="plog", level="WARNING", pid=7, subject="HCCL no time, [ERROR] in the text")],
    ),
    "plog whose time cannot be": (
        "[ERROR] HCCL(7,p):2027-02-31-10:00:00.000.001 x",
        [Head(form="plog", level="ERROR", pid=7, subject="HCCL x")],
    ),
    "plog keeps the blanks at its end": (
        f"{PLOG}  \r\n",
        [Head(form="plog", level="ERROR", pid=77, stamp=FAILED.stamp, subject=f"{FAILED.subject}  ")],
    ),
    "two heads": (f"{PLOG}   {OTHER}", [FAILED, FINE]),
    "three heads": (PLOG + OTHER + PLOG, [FAILED, FINE, FAILED]),
    "a short lead is dropped": (LEAD + PLOG, [FAILED]),
    "a lead of 41 signs is a record": (f"{LEAD}s{PLOG}{OTHER}", [text(f"{LEAD}s"), FAILED, FINE]),
    "blanks are no lead": (f"{' ' * 30}{LEAD}{' ' * 30}{PLOG}", [FAILED]),
    "a prefix is no lead": (f"(Worker_TP3 pid=9) {LEAD}{PLOG}", [with_rank(FAILED, 3)]),
    "a lead behind a prefix": (
        f"(Worker_TP3 pid=9) {LEAD}s{PLOG}",
        [text(f"{LEAD}s", pid=9, rank=3, prefixed=True), with_rank(FAILED, 3)],
    ),
    "a prefix without a rank": (f"vllm-0  | {PLOG}", [with_rank(FAILED, None)]),
    "the kernel's line inside a device log": (
        f"[EVENT] KERNEL(35,sklogd):2027-02-14-10:00:00.000.001 [klogd.c:248]{DEVICE}",
        [kernel(at("10:00:00.000001"), f"[klogd.c:248]{DEVICE}", pid=35)],
    ),
    "the kernel's line without an error": (
        "[EVENT] KERNEL(35,sklogd):2027-02-14-10:00:00.000.001 [ascend] up",
        [kernel(at("10:00:00.000001"), "[ascend] up", "EVENT", pid=35)],
    ),
    "the kernel's line of somebody else": (
        "[EVENT] KERNEL(35,sklogd):2027-02-14-10:00:00.000.001 nfs: [ERROR]",
        [Head(form="plog", level="EVENT", pid=35, stamp=at("10:00:00.000001"), subject="KERNEL nfs: [ERROR]")],
    ),
    "the driver's name in a record of its own": (
        "[EVENT] DRV(35,sklogd):2027-02-14-10:00:00.000.001 [ascend] [ERROR]",
        [Head(form="plog", level="EVENT", pid=35, stamp=at("10:00:00.000001"), subject="DRV [ascend] [ERROR]")],
    ),
    "dmesg -T": (DMESG + DEVICE, [kernel(Stamp(at("10:00:01").us, SECOND))]),
    "dmesg -T behind a prefix": (f"host-1 | {DMESG}{DEVICE}", [kernel(at("10:00:01"))]),
    "dmesg, no error": (f"{DMESG}up", [kernel(at("10:00:01"), "up", "")]),
    "dmesg of a day that cannot be": (f"[Sun Feb 31 10:00:01 2027] {DEVICE}", [kernel(None)]),
    "dmesg since boot": (f"[ 3600.5] {DEVICE}", [kernel(Stamp(3600_500_000, 1, "boot"))]),
    "syslog": (f"Feb 14 10:00:01 hostx kernel: [ 7001.5] {DEVICE}", [kernel(yearless("10:00:01"))]),
    "syslog with a year": (f"{ISO}+08:00 hostx kernel: {DEVICE}", [kernel(at("10:00:01.000002"))]),
    "history.log": (
        "[2027-02-14 10:00:01.000002] system exception code=1",
        [kernel(at("10:00:01.000002"), "system exception code=1", "")],
    ),
    "vllm": (
        "ERROR 02-14 10:00:01 [a/b-c.py:9] it failed",
        [error("it failed", stamp=yearless("10:00:01"), prefixed=True)],
    ),
    "glog with a year": (
        "E20270214 10:00:01.000002 1 a.cc:9] it failed",
        [error("it failed", stamp=at("10:00:01.000002"), prefixed=True)],
    ),
    "glog without a year": (
        "W0214 10:00:01.000002 1 a.cc:9] it failed",
        [text("it failed", level="WARNING", stamp=yearless("10:00:01.000002"), prefixed=True)],
    ),
    "torch's warning": (
        "[I214 10:00:01.000002003 a.cc:9] it failed",
        [text("it failed", level="INFO", stamp=yearless("10:00:01.000002"), prefixed=True)],
    ),
    "mindie": (
        "[2027-02-14 10:00:01.000002] [error] [88] it failed",
        [error("it failed", stamp=at("10:00:01.000002"), pid=88, prefixed=True)],
    ),
    "torch's warning, old": ("[W NPUStream.cpp:372] it failed", [text("it failed", level="WARNING", prefixed=True)]),
    "mindie with a zone": (
        "[2027-02-14 10:00:01.100+08:00] [88] [89] [server] [ERROR] [a.cpp:230] : it failed",
        [error("it failed", stamp=Stamp(at("10:00:01.100000").us, 1000), pid=88, prefixed=True)],
    ),
    "sglang": (
        "[2027-02-14 10:00:01 DP0 TP3] it failed",
        [text("it failed", stamp=at("10:00:01"), rank=3)],
    ),
    "sglang, no rank": ("[2027-02-14 10:00:01] it failed", [text("it failed", stamp=at("10:00:01"))]),
    "deepspeed": (
        "worker-0: [2027-02-14 10:00:01,100] [WARNING] [launch.py:253:main] it failed",
        [
            text(
                "[launch.py:253:main] it failed",
                level="WARNING",
                stamp=Stamp(at("10:00:01.100000").us, 1000),
                host="worker-0",
                prefixed=True,
            )
        ],
    ),
    "torch_npu's watchdog": (
        "[758] [2027-02-14 10:00:01:100] torch.distributed: [ERROR] it failed",
        [error("it failed", stamp=Stamp(at("10:00:01.100000").us, 1000), pid=758, prefixed=True)],
    ),
    "logging": (
        "2027-02-14 10:00:01,100 - a.b - ERROR - it failed",
        [error("it failed", stamp=Stamp(at("10:00:01.100000").us, 1000), prefixed=True)],
    ),
    "trainer": (
        "[INFO|trainer.py:9] 2027-02-14 10:00:01,100 >> it failed",
        [text("it failed", level="INFO", stamp=Stamp(at("10:00:01.100000").us, 1000), prefixed=True)],
    ),
    "blanks that do not break": (PLOG.replace(" ", "\N{NO-BREAK SPACE}"), [FAILED]),
    "torch_npu names a rank behind a driver": (
        "(TaskRunner pid=9) [ERROR] 2027-02-14-10:00:01 (PID:35, Device:4, RankID:2) x",
        [
            error(
                "[ERROR] 2027-02-14-10:00:01 (PID:35, Device:4, RankID:2) x",
                pid=35,
                stamp=at("10:00:01"),
                rank=2,
                device=4,
                prefixed=True,
            )
        ],
    ),
    "uvicorn": ("ERROR:    it failed", [error("it failed", prefixed=True)]),
    "uvicorn behind a prefix": (
        "(APIServer pid=80) INFO:     up",
        [text("up", level="INFO", pid=80, prefixed=True)],
    ),
    "torch_npu": (
        "[ERROR] 2027-02-14-10:00:01 (PID:35, Device:4, RankID:2) ERR00100 x",
        [
            error(
                "[ERROR] 2027-02-14-10:00:01 (PID:35, Device:4, RankID:2) ERR00100 x",
                pid=35,
                stamp=at("10:00:01"),
                rank=2,
                device=4,
            )
        ],
    ),
    "torch_npu, the first of all": (
        "[ERROR] 2027-02-14-10:00:01 (PID:0, Device:0, RankID:0) x",
        [
            error(
                "[ERROR] 2027-02-14-10:00:01 (PID:0, Device:0, RankID:0) x",
                pid=0,
                stamp=at("10:00:01"),
                rank=0,
                device=0,
            )
        ],
    ),
    "torch_npu behind a worker": (
        "(Worker_TP3 pid=9) [ERROR] 2027-02-14-10:00:01 (PID:35, Device:-1, RankID:-1) x",
        [
            error(
                "[ERROR] 2027-02-14-10:00:01 (PID:35, Device:-1, RankID:-1) x",
                pid=9,
                stamp=at("10:00:01"),
                rank=3,
                prefixed=True,
            )
        ],
    ),
    "torch_npu behind vllm, at a time that cannot be": (
        "INFO 02-14 10:00:02 [a.py:1] [ERROR] 2027-02-31-10:00:01 (PID:35, Device:0, RankID:-1) x",
        [
            error(
                "[ERROR] 2027-02-31-10:00:01 (PID:35, Device:0, RankID:-1) x",
                pid=35,
                stamp=yearless("10:00:02"),
                device=0,
                prefixed=True,
            )
        ],
    ),
    "an alarm": ("EZ9999: Inner Error!", [error("EZ9999: Inner Error!", alarm="EZ9999")]),
    "an alarm with process and time": (
        "EI0006: [PID: 89] 2027-02-14-10:00:01.100.000 late",
        [
            error(
                "EI0006: [PID: 89] 2027-02-14-10:00:01.100.000 late",
                alarm="EI0006",
                pid=89,
                stamp=at("10:00:01.100000"),
            )
        ],
    ),
    "an alarm whose code comes late": (
        "[PID: 89] 2027-02-14-10:00:01.100.000 Execution_Error(EI0013): x",
        [
            error(
                "[PID: 89] 2027-02-14-10:00:01.100.000 Execution_Error(EI0013): x",
                alarm="EI0013",
                pid=89,
                stamp=at("10:00:01.100000"),
            )
        ],
    ),
    "a late code without a process is none": ("Execution_Error(EI0013): x", [text("Execution_Error(EI0013): x")]),
    "a process without a code is not its": (
        "(Worker pid=9) [PID: 89] 2027-02-14-10:00:01.100.000 x",
        [text("[PID: 89] 2027-02-14-10:00:01.100.000 x", pid=9, stamp=at("10:00:01.100000"), prefixed=True)],
    ),
    "a code without a process, and a time": (
        "EI0006: 2027-02-14-10:00:01.100.000 x",
        [error("EI0006: 2027-02-14-10:00:01.100.000 x", alarm="EI0006", stamp=at("10:00:01.100000"))],
    ),
    "a time alone is no stamp": ("2027-02-14-10:00:01.100.000 x", [text("2027-02-14-10:00:01.100.000 x")]),
    "an alarm behind vllm": (
        "(Worker_TP2 pid=9) ERROR 02-14 10:00:02 [a.py:1] EZ9999[PID: 89] 2027-02-14-10:00:01.100.000 (EZ9999):  x",
        [
            error(
                "EZ9999[PID: 89] 2027-02-14-10:00:01.100.000 (EZ9999):  x",
                alarm="EZ9999",
                pid=89,
                rank=2,
                stamp=at("10:00:01.100000"),
                prefixed=True,
            )
        ],
    ),
    "an alarm without a time behind vllm": (
        "INFO 02-14 10:00:02 [a.py:1] E30006: x",
        [error("E30006: x", alarm="E30006", stamp=yearless("10:00:02"), prefixed=True)],
    ),
    "an alarm in a warning is one": (
        "WARNING 02-14 10:00:02 [a.py:1] EZ9999: x",
        [text("EZ9999: x", level="WARNING", alarm="EZ9999", stamp=yearless("10:00:02"), prefixed=True)],
    ),
    "a warning's alarm": ("WZ9999: x", [text("WZ9999: x", alarm="WZ9999")]),
    "text": ("  plain text  ", [text("  plain text  ")]),
    "nothing": ("", [text("")]),
    "ends of lines": ("it failed\r\n\r\n", [text("it failed")]),
    "X at both ends is text": ("XX it failed XX", [text("XX it failed XX")]),
    "colour": ("\x1b[31mred\x1b[0m \x1b]0;title\x07text", [text("red text")]),
    "a progress bar": ("10%\r50%\r it failed", [text(" it failed")]),
    "a progress bar that was wiped": ("10%\r50%\r  ", [text("10%50%  ")]),
    "a progress bar with a gap": ("10%\r \rit failed", [text("it failed")]),
    "bytes that are no text": (b"it \xff failed", [text("it \ufffd failed")]),
    "a long line": ("é" * 3000, [text("é" * 2048)]),
    "a long line of wide signs": ("中" * 3000, [text("中" * 1365 + "\ufffd")]),
    "ends of lines beyond the limit": ("x" * 2047 + "\r" * 5, [text("x" * 2047)]),
}


@pytest.mark.parametrize(("line", "heads"), LINES.values(), ids=LINES)
def test_a_line_gives_these_records_and_no_others(line: str | bytes, heads: list[Head]) -> None:
    assert list(read_heads(line if isinstance(line, bytes) else line.encode())) == heads


PREFIXES = {
    "it failed": Prefix(),
    "(Worker_TP3 pid=9) x": Prefix(pid=9, rank=3, length=19),
    "(Worker_TP0 pid=9) x": Prefix(pid=9, rank=0, length=19),
    "(Worker pid=0) x": Prefix(pid=0, length=15),
    "(EngineCore_DP0 pid=81) x": Prefix(pid=81, length=24),
    "(Worker_DP1_TP3_EP7 pid=9) x": Prefix(pid=9, rank=7, length=27),
    "(Worker_DP0_TP3_EP0 pid=9) x": Prefix(pid=9, rank=0, length=27),
    "(Worker_DP0_PP0_TP3 pid=9) x": Prefix(pid=9, rank=3, length=27),
    "(Worker_DP1_TP3 pid=9) x": Prefix(pid=9, length=23),
    "(Worker_PP1_TP3 pid=9) x": Prefix(pid=9, length=23),
    "(Worker_DP1 pid=9) x": Prefix(pid=9, length=19),
    "(Worker_DCP1_TP3 pid=9) x": Prefix(pid=9, rank=3, length=24),
    "(RayWorker rank=4, pid=9, ip=10.0.0.1) x": Prefix(pid=9, rank=4, length=39),
    "[rank3]: x": Prefix(rank=3, length=9),
    "[default0]:x": Prefix(rank=0, length=11),
    "[defaultRank 5]:x": Prefix(rank=5, length=16),
    "[1,6]<stderr>: x": Prefix(rank=6, length=15),
    "[RAW SERVER] x": Prefix(length=13),
    f"{ISO}Z stderr F x": Prefix(length=len(ISO) + 11),
    f"{ISO}Z x": Prefix(length=len(ISO) + 2),
    "vllm-0  | x": Prefix(length=10),
    "worker-1: x": Prefix(host="worker-1", length=10),
    "10.0.0.7: [rank3]: x": Prefix(host="10.0.0.7", rank=3, length=19),
    "E20001: x": Prefix(),
    "step 1: x": Prefix(),
    "[pod/decode-0/vllm] x": Prefix(host="decode-0", length=20),
    "Feb 14 10:00:01 hostx vllm.service[77]: x": Prefix(host="hostx", pid=77, stamp=yearless("10:00:01"), length=40),
    "Feb 14 10:00:01 hostx kernel: x": Prefix(),
    "> > x": Prefix(length=4),
    "/root/ascend/log/debug/plog/plog-77_20270214.log:30:x": Prefix(length=52),
    "vllm-0 | (Worker_TP3 pid=9) [rank5]: x": Prefix(pid=9, rank=5, length=37),
    "(Worker_TP3 pid=9) (Actor) vllm-0 | x": Prefix(pid=9, rank=3, length=36),
    "(Worker_TP3 pid=9) (Worker_TP4 pid=10) x": Prefix(pid=10, rank=4, length=39),
}


@pytest.mark.parametrize("line", PREFIXES)
def test_prefixes_of_launchers_come_off_and_name_the_worker(line: str) -> None:
    assert read_prefix(line) == PREFIXES[line]
    assert line[read_prefix(line).length :] in {"x", line}


@pytest.mark.parametrize(
    ("level", "is_error"), [("ERROR", True), ("CRITICAL", True), ("WARNING", False), ("EVENT", False), ("", False)]
)
def test_only_these_levels_are_errors(level: str, is_error: bool) -> None:
    assert text("x", level=level).is_error == is_error
