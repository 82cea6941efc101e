"""The overlay puts a patch into site-packages whole or not at all, and takes it out without a trace."""

from __future__ import annotations

import os
import py_compile
import shutil
from pathlib import Path

import pytest
from backproof.core.errors import ExitCode, HostError, NeedsReview, PlanError
from backproof.install import overlay
from backproof.install.overlay import Change, OverlaySession, registry
from overlay_site import GUARDS, NEW, OLD, build, changes, one_more, picture, tag


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return build(tmp_path / "a folder" / "site-packages")


def _try(site: Path, *changed: Change) -> None:
    with overlay.install_changes(site, changed or changes(), owner="run 1"):
        pass


def test_changes_are_in_place_and_then_gone(site: Path) -> None:
    before = picture(site)
    with overlay.install_changes(site, changes(), owner="run 1", guards=GUARDS):
        assert (site / "demo/a.py").read_bytes() == NEW
        assert (site / "demo/a.py").stat().st_mode & 0o777 == 0o640
        assert not (site / "demo/gone.py").exists()
        assert (site / "demo/new/deep/more.py").read_bytes() == b"VALUE = 4\n"
        assert registry.list_sites() == [site]
    assert picture(site) == before
    assert registry.list_sites() == []


def test_the_installers_cache_is_not_written_through(site: Path) -> None:
    with overlay.install_changes(site, changes(), owner="run 1"):
        assert (site.parent / "cached-by-installer.py").read_bytes() == OLD


def test_compiled_files_of_the_patched_modules_are_out_of_the_way(site: Path) -> None:
    with overlay.install_changes(site, changes(), owner="run 1"):
        left = {each.name for each in (site / "demo").rglob("*.pyc")}
        assert left == {f"other.{tag()}.pyc"}


def test_what_was_compiled_meanwhile_goes_with_the_patch(site: Path) -> None:
    before = picture(site)
    with overlay.install_changes(site, changes(), owner="run 1"):
        for name in ("a.py", "b.py", "new/deep/more.py"):
            py_compile.compile(str(site / "demo" / name), doraise=True)
            py_compile.compile(str(site / "demo" / name), optimize=2, doraise=True)
    assert picture(site) == before


def test_a_compiled_file_of_the_same_second_and_size_does_not_outlive_the_patch(site: Path) -> None:
    (site / "demo/a.py").write_bytes(OLD)  # its time is now, as in a fresh installation
    with overlay.install_changes(site, changes(), owner="run 1"):
        new = (site / "demo/a.py").stat()
    assert int(new.st_mtime) != int((site / "demo/a.py").stat().st_mtime)


def test_an_installed_file_that_is_not_the_releases_stops_everything(site: Path) -> None:
    (site / "demo/a.py").write_bytes(b"VALUE = 'mine'\n")
    (site / "demo/gone.py").unlink()
    (site / "demo/added.py").write_bytes(b"not of the release\n")
    (site / "demo/b.py").write_bytes(b"VALUE = 'longer'\n")
    before = picture(site)
    with pytest.raises(NeedsReview) as caught:
        _try(site)
    assert caught.value.exit_code == ExitCode.PERSON
    for line in ("demo/a.py: SHA-256", "demo/b.py: holds the patched", "demo/gone.py: is missing", "demo/added.py: is"):
        assert line in caught.value.why
    assert picture(site) == before


@pytest.mark.parametrize("path", ["../escape.py", "/etc/passwd", ".backproof-overlay/journal.json", "", "demo/../a.py"])
def test_a_path_that_leads_out_is_refused(site: Path, path: str) -> None:
    with pytest.raises(NeedsReview, match="not the release's own"):
        _try(site, Change(path=path, before=None, new=b""))


def test_a_symbolic_link_is_refused(site: Path) -> None:
    shared = site.parent / "shared.py"
    (site / "demo/a.py").rename(shared)
    (site / "demo/a.py").symlink_to(shared)
    with pytest.raises(NeedsReview) as caught:
        _try(site)
    assert "demo/a.py is a symbolic link" in caught.value.why


def test_the_base_arm_is_checked_and_not_touched(site: Path) -> None:
    before = picture(site)
    same = Change(path="demo/a.py", before=changes()[0].before, new=OLD)
    with overlay.install_changes(site, (same,), owner="run 1"):
        assert picture(site) == before
    (site / "demo/a.py").write_bytes(NEW)
    with pytest.raises(NeedsReview):
        _try(site, same)


def test_one_arm_after_the_other_within_an_open_session(site: Path) -> None:
    before = picture(site)
    session = OverlaySession.open(site, owner="run 1")
    session.apply(changes(), guards=GUARDS)
    with overlay.install_changes(site, one_more(), owner="run 1"):
        assert (site / "demo/a.py").read_bytes() == OLD
        assert (site / "demo/other.py").read_bytes() == NEW
    assert (site / "demo/a.py").read_bytes() == NEW
    assert (site / "demo/other.py").read_bytes() == OLD
    session.close()
    assert picture(site) == before


def test_what_is_held_stays_until_it_is_undone(site: Path) -> None:
    before = picture(site)
    session = OverlaySession.open(site, owner="run 1")
    session.apply(changes())
    session.hold()
    session.close()
    assert not overlay.recover_site(site)
    assert overlay.recover_all_sites(print) == ()
    with pytest.raises(HostError, match="another run holds") as caught:
        OverlaySession.open(site, owner="run 2")
    assert "run 1" in caught.value.why
    assert "--undo" in caught.value.next_step
    with overlay.install_changes(site, (), owner="run 1"):
        assert (site / "demo/a.py").read_bytes() == OLD
    assert (site / "demo/a.py").read_bytes() == NEW
    assert overlay.undo_overlay(site)
    assert picture(site) == before
    assert not overlay.undo_overlay(site)


def test_a_file_edited_meanwhile_is_left_and_its_original_kept(site: Path) -> None:
    before = picture(site)
    session = OverlaySession.open(site, owner="run 1")
    session.apply(changes())
    (site / "demo/a.py").write_bytes(b"VALUE = 'a person wrote this'\n")
    with pytest.raises(NeedsReview) as caught:
        session.close()
    kept = site / ".backproof-overlay/originals/demo/a.py"
    assert str(kept) in caught.value.why
    assert kept.read_bytes() == OLD
    assert "--force" in caught.value.next_step
    assert (site / "demo/a.py").read_bytes() == b"VALUE = 'a person wrote this'\n"
    assert (site / "demo/b.py").read_bytes() == OLD
    assert not (site / "demo/added.py").exists()
    with pytest.raises(NeedsReview):
        overlay.undo_overlay(site)
    assert overlay.undo_overlay(site, force=True)
    assert picture(site) == before


def test_a_new_file_edited_meanwhile_is_left(site: Path) -> None:
    session = OverlaySession.open(site, owner="run 1")
    session.apply(changes())
    (site / "demo/added.py").write_bytes(b"mine\n")
    with pytest.raises(NeedsReview, match="1 file changed"):
        session.close()
    assert (site / "demo/added.py").read_bytes() == b"mine\n"


def test_a_file_that_someone_put_back_is_fine(site: Path) -> None:
    session = OverlaySession.open(site, owner="run 1")
    session.apply(changes())
    (site / "demo/a.py").unlink()
    (site / "demo/a.py").write_bytes(OLD)
    session.close()
    assert (site / "demo/a.py").read_bytes() == OLD
    assert not (site / ".backproof-overlay").exists()


@pytest.mark.parametrize("how", ["upgraded", "uninstalled"])
def test_another_installation_meanwhile_is_not_touched(site: Path, how: str) -> None:
    session = OverlaySession.open(site, owner="run 1")
    session.apply(changes(), guards=GUARDS)
    record = site / "demo-1.0.dist-info"
    if how == "upgraded":
        record.rename(site / "demo-1.1.dist-info")
    else:
        shutil.rmtree(record)
        shutil.rmtree(site / "demo")
    now = picture(site)
    with pytest.raises(NeedsReview, match="upgraded or removed"):
        session.close()
    assert picture(site) == now
    assert overlay.undo_overlay(site, force=True)
    assert not (site / ".backproof-overlay").exists()


def test_a_live_owner_in_this_process_is_named(site: Path) -> None:
    session = OverlaySession.open(site, owner="run 1")
    session.apply(changes())
    with (
        pytest.raises(HostError, match="another run works") as caught,
        overlay.install_changes(site, (), owner="run 2"),
    ):
        pass
    assert "run 1" in caught.value.why
    session.close()


def test_a_damaged_journal_is_a_persons_decision(site: Path) -> None:
    session = OverlaySession.open(site, owner="run 1")
    session.apply(changes())
    session.held = True
    session.close()
    (site / ".backproof-overlay/journal.json").write_text("{", encoding="utf-8")
    with pytest.raises(NeedsReview, match="cannot be read") as caught:
        overlay.recover_site(site)
    assert "originals" in caught.value.next_step
    said: list[str] = []
    assert overlay.recover_all_sites(said.append) == ()
    assert "cannot be read" in said[0]


def test_no_folder_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="not a readable folder"):
        OverlaySession.open(tmp_path / "nowhere", owner="run 1")


def test_a_registry_that_cannot_be_written_is_a_warning(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with overlay.install_changes(site, changes(), owner="run 1") as session:
        assert "cannot be written" in session.warning


def test_a_rename_is_enough_where_links_are_forbidden(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = picture(site)

    def refused(self: Path, target: Path) -> None:
        if "originals" in self.parts:  # as fs.protected_hardlinks does for the file of another user
            raise PermissionError(1, "Operation not permitted")
        os.link(target, self)

    monkeypatch.setattr(Path, "hardlink_to", refused)
    with overlay.install_changes(site, changes(), owner="run 1"):
        assert (site / "demo/a.py").read_bytes() == NEW
    assert picture(site) == before


def test_an_edit_between_a_kill_and_the_next_command_stays(site: Path) -> None:
    session = OverlaySession.open(site, owner="run 1")
    steps = session.apply_steps(changes())
    while next(steps) != "kept demo/a.py":
        pass
    (site / "demo/a.py").write_bytes(b"VALUE = 'edited in place'\n")  # one inode under two names at this moment
    steps.close()
    session.close()
    assert (site / "demo/a.py").read_bytes() == b"VALUE = 'edited in place'\n"
    assert not (site / ".backproof-overlay").exists()


def test_a_note_of_an_environment_that_is_gone_is_dropped(site: Path) -> None:
    registry.register_site(site)
    shutil.rmtree(site)
    assert overlay.recover_all_sites(print) == ()
    assert registry.list_sites() == []


def test_the_journal_of_a_linked_environment_is_not_ours_to_undo(site: Path, tmp_path: Path) -> None:
    with overlay.install_changes(site, changes(), owner="run 1"):
        linked = build(tmp_path / "linked")
        (linked / ".backproof-overlay").symlink_to(site / ".backproof-overlay")
        with pytest.raises(NeedsReview, match="is a link"), overlay.install_changes(linked, changes(), owner="run 2"):
            pass
        assert (site / ".backproof-overlay" / "originals").is_dir()
    assert not (site / ".backproof-overlay").exists()
    assert (site / "demo/a.py").read_bytes() == OLD
