"""How fast triage is beside the shell line of the post-mortem (section 7.1), and how much memory it takes.

    python bench/triage.py [--mib 1024] [--rounds 3]

Writes logs of 16 ranks, rotated at 20 MB as the CANN runtime does, to a temporary folder: one set with an ERROR every
5000 lines, one with an ERROR every 20. The last error of all is a real fault; triage has to name it, or its time counts
for nothing. Both programs run in turn as processes of their own, the start of the interpreter included. Python's compiled
files are there, as after an installation, whatever the caller's environment says of them. The ratio is the median over the
pairs: what else the machine does weighs on both of a pair.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

RANKS = 16
ROTATE = 20_000_000
SHELL = (
    r"""grep -H "\[ERROR\]" *.log | awk '{ if (match($0, /[0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9]{2}:[0-9]{2}:[0-9]{2}/)) """
    r"""{ k=substr($0,RSTART,RLENGTH); print k"\t"$0 } else { print "9999\t"$0 } }' | sort | cut -f2- | head -20"""
)
ROOT = Path(__file__).parents[1]
_INFO = (
    "[INFO] RUNTIME({pid},python3):{t} [stars_engine.cc:1660]{tid} ProcLogicCqReport:RTS_DRIVER: report receive, stream_id=3, task_id={n}, sq_id=3, sqHead=10, task_type=0(KERNEL_AICORE).\n",
    "[DEBUG] GE({pid},python3):{t} [graph_manager.cc:812]{tid} RunGraph: graph {n} runs with 8 inputs, 8 outputs, stream 3\n",
    "[INFO] HCCL({pid},python3):{t} [op_base.cc:339] [{tid}][HCCL_TRACE]AllReduce tag[AllReduce_w_{n}], count[4096], dataType[fp16], op[sum], take time [1531]us\n",
    "[EVENT] PROFILING({pid},):{t} [msprof_callback_impl.cpp:79] >>> (tid:{tid}) MsprofCtrlCallback called, type: 255, serial {n}\n",
)
_NOISE = (
    '[ERROR] OP({pid},):{t} [kv_tiling.cpp:1680][GetAttrParaInfo][{tid}] OpName:[ccccc] "============ tiling入口 ============"\n',
    "[ERROR] RUNTIME({pid},):{t} [api_impl.cc:2725]{tid} MemCopySync:The current capture mode:threadCaptureMode=0, exchangeCaptureMode=0, contextCaptureMode=0\n",
    "[ERROR] RUNTIME({pid},):{t} [api_c.cc:1081]{tid} rtMemcpy:ErrCode=107030, desc=[the current capture mode does not support this operation], InnerCode=0x703001c\n",
)
_FAULT = "[ERROR] RUNTIME({pid},):{t} [stars_engine.cc:1617]{tid} ProcLogicCqReport:Task run failed, device_id=5, stream_id=80, task_id=202, sqe_type=0(ffts), errType=0x1(task exception), sqSwStatus=0\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Wall time in seconds, peak memory of the whole process tree in MiB (only where it was sampled)."""

    seconds: float
    mib: float = 0.0


def _moment(tick: int) -> str:
    """`tick` counts milliseconds from 09:00."""
    seconds, ms = divmod(tick, 1000)
    return f"2026-11-03-{9 + seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{ms:03d}.{tick % 997:03d}"


def write(folder: Path, mib: int, every: int) -> None:
    """Logs of all ranks, `mib` MiB together, an ERROR every `every` lines."""
    share = (mib << 20) // RANKS
    for rank in range(RANKS):
        _rank(folder, rank, share, every)


def _rank(folder: Path, rank: int, size: int, every: int) -> None:
    pid, done, number = 4100 + rank, 0, 0
    while done < size:
        path = folder / f"plog-{pid}_20261103090000{number:03d}.log"
        with path.open("w", encoding="utf-8") as stream:
            wanted = min(ROTATE, size - done)
            block = _block(rank, pid, number, every)
            while stream.tell() < wanted:
                stream.write(block)
            if rank == 5 and done + wanted >= size:
                stream.write(_FAULT.format(pid=pid, t="2026-11-03-18:00:00.000.001", tid=pid + 90))
        done += wanted
        number += 1


def _block(rank: int, pid: int, number: int, every: int) -> str:
    """Twenty thousand lines."""
    lines = []
    for n in range(20_000):
        forms = _NOISE if (n + rank) % every == 0 else _INFO
        lines.append(forms[n % len(forms)].format(pid=pid, t=_moment(number * 1_000_000 + n), tid=pid + 90, n=n))
    return "".join(lines)


def shell(folder: Path) -> Run:
    return _timed(["sh", "-c", SHELL], folder, check=False)


def ours(folder: Path, *, sample: bool = False) -> Run:
    command = [sys.executable, "-m", "backproof", "triage", str(folder), "--json"]
    return _timed(command, ROOT, check=True, sample=sample)


def _timed(argv: list[str], cwd: Path, *, check: bool, sample: bool = False) -> Run:
    peak = [0.0]
    start = time.perf_counter()
    process = subprocess.Popen(argv, cwd=cwd, stdout=subprocess.PIPE, env=_make_environment())
    if sample:
        threading.Thread(target=_watch, args=(process, peak), daemon=True).start()
    out, _ = process.communicate()
    seconds = time.perf_counter() - start
    if check:
        _hold(out)
    return Run(seconds=seconds, mib=peak[0])


def _make_environment() -> dict[str, str]:
    """Let Python keep what it compiled: without it each start compiles all modules, twice the time of the rest of the start."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": str(Path(tempfile.gettempdir()) / "backproof-bench-bytecode")}


def _hold(out: bytes) -> None:
    first = json.loads(out)["first_fault"]
    if not first or first["kind"] != "aicore" or not first["file"].startswith("plog-4105_"):
        raise SystemExit(f"triage did not name the fault: {first}")


def _watch(process: subprocess.Popen[bytes], peak: list[float]) -> None:
    """Sums the resident memory of the process and all it started; shared pages count once for each."""
    while process.poll() is None:
        peak[0] = max(peak[0], sum(_resident(pid) for pid in _tree(process.pid)) / 1024)
        time.sleep(0.005)


def _tree(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
    except OSError:
        return [pid]
    return [pid, *(each for child in children for each in _tree(int(child)))]


def _resident(pid: int) -> int:
    """KiB."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0)


def measure(name: str, mib: int, every: int, rounds: int, room: Path) -> float:
    """Prints one row; returns the median of the ratios of all pairs."""
    folder = room / name
    folder.mkdir()
    write(folder, mib, every)
    shell(folder), ours(folder)  # both find the files in the page cache
    pairs = [(shell(folder).seconds, ours(folder).seconds) for _ in range(rounds)]
    theirs, mine = (statistics.median(times) for times in zip(*pairs, strict=True))
    ratio = statistics.median(ours / shells for shells, ours in pairs)
    memory = ours(folder, sample=True).mib
    shutil.rmtree(folder)
    print(
        f"{name:7} {mib:5} MiB  shell {theirs:6.2f} s  triage {mine:6.2f} s  ratio {ratio:5.2f}  peak {memory:5.0f} MiB"
    )
    return ratio


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mib", type=int, default=1024, help="size of each set")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="backproof-bench-") as room:
        print(f"{os.cpu_count()} processors, {options.rounds} rounds, medians")
        measure("sparse", options.mib, 5000, options.rounds, Path(room))
        measure("dense", options.mib, 20, options.rounds, Path(room))


if __name__ == "__main__":
    main()
