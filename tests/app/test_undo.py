"""Undo asks the target itself: it works wherever the run folder is, and says what it really did."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
from plain_job import PlainJob, make_job
from target_env import CONV, FILES

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path


@pytest.fixture
def held(tmp_path: Path) -> PlainJob:
    """A run whose fixed arm was left in the target on purpose."""
    job = make_job(tmp_path / "job")
    for stage in ("pick", "fixup", "install"):
        done = job.backproof(*job.arguments(), "--only", stage)
        assert done.returncode == 0, done.stderr
    return job


def undo(job: PlainJob, folder: Path, *more: str, **env: str) -> subprocess.CompletedProcess[str]:
    return job.backproof("run", str(folder), "--undo", *more, **env)


def put_back(job: PlainJob, done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1 target put back\n"
    assert f"{job.target.site}: 1 restored, 1 removed\n" in done.stderr
    assert not (job.target.site / "demo/ops/rows.py").exists()
    assert not (job.target.site / ".backproof-overlay").exists()
    again = undo(job, job.run_folder if job.run_folder.exists() else job.target.site)
    assert (again.returncode, again.stdout) in {(0, "there was nothing to put back\n"), (2, "")}


@pytest.mark.parametrize("state", ["the same state folder", "another state folder"])
def test_the_run_folder_was_moved(held: PlainJob, tmp_path: Path, state: str) -> None:
    moved = held.run_folder.rename(tmp_path / "moved")
    env = {"XDG_STATE_HOME": str(tmp_path / "elsewhere")} if state == "another state folder" else {}
    put_back(held, undo(held, moved, **env))


def test_the_run_folder_is_reached_through_a_link(held: PlainJob, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(held.run_folder)
    put_back(held, undo(held, tmp_path / "link", XDG_STATE_HOME=str(tmp_path / "elsewhere")))


def test_the_run_folder_is_gone_and_the_site_is_named(held: PlainJob, tmp_path: Path) -> None:
    shutil.rmtree(held.run_folder)
    put_back(held, undo(held, held.target.site, XDG_STATE_HOME=str(tmp_path / "elsewhere")))


def test_another_run_does_not_take_it_out(held: PlainJob, tmp_path: Path) -> None:
    other = PlainJob(folder=held.folder, kit=held.kit, upstream=held.upstream, target=held.target, out="other")
    assert held.backproof(*other.arguments(), "--only", "pick").returncode == 0
    done = undo(held, other.run_folder)
    assert (done.returncode, done.stdout) == (0, "there was nothing to put back\n")
    assert (held.target.site / ".backproof-overlay").exists()


def test_a_patch_without_a_journal_is_never_nothing(held: PlainJob) -> None:
    shutil.rmtree(held.target.site / ".backproof-overlay")
    done = undo(held, held.run_folder)
    assert done.returncode == 3, done.stdout
    assert "2 files of the patch still there, without a journal" in done.stderr
    assert CONV in done.stderr


def test_an_upgrade_meanwhile_keeps_what_is_its_own_and_nothing_of_ours(held: PlainJob) -> None:
    site = held.target.site
    (site / "demo-1.0.dist-info").rename(site / "demo-1.1.dist-info")
    (site / CONV).write_bytes(FILES[CONV])
    assert undo(held, held.run_folder).returncode == 3
    done = undo(held, held.run_folder, "--force")
    assert done.returncode == 0, done.stderr
    assert f"{site}: 0 restored, 1 removed; not of the release that was patched, and left: {CONV}" in done.stderr
    assert not (site / "demo/ops/rows.py").exists()


def test_an_upgrade_that_brings_the_added_module_keeps_it(held: PlainJob) -> None:
    site = held.target.site
    info = (site / "demo-1.0.dist-info").rename(site / "demo-1.1.dist-info")
    with (info / "RECORD").open("a") as record:
        record.write("demo/ops/rows.py,,\n")
    done = undo(held, held.run_folder, "--force")
    assert done.returncode == 0, done.stderr
    assert (site / "demo/ops/rows.py").exists()
    assert "left: demo/ops/conv.py, demo/ops/rows.py" in done.stderr


@pytest.mark.parametrize("name", ["../../../outside.txt", "/etc/passwd", ""])
def test_a_journal_that_the_target_wrote_leads_nowhere_else(held: PlainJob, name: str) -> None:
    outside = held.folder / "outside.txt"
    outside.write_text("the user's\n", encoding="utf-8")
    path = held.target.site / ".backproof-overlay/journal.json"
    journal = json.loads(path.read_bytes())
    journal["files"][0]["path"] = name
    path.write_text(json.dumps(journal), encoding="utf-8")
    done = undo(held, held.run_folder, "--force")
    assert done.returncode == 3, done.stdout
    assert "a path leads out of the site" in done.stderr
    assert outside.read_text(encoding="utf-8") == "the user's\n"
