"""A service beside us: it ends with the block, with us when we are killed, and with all that it started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from backproof.adapters import background
from backproof.core.errors import HostError
from backproof.serving import bench, ramp
from services import context, serve

if TYPE_CHECKING:
    from pathlib import Path

FAMILY = """
import os, pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
pathlib.Path(sys.argv[1]).write_text(f"{os.getpid()} {child.pid}")
time.sleep(60)
"""
STUBBORN = (
    "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('here', flush=True)\ntime.sleep(60)\n"
)
OURS = """
import pathlib, sys, time
from backproof.adapters import background
with background.start_process([sys.executable, "-c", sys.argv[1], sys.argv[2]], log=pathlib.Path(sys.argv[3]), grace=1):
    time.sleep(60)
"""
VLLM = """
import json, pathlib, sys
words = sys.argv[1:]
if "--fails" in sys.argv or words[:2] != ["bench", "serve"]:
    sys.exit(3)
given = dict(zip(words[2::2], words[3::2]))
result = {"completed": int(given["--num-prompts"]), "failed": 0, "output_throughput": 253.6, "p99_tpot_ms": 31.5, "date": "x"}
pathlib.Path(given["--result-dir"], given["--result-filename"]).write_text(json.dumps(result))
"""


def lives(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stream:  # noqa: PTH123 - /proc
            return stream.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_for(what: Path, seconds: float = 10) -> str:
    limit = time.monotonic() + seconds
    while not (what.exists() and what.read_text()):
        assert time.monotonic() < limit, f"{what} did not come"
        time.sleep(0.02)
    return what.read_text()


def gone(pids: list[int], seconds: float = 10) -> bool:
    limit = time.monotonic() + seconds
    while any(lives(pid) for pid in pids) and time.monotonic() < limit:
        time.sleep(0.05)
    return not any(lives(pid) for pid in pids)


def test_what_a_service_started_ends_with_it(tmp_path: Path) -> None:
    with background.start_process(
        [sys.executable, "-c", FAMILY, str(tmp_path / "pids")], log=tmp_path / "log"
    ) as running:
        pids = [int(pid) for pid in wait_for(tmp_path / "pids").split()]
        assert running.code is None
        assert all(lives(pid) for pid in pids)
    assert gone(pids, 2)


def test_one_that_does_not_listen_is_killed(tmp_path: Path) -> None:
    with background.start_process([sys.executable, "-c", STUBBORN], log=tmp_path / "log", grace=0.3) as running:
        wait_for(tmp_path / "log")
    assert running.code == -signal.SIGKILL


def test_a_service_does_not_outlive_us_when_we_are_killed(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", OURS, FAMILY, str(tmp_path / "pids"), str(tmp_path / "log")]
    ours = subprocess.Popen(argv)
    pids = [int(pid) for pid in wait_for(tmp_path / "pids").split()]
    assert all(lives(pid) for pid in pids)
    os.kill(ours.pid, signal.SIGKILL)
    ours.wait(10)
    assert gone(pids)


def test_a_program_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with (
        pytest.raises(HostError, match="cannot be started"),
        background.start_process(["/nonexistent"], log=tmp_path / "log"),
    ):
        pass


@pytest.fixture
def with_vllm(tmp_path: Path) -> dict[str, str]:
    """A target that has `vllm bench serve`, as far as its command line goes."""
    site = tmp_path / "site"
    for folder in ("vllm", "vllm/benchmarks", "vllm/entrypoints", "vllm/entrypoints/cli"):
        (site / folder).mkdir(parents=True)
        (site / folder / "__init__.py").write_text("")
    (site / "vllm" / "benchmarks" / "serve.py").write_text("")
    (site / "vllm" / "entrypoints" / "cli" / "main.py").write_text(VLLM)
    return {"PYTHONPATH": str(site)}


def test_the_targets_own_benchmark_measures_where_there_is_one(tmp_path: Path, with_vllm: dict[str, str]) -> None:
    plan = serve(bench=True, concurrency=(1, 2))
    made = context(tmp_path / "round", plan, env={**with_vllm, "ASCEND_PROCESS_LOG_PATH": str(tmp_path)})
    done = ramp.run_round(made)
    assert done.observed == "pass"
    assert done.steps[-1].bench == {"completed": 4.0, "failed": 0.0, "output_throughput": 253.6, "p99_tpot_ms": 31.5}
    assert (tmp_path / "round" / "bench-2.json").exists()
    without = ramp.run_round(context(tmp_path / "other", plan))
    assert [step.bench for step in without.steps] == [None, None]


@pytest.mark.parametrize("text", ["", "[1]", "{}", '{"completed": "many"}', "{"])
def test_a_benchmark_that_says_nothing_is_no_number(tmp_path: Path, text: str) -> None:
    file = tmp_path / "bench.json"
    file.write_text(text)
    assert bench.read_numbers(file) is None
    assert bench.read_numbers(tmp_path / "absent.json") is None
