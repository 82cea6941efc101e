"""One process that has collected the tests of an arm, and forks another for each turn of them."""

from __future__ import annotations

import json
import secrets
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from backproof.adapters import background, proc
from backproof.rundir.ledger import write_atomic
from backproof.upstream_tests.worker import TestLog, prepare_process, replay_events

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from backproof.adapters.background import RunningProcess
    from backproof.upstream_tests.worker import TestJob

_POLL: Final = 0.02
_TAIL: Final = 1500
_COLLECTING: Final = 900.0
"""Seconds that imports may take before the first turn."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CollectedTests:
    """The process that has collected; `run_turn` has it fork."""

    job: TestJob
    name: str
    nonce: str
    process: RunningProcess

    def run_turn(self, name: str, *, deselect: Sequence[str] = (), traced: Sequence[str] | None = ()) -> TestLog:
        """Run all collected tests but some, in a process of their own; `traced` is None for all of them."""
        turns = self.job.work / f"{self.name}.turns"
        events = self.job.work / f"{name}.events.jsonl"
        events.unlink(missing_ok=True)
        facts: dict[str, Any] = {"name": name, "events": str(events), "deselect": list(deselect)}
        facts |= {"traced": list(traced or ()), "all_traced": traced is None}
        write_atomic(turns / f"{name}.turn.json", json.dumps({**facts, "timeout": self.job.timeout}).encode())
        log = TestLog(command=self.process.command, code=self._await_answer(turns / f"{name}.done.json"))
        log.output = self.process.log.read_bytes()[-_TAIL:].decode("utf-8", "replace").strip()
        for file in (self.job.work / f"{self.name}.events.jsonl", events):
            replay_events(file, self.nonce, log)
        return log

    def _await_answer(self, answer: Path) -> int:
        """Return the exit code of a turn; that of the collecting process where it ended before any turn."""
        limit = time.monotonic() + _COLLECTING + self.job.timeout
        while not answer.exists():
            if self.process.code is not None and not answer.exists():
                return self.process.code or 5
            if time.monotonic() > limit:
                return proc.TIMED_OUT
            time.sleep(_POLL)
        return int(json.loads(answer.read_text(encoding="utf-8"))["code"])


@contextmanager
def collect_tests(job: TestJob, name: str) -> Iterator[CollectedTests]:
    """Start the process that collects the tests of a job; it ends with the block."""
    assert job.tree is not None  # noqa: S101 - only a source tree is ours to fork in
    turns = job.work / f"{name}.turns"
    turns.mkdir(parents=True, exist_ok=True)
    for stale in turns.iterdir():
        stale.unlink()
    nonce = secrets.token_hex(8)
    argv, env = prepare_process(replace(job, tree=replace(job.tree, turns=str(turns))), name, nonce)
    with background.start_process(argv, log=job.work / f"{name}.log", cwd=job.root, env=env, grace=2) as process:
        yield CollectedTests(job=job, name=name, nonce=nonce, process=process)
        (turns / "end").touch()
