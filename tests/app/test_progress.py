"""What is shown while a command works: a clock, one live line in a terminal, and never a long silence."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from backproof.app import progress
from backproof.app.progress import SILENCE, Progress
from terminal import record_session

if TYPE_CHECKING:
    from pathlib import Path

LIVE = """
import time
from backproof.app import progress
with progress.shown_progress():
    progress.say("==> validate")
    progress.expect(75)
    progress.say("    arm base: 12 cases")
    time.sleep(1)
    progress.pause()
    print("a result")
"""


class Clock:
    """A clock that a test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_each_line_has_its_time_since_the_start(clock: Clock) -> None:
    lines: list[str] = []
    shown = Progress(lines.append, live=False, clock=clock)
    shown.say("==> pick")
    clock.now += 83
    shown.say("    pass: it lands")
    assert lines == ["[00:00] ==> pick", "[01:23]     pass: it lands"]


def test_a_silence_is_broken_and_says_what_is_still_going_on(clock: Clock) -> None:
    lines: list[str] = []
    shown = Progress(lines.append, live=False, clock=clock)
    shown.break_silence()
    clock.now += SILENCE
    shown.break_silence()
    shown.break_silence()
    shown.say("    arm base: 12 cases")
    clock.now += SILENCE - 0.1
    shown.break_silence()
    clock.now += 0.1
    shown.break_silence()
    assert lines == [
        "[00:08] still at work",
        "[00:08]     arm base: 12 cases",
        "[00:16] still at work: arm base: 12 cases",
    ]


def test_what_is_said_is_only_text(clock: Clock) -> None:
    lines: list[str] = []
    Progress(lines.append, live=False, clock=clock).say("\x1b[31mred\n::error::x")
    assert len(lines) == 1
    assert "\x1b" not in lines[0]
    assert "\n" not in lines[0]


def test_no_command_is_quiet_for_ten_seconds() -> None:
    assert SILENCE < 10


def test_without_a_command_around_it_a_line_is_just_written(capsys: pytest.CaptureFixture[str]) -> None:
    progress.say("hello")
    progress.pause()
    progress.expect(1)
    assert capsys.readouterr().err == "[00:00] hello\n"


def test_in_a_terminal_one_line_is_written_over_and_taken_away(tmp_path: Path) -> None:
    session = record_session([sys.executable, "-c", LIVE], cwd=tmp_path)
    assert session.code == 0
    assert "of about 01:15  validate: arm base: 12 cases" in session.written
    assert [line for line in session.screen if line] == ["a result"]
