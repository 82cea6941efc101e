"""The campaign can fail: what it looks at is spoiled here, and it says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attempt
import points
import pytest
import run_faults
from backproof.install.overlay import steps

if TYPE_CHECKING:
    from pathlib import Path

    from attempt import Bench

OVERLAID = points.Point(
    stage="install", event="os.rename", path="/target env/lib/python3.*/site-packages/demo/ops/conv.py"
)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return run_faults.bench(tmp_path.resolve() / "bench")


def changing(bench: Bench) -> tuple[points.Point, int]:
    """Where the overlay changes its first file."""
    assert OVERLAID in attempt.recorded(bench, bench.job.arguments())
    attempt.fresh(bench)
    return OVERLAID, 0


def test_a_kill_while_files_are_changed_is_survived(bench: Bench) -> None:
    troubles = attempt.struck(bench, bench.job.arguments(), changing(bench), points.killed)
    assert (troubles.found, troubles.met) == ([], True)


def test_an_undo_that_does_nothing_is_found_out(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    at = changing(bench)
    monkeypatch.setattr(steps, "_restore_file", lambda *_, **__: None)
    troubles = attempt.struck(bench, bench.job.arguments(), at, points.terminated)
    assert any("outside the run folder" in each or "next command ended with" in each for each in troubles.found)


def test_a_folder_that_is_not_valid_is_found_out(bench: Bench) -> None:
    assert attempt.command(bench, bench.job.arguments()) == attempt.PASSED
    troubles = attempt.Troubles()
    attempt.valid(bench.job.run_folder, troubles)
    assert troubles.found == []
    with (bench.job.run_folder / "events.jsonl").open("a") as stream:
        stream.write('{"cut')
    (bench.job.run_folder / "pick" / "pick.mbox").write_text("altered")
    attempt.valid(bench.job.run_folder, troubles)
    assert [each.split(":")[0] for each in troubles.found] == ["evidence differs", "events.jsonl"]


def test_only_an_equal_and_whole_count_is_a_success(capsys: pytest.CaptureFixture[str]) -> None:
    fine, bad = run_faults._row("pick", "SIGKILL", "x", ""), run_faults._row("-", "campaign", "", "a worker died")
    unmet = run_faults._row("pick", "EIO", "y", "", met=False)
    assert run_faults._told([fine, unmet]) == 0
    said = capsys.readouterr().out
    assert said.endswith("tried 1, survived 1\n")
    assert "not met, not counted: pick: EIO at y" in said
    assert run_faults._told([fine, bad]) == 1
    assert capsys.readouterr().out.endswith("tried 2, survived 1\n")
    assert run_faults._told([]) == 1
