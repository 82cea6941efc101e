"""The five outcomes of a triage. An all-clear is only given for logs that were read to their end and hold no error."""

from __future__ import annotations

import gzip
import tarfile
from typing import TYPE_CHECKING

import pytest
from backproof.commands.triage import triage_command
from backproof.triage import rules, triage
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.triage.rules import Rule

BOOK = rules.load_shipped_rules()
HEALTHY_LINES = 10_000
SAFE = (
    "[INFO] RUNTIME(71,python3):2026-11-03-10:15:{s:02d}.118.204 [task.cc:71]71 Process: task {n} of stream 3 done, errors=0",
    "[EVENT] HCCL(71,python3):2026-11-03-10:15:{s:02d}.119.000 [op.cc:9] allreduce {n} took 12 us, error count 0",
    "(Worker_TP0 pid=71) INFO 11-03 10:15:{s:02d} [loggers.py:123] Engine 000: Running: 1 reqs, Waiting: {n} reqs",
    'INFO:     127.0.0.1:{n} - "POST /v1/completions HTTP/1.1" 200 OK',
    "WARNING 11-03 10:15:{s:02d} [config.py:7] no error handler is set; failures are logged, {n}",
    "the run {n} goes on",
)
UNRULED = (
    "ERROR 11-03 10:15:30 [core.py:9] nobody has a rule for this",
    "[ERROR] MADEUP(71,python3):2026-11-03-10:15:30.000.001 [x.cc:1]71 F: nobody has a rule for this",
    "2026-11-03 10:15:30,123 - app - ERROR - nobody has a rule for this",
    "2026-11-03T10:15:30Z CRITICAL nobody has a rule for this",
    '{"ts": 1, "level": "error", "msg": "nobody has a rule for this"}',
    "time=2026-11-03T10:15:30Z level=fatal msg=gone",
    "E1103 10:15:30.000001 71 x.cc:1] nobody has a rule for this",
    "[2026-11-03 10:15:30.000001] [error] [71] nobody has a rule for this",
    "Traceback (most recent call last):",
    "some.module.StrangeError: nobody has a rule for this",
    "FATAL: nobody has a rule for this",
    "Segmentation fault (core dumped)",
    "!!!!!!! Segfault encountered !!!!!!! SIGSEGV",
    "Fatal Python error: Aborted",
    "terminate called after throwing an instance of 'std::runtime_error'",
    "process 71 exited with code -11",
    "worker 3 died, exit code 137",
    "[ 1234.500000] Out of memory: Killed process 71 (python3)",
    "kernel: oom-kill:constraint=CONSTRAINT_MEMCG",
    "panic: runtime error: index out of range",
    "[ 1234.500000] python3[71]: segfault at 0 ip 00007f sp 00007f error 4 in libascendcl.so",
    "Nov  3 10:15:30 node kernel: python3[71]: segfault at 0 ip 00007f sp 00007f error 4",
)


def healthy() -> list[str]:
    return [SAFE[n % len(SAFE)].format(n=n, s=n // 200) for n in range(HEALTHY_LINES)]


def read_outcome(folder: Path, lines: list[str]) -> tuple[str, int]:
    path = folder / "server.log"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    result = triage([path])
    return result.outcome, result.exit_code


def with_line(folder: Path, line: str, at: int) -> tuple[str, int]:
    lines = healthy()
    lines.insert(at, line)
    return read_outcome(folder, lines)


def test_logs_without_an_error_are_healthy(tmp_path: Path) -> None:
    assert read_outcome(tmp_path, healthy()) == ("healthy", 0)


@pytest.mark.parametrize("line", UNRULED)
def test_an_error_that_no_rule_knows_is_never_healthy(tmp_path: Path, line: str) -> None:
    outcome, code = with_line(tmp_path, line, 5_000)
    assert outcome != "healthy"
    assert code != 0


def test_the_error_that_no_rule_knows_is_named(tmp_path: Path) -> None:
    lines = [*healthy(), "FATAL: nobody has a rule for this"]
    (tmp_path / "server.log").write_text("\n".join(lines), encoding="utf-8")
    result = triage([tmp_path])
    assert result.outcome == "errors"
    assert result.earliest_error is not None
    assert (result.earliest_error.file, result.earliest_error.line) == ("server.log", HEALTHY_LINES + 1)
    assert result.earliest_error.text == "nobody has a rule for this"


def is_error(rule: Rule) -> bool:
    return rule.role not in {"noise", "context"}


@settings(deadline=None, max_examples=60)
@given(rule=st.sampled_from([rule for rule in BOOK.rules if is_error(rule)]), at=st.integers(0, HEALTHY_LINES))
def test_a_line_of_any_rule_is_never_healthy(tmp_path_factory: pytest.TempPathFactory, rule: Rule, at: int) -> None:
    outcome, code = with_line(tmp_path_factory.mktemp("log"), rule.example, at)
    assert outcome != "healthy", rule.id
    assert code != 0


@pytest.mark.parametrize("rule", [rule for rule in BOOK.rules if rule.role == "noise"], ids=lambda rule: rule.id)
def test_noise_is_still_healthy(tmp_path: Path, rule: Rule) -> None:
    assert with_line(tmp_path, rule.example, 5_000) == ("healthy", 0)


def test_what_ends_early_is_no_all_clear(tmp_path: Path) -> None:
    packed = gzip.compress("\n".join(healthy()).encode())
    (tmp_path / "server.log.gz").write_bytes(packed[: len(packed) // 2])
    result = triage([tmp_path])
    assert (result.outcome, result.exit_code) == ("unread", 4)
    assert result.unread[0].startswith("server.log.gz ends early")
    assert result.unread[0] in result.verdict


def test_an_archive_that_is_not_unpacked_is_no_all_clear(tmp_path: Path) -> None:
    inner = tmp_path / "node0.7z"
    inner.write_bytes(b"7z\xbc\xaf\x27\x1c" + bytes(100))
    (tmp_path / "fine.log").write_text("\n".join(healthy()))
    outer = tmp_path / "all-nodes.tar"
    with tarfile.open(outer, "w") as archive:
        archive.add(inner, arcname="node0.7z")
        archive.add(tmp_path / "fine.log", arcname="fine.log")
    result = triage([outer])
    assert (result.outcome, result.exit_code) == ("unread", 4)
    assert "node0.7z" in result.unread[0]


def test_a_folder_without_a_log_is_no_all_clear(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    done = CliRunner().invoke(triage_command, [str(tmp_path)])
    assert done.exit_code == 4
    assert "no log was read" in done.output
    assert "No failure" not in done.output


def test_the_command_has_an_exit_code_for_each_outcome(tmp_path: Path) -> None:
    (tmp_path / "fine.log").write_text("\n".join(healthy()))
    assert CliRunner().invoke(triage_command, [str(tmp_path / "fine.log")]).exit_code == 0
    (tmp_path / "bad.log").write_text("FATAL: nobody has a rule for this\n")
    assert CliRunner().invoke(triage_command, [str(tmp_path / "bad.log")]).exit_code == 4
