"""The server's own log: what its numbers rule out, slow or stuck, where the stack stood."""

from __future__ import annotations

from pathlib import Path

import pytest
from backproof.triage import TriageResult, triage

FAULT = "[ERROR] RUNTIME(90,):2027-02-14-10:05:00.000.001 [stars_engine.cc:1]8 ProcLogicCqReport:Task run failed, device_id=1, stream_id=2, task_id=3, sqe_type=0(ffts), errType=0x1(task exception), sqSwStatus=0\n"


def load(minute: int, *, tokens: float = 253.6, running: int = 8, waiting: int = 0, cache: float = 1.0) -> str:
    return (
        f"(APIServer pid=80) INFO 02-14 10:{minute:02d}:00 [loggers.py:259] Engine 000: Avg prompt throughput: 0.0 tokens/s, "
        f"Avg generation throughput: {tokens} tokens/s, Running: {running} reqs, Waiting: {waiting} reqs, "
        f"GPU KV cache usage: {cache}%, Prefix cache hit rate: 0.0%\n"
    )


def answer(folder: Path, log: str, plog: str = FAULT) -> TriageResult:
    (folder / "server.log").write_text(log, encoding="utf-8")
    (folder / "plog-90_20270214090000000.log").write_text(plog, encoding="utf-8")
    return triage([folder])


def verdicts(result: TriageResult) -> dict[str, str]:
    assert result.server is not None
    return {row.hypothesis: row.verdict for row in result.server.hypotheses}


def test_a_small_cache_and_nobody_waiting_rule_capacity_out(tmp_path: Path) -> None:
    verdict_of = verdicts(answer(tmp_path, load(1) + load(2, cache=0.9)))
    assert verdict_of["KV cache or state pool is full"] == "ruled out"
    assert verdict_of["requests were preempted"] == "ruled out"
    assert verdict_of["the device ran out of memory"] == "ruled out"


def test_a_full_cache_is_not_ruled_out(tmp_path: Path) -> None:
    verdict_of = verdicts(answer(tmp_path, load(1, waiting=9, cache=97.5)))
    assert verdict_of["KV cache or state pool is full"] == "possible"
    assert verdict_of["requests were preempted"] == "possible"


def test_what_comes_after_the_fault_does_not_count(tmp_path: Path) -> None:
    verdict_of = verdicts(answer(tmp_path, load(1) + load(9, waiting=50, cache=99.0)))
    assert verdict_of["KV cache or state pool is full"] == "ruled out"


@pytest.mark.parametrize(
    ("log", "pace"),
    [
        (load(1) + load(2), "running"),
        (load(1) + load(2, tokens=10.0), "slow"),
        (load(1, tokens=0.0) + load(2, tokens=0.0), "stuck"),
        (
            load(1)
            + "(EngineCore pid=81) INFO 02-14 10:03:00 [shm_broadcast.py:466] No available shared memory broadcast block found in 60 seconds.\n",
            "stuck",
        ),
        ("(Worker_TP0 pid=9) ERROR 02-14 10:03:00 [a.py:1] ValueError: x\n", "unknown"),
    ],
)
def test_slow_or_stuck(tmp_path: Path, log: str, pace: str) -> None:
    server = answer(tmp_path, log).server
    assert server is not None
    assert server.pace == pace


def test_the_stack_and_who_raised(tmp_path: Path) -> None:
    lines = "".join(
        f"(Worker_TP{rank} pid={90 + rank}) {level} 02-14 10:05:01 [multiproc_executor.py:900] {text}\n"
        for rank, level, text in [
            (0, "INFO", "ready"),
            (14, "ERROR", "Traceback (most recent call last):"),
            (14, "ERROR", '  File "/srv/worker.py", line 12, in execute_model'),
            (14, "ERROR", '  File "/srv/acl_graph.py", line 210, in __call__'),
            (14, "ERROR", "RuntimeError: NPU function error: synchronize, error code is 507011"),
        ]
    )
    server = answer(tmp_path, lines).server
    assert server is not None
    assert server.spread == "single rank"
    assert server.ranks == (14,)
    assert server.stack == ("/srv/worker.py:12 in execute_model", "/srv/acl_graph.py:210 in __call__")


def test_no_server_log_no_server(tmp_path: Path) -> None:
    (tmp_path / "plog-90_20270214090000000.log").write_text(FAULT, encoding="utf-8")
    assert triage([tmp_path]).server is None
