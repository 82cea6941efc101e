"""`backproof ... | head`: whatever ends before all output is read does not make a backport bad."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from backproof.core.errors import ExitCode

if TYPE_CHECKING:
    from pathlib import Path

LOG = (
    "[ERROR] RUNTIME(1,python): 2026-01-02-03:04:05.000.001 [a.cc:1] aicore error, retCode=0x26, [aicore exception].\n"
)

BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
"""Unbuffered, nothing is left for the last flush, and Python takes a write that was cut short for a whole one."""


def call(*args: str, stderr: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command with a standard output that nobody reads any more; stderr: likewise, where it is not given."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return subprocess.run(
            [sys.executable, "-m", "backproof", *args],
            stdout=writer,
            stderr=writer if stderr is None else stderr,
            text=True,
            check=False,
            env=BUFFERED,
        )
    finally:
        os.close(writer)


@pytest.mark.parametrize("args", [("--help",), ("--version",), ("plan", "schema"), ("run", "--help")])
def test_text_that_nobody_reads_is_no_bad_backport(args: tuple[str, ...]) -> None:
    done = call(*args, stderr=subprocess.PIPE)
    assert done.returncode == ExitCode.ERROR
    assert done.stderr.startswith(
        "error: the output was cut off\n  why: the program that reads it ended first\n  next: "
    )
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_a_table_that_nobody_reads_is_no_bad_backport(tmp_path: Path) -> None:
    """Tables are written by rich, which has an exit code of its own for this: 1."""
    (tmp_path / "a.log").write_text(LOG)
    done = call("triage", str(tmp_path), stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr.splitlines()[0]) == (ExitCode.ERROR, "error: the output was cut off")


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("--help",), ExitCode.ERROR),
        (("triage", "."), ExitCode.ERROR),
        (("nonsense",), ExitCode.USAGE),
        (("plan", "check", "nothing"), ExitCode.USAGE),
    ],
)
def test_the_exit_code_holds_where_nobody_reads_the_error_either(args: tuple[str, ...], code: ExitCode) -> None:
    assert call(*args).returncode == code


def test_a_reader_that_has_read_enough_is_no_bad_backport() -> None:
    reader, writer = os.pipe()
    # Less than the schema, so that the command still writes when the first line has been read.
    fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
    command = [sys.executable, "-m", "backproof", "plan", "schema"]
    with subprocess.Popen(command, stdout=writer, stderr=subprocess.PIPE, env=BUFFERED) as process:
        os.close(writer)
        assert os.read(reader, 2) == b"{\n"
        os.close(reader)
        process.communicate()
    assert process.returncode == ExitCode.ERROR
