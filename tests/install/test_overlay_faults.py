"""Killed after every step, a full disk, a read-only file system, two at once: the target is as it was."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from backproof.core.errors import ExitCode, HostError
from backproof.install import overlay
from backproof.install.overlay import Change, OverlaySession, registry
from overlay_site import GUARDS, NEW, build, changes, one_more, picture

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def _in_child(body: Callable[[], object]) -> int:
    """Run in a process of its own (a fork: a hundred of them take seconds); the end by a signal is negative."""
    child = os.fork()
    if child == 0:
        try:
            body()
        finally:
            os._exit(99)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _die_after(steps: Iterator[str], count: int) -> None:
    for done, _ in enumerate(steps):
        if done == count:
            os.kill(os.getpid(), signal.SIGKILL)


def _apply_then_die(site: Path, count: int) -> None:
    _die_after(OverlaySession.open(site, owner="killed").apply_steps(changes(), guards=GUARDS), count)


def _revert_then_die(site: Path, count: int) -> None:
    session = OverlaySession.open(site, owner="killed")
    session.apply(changes(), guards=GUARDS)
    _die_after(session.revert_steps(), count)


def _counts(tmp_path: Path) -> dict[Callable[[Path, int], None], int]:
    site = build(tmp_path / "counted" / "site")
    session = OverlaySession.open(site, owner="count")
    putting = sum(1 for _ in session.apply_steps(changes(), guards=GUARDS))
    taking_out = sum(1 for _ in session.revert_steps())
    session.close()
    return {_apply_then_die: putting, _revert_then_die: taking_out}


@pytest.mark.parametrize("die", [_apply_then_die, _revert_then_die])
def test_killed_after_any_step(tmp_path: Path, die: Callable[[Path, int], None]) -> None:
    steps = _counts(tmp_path)[die]
    assert steps > 15
    for count in range(steps):
        site = build(tmp_path / f"step {count}" / "site")
        before = picture(site)
        assert _in_child(lambda site=site, count=count: die(site, count)) == -signal.SIGKILL  # type: ignore[misc]
        overlay.recover_all_sites(print)
        assert picture(site) == before, f"after step {count}"
        assert registry.list_sites() == []


def test_killed_at_any_moment(tmp_path: Path) -> None:
    dice = random.Random(19353)  # noqa: S311 - a repeatable choice of moments
    for turn in range(25):
        site = build(tmp_path / f"turn {turn}" / "site")
        before = picture(site)
        child = os.fork()
        if child == 0:
            while True:
                with overlay.install_changes(site, changes(), owner="killed", guards=GUARDS):
                    pass
        time.sleep(dice.uniform(0.001, 0.08))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        overlay.recover_site(site)
        assert picture(site) == before, f"turn {turn}"


def test_a_switch_of_arms_that_is_killed_leaves_the_release(tmp_path: Path) -> None:
    site = build(tmp_path / "site")
    before = picture(site)

    def body() -> None:
        session = OverlaySession.open(site, owner="killed")
        session.apply(changes())
        session.hold()
        with overlay.install_changes(site, one_more(), owner="killed"):
            os.kill(os.getpid(), signal.SIGKILL)

    assert _in_child(body) == -signal.SIGKILL
    assert overlay.recover_site(site)
    assert picture(site) == before


def test_the_next_run_undoes_what_a_dead_owner_left(tmp_path: Path) -> None:
    site = build(tmp_path / "site")
    before = picture(site)
    _in_child(lambda: _revert_then_die(site, 0))
    session = OverlaySession.open(site, owner="next")
    assert picture(site) == before
    session.close()


_LIVING = """
import sys
from pathlib import Path
from overlay_site import changes
from backproof.install.overlay import OverlaySession
session = OverlaySession.open(Path(sys.argv[1]), owner="the living")
session.apply(changes())
print("ready", flush=True)
sys.stdin.read()
session.close()
"""


def test_a_live_process_is_named_and_left_alone(tmp_path: Path) -> None:
    site = build(tmp_path / "site")
    before = picture(site)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", _LIVING, str(site)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == b"ready\n"
        with pytest.raises(HostError, match="another run works") as caught:
            OverlaySession.open(site, owner="second")
        assert caught.value.exit_code == ExitCode.ERROR
        assert f"the run the living (process {other.pid})" in caught.value.why
        assert not overlay.recover_site(site)
        with pytest.raises(HostError):
            overlay.undo_overlay(site)
        assert (site / "demo/a.py").read_bytes() == NEW
        other.stdin.close()
        assert other.wait(60) == 0
    assert picture(site) == before


@contextmanager
def _mounted(folder: Path, size: str) -> Iterator[Path]:
    """A small file system of its own."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        pytest.skip(f"a file system cannot be mounted here: {made.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_changes_nothing(tmp_path: Path) -> None:
    big = Change(path="demo/big.py", before=None, new=b"#" * 400_000)
    with _mounted(tmp_path / "small", "256k") as disk:
        site = build(disk / "site")
        before = picture(site)
        with pytest.raises(HostError, match="could not be changed") as caught:
            OverlaySession.open(site, owner="run 1").apply((*changes(), big))
        overlay.session.OPEN.pop(site).close()
        assert "No space left" in caught.value.why
        assert "free some space" in caught.value.next_step
        assert picture(site) == before
        assert registry.list_sites() == []


def test_the_undo_needs_no_space(tmp_path: Path) -> None:
    with _mounted(tmp_path / "small", "512k") as disk:
        site = build(disk / "site")
        before = picture(site)
        with overlay.install_changes(site, changes(), owner="run 1"):
            with pytest.raises(OSError, match="No space"):
                (disk / "filler").write_bytes(b"#" * 1_000_000)
            assert (site / "demo/a.py").read_bytes() == NEW
        assert picture(site) == before


def test_a_read_only_file_system_is_a_host_error(tmp_path: Path) -> None:
    with _mounted(tmp_path / "small", "512k") as disk:
        site = build(disk / "site")
        before = picture(site)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with pytest.raises(HostError) as caught, overlay.install_changes(site, changes(), owner="run 1"):
            pass
        assert "Read-only" in caught.value.why
        assert picture(site) == before


def test_a_folder_of_another_user_is_a_host_error(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to become another user")
    for folder in (tmp_path, *tmp_path.parents):  # pytest closes its folders to others
        if "pytest-" in str(folder):
            folder.chmod(0o755)
    site = build(tmp_path / "site")
    before = picture(site)

    def body() -> None:
        os.setgid(65534)
        os.setuid(65534)
        try:
            with overlay.install_changes(site, changes(), owner="run 1"):
                pass
        except HostError as error:
            os._exit(0 if "own" in error.next_step and "Permission" in error.why else 1)

    assert _in_child(body) == 0
    assert picture(site) == before
