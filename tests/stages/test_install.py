"""The install stage: the fixed arm is in site-packages whole or not at all, and the arms change places cleanly."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from backproof.core.errors import ExitCode, HostError, NeedsReview, PlanError
from backproof.core.model import Arm, Outcome
from backproof.install import arms, overlay
from backproof.records.proof import InstallRecord
from backproof.rundir.ledger import sha256_of
from backproof.stages import install as stage
from contexts import begin_again
from installed_kit import BACKEND, NEW, Prepared, prepare
from overlay_site import picture
from target_env import CONV, FILES, FIXED, Target, install, make

if TYPE_CHECKING:
    from repositories import Repository


@pytest.fixture
def prepared(tmp_path: Path, upstream: Repository) -> Prepared:
    return prepare(tmp_path, upstream)


def _record(prepared: Prepared) -> InstallRecord:
    record = prepared.ctx.ledger.read_record("install/install.json", InstallRecord)
    assert record is not None
    return record


def test_the_fixed_arm_is_installed_and_undone(prepared: Prepared) -> None:
    site = prepared.target.site
    before = picture(prepared.target.folder)
    result = stage.run(prepared.ctx)
    assert result.outcome is Outcome.PASS
    assert (site / CONV).read_bytes() == FIXED
    assert (site / NEW).read_bytes() == b"ROWS = 1\n"
    record = _record(prepared)
    assert [each.path for each in record.files] == [f"src/{CONV}", f"src/{NEW}"]
    assert record.outside == ("csrc/conv.cpp", "tests/test_conv.py")
    assert all(prepared.ctx.ledger.holds(each) for each in result.evidence)
    assert {each.where for each in result.findings} == {"csrc/conv.cpp", "tests/test_conv.py"}
    prepared.ctx.effects.close()
    assert picture(prepared.target.folder) == before


def test_held_stays_and_the_run_folder_takes_it_out(prepared: Prepared) -> None:
    before = picture(prepared.target.folder)
    ctx = replace(prepared.ctx, hold=True)
    result = stage.run(ctx)
    ctx.effects.close()
    assert (prepared.target.site / CONV).read_bytes() == FIXED
    site = prepared.target.site
    assert any(f"`backproof run '{site}' --undo`" in each.text for each in result.findings)
    assert stage.run(ctx).outcome is Outcome.PASS  # again, by the same run
    ctx.effects.close()
    shutil.rmtree(ctx.ledger.folder)
    assert overlay.list_sites_of(ctx.ledger.folder, ctx.run.id, ()) == [site]
    assert overlay.undo_overlay(site) == overlay.Undone(
        site=site, restored=(CONV,), removed=("demo/ops/rows.py",), left=()
    )
    assert picture(prepared.target.folder) == before


def test_another_run_is_told_who_holds_it(prepared: Prepared, tmp_path: Path) -> None:
    ctx = replace(prepared.ctx, hold=True)
    stage.run(ctx)
    ctx.effects.close()
    shutil.copytree(ctx.ledger.folder, tmp_path / "second")
    other = replace(prepared.ctx, ledger=type(ctx.ledger)(tmp_path / "second"))
    with pytest.raises(HostError, match="another run holds") as caught:
        stage.run(other)
    assert str(ctx.ledger.folder) in str(caught.value)
    overlay.undo_overlay(prepared.target.site)


@pytest.mark.parametrize("held", [False, True])
def test_the_arms_change_places_and_fixed_comes_back(prepared: Prepared, held: bool) -> None:
    before = picture(prepared.target.folder)
    ctx = replace(prepared.ctx, hold=held)
    stage.run(ctx)
    if held:
        ctx.effects.close()
    site = prepared.target.site
    for arm, content in ((Arm.BASE, FILES[CONV]), (Arm.PICK, FIXED), (Arm.FIXED, FIXED)):
        with arms.install_arm(ctx, arm) as hashes:
            assert (site / CONV).read_bytes() == content
            assert (site / NEW).exists() == (arm is not Arm.BASE)
            now = {path: sha256_of(Path(path)) if Path(path).exists() else None for path in hashes}
            assert now == hashes
        assert (site / CONV).read_bytes() == FIXED
    ctx.effects.close()
    if held:
        overlay.undo_overlay(site)
    assert picture(prepared.target.folder) == before


def test_an_interpreter_without_the_distribution(prepared: Prepared) -> None:
    shutil.rmtree(prepared.target.site / "demo-1.0.dist-info")
    before = picture(prepared.target.folder)
    with pytest.raises(PlanError, match="demo is not installed there") as caught:
        stage.run(prepared.ctx)
    assert caught.value.exit_code == ExitCode.USAGE
    assert "--python" in caught.value.next_step
    assert picture(prepared.target.folder) == before


def test_a_drifted_file_is_a_persons_decision(prepared: Prepared) -> None:
    prepared.target.write(CONV, b"def answer():\n    return 'mine'\n")
    before = picture(prepared.target.folder)
    with pytest.raises(NeedsReview) as caught:
        stage.run(prepared.ctx)
    assert CONV in caught.value.why
    prepared.ctx.effects.close()
    assert picture(prepared.target.folder) == before


def test_an_editable_installation_without_its_checkout_is_refused(prepared: Prepared) -> None:
    prepared.target.write("demo-1.0.dist-info/direct_url.json", b'{"url":"file:///src","dir_info":{"editable":true}}')
    with pytest.raises(PlanError, match="editable") as caught:
        stage.run(prepared.ctx)
    assert "file:///src" in caught.value.why
    assert "environment of its own" in caught.value.next_step


def test_a_patch_that_touches_nothing_installed(tmp_path: Path, upstream: Repository) -> None:
    prepared = prepare(tmp_path, upstream, change={"tests/test_conv.py": "assert 1\n"})
    with pytest.raises(PlanError, match="installs no file of the patch") as caught:
        stage.run(prepared.ctx)
    assert "tests/test_conv.py" in caught.value.why


def test_without_record_nobody_can_tell(prepared: Prepared) -> None:
    (prepared.target.site / "demo-1.0.dist-info/RECORD").unlink()
    with pytest.raises(PlanError, match="has no RECORD"):
        stage.run(begin_again(prepared.ctx))


@pytest.mark.parametrize("what", ["another version", "another build of it", "nothing"])
def test_another_target_than_the_run_began_with_is_refused(prepared: Prepared, what: str) -> None:
    info = prepared.target.site / "demo-1.0.dist-info"
    before = picture(prepared.target.folder)
    if what == "another version":
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: demo\nVersion: 1.1\n")
    elif what == "another build of it":
        (info / "RECORD").write_text((info / "RECORD").read_text() + "demo/_extra.py,,\n")
    else:
        shutil.rmtree(info)
    changed = picture(prepared.target.folder)
    assert changed != before
    with pytest.raises(PlanError) as caught:
        stage.run(prepared.ctx)
    if what != "nothing":
        assert "this run was begun with demo 1.0 (RECORD " in caught.value.what
        assert "it has demo 1." in caught.value.what
        assert "new folder" in caught.value.next_step
    assert picture(prepared.target.folder) == changed


@pytest.fixture
def with_pip(tmp_path: Path) -> Target:
    made = make(tmp_path / "with pip")
    subprocess.run([str(made.python), "-m", "ensurepip", "--default-pip"], check=True, capture_output=True)
    install(made)
    return made


def test_pip_builds_and_the_journal_installs(tmp_path: Path, upstream: Repository, with_pip: Target) -> None:
    prepared = prepare(tmp_path, upstream, mode="pip", target=with_pip)
    before = picture(with_pip.folder)
    assert stage.run(prepared.ctx).outcome is Outcome.PASS
    assert (with_pip.site / CONV).read_bytes() == FIXED
    assert (with_pip.site / NEW).exists()
    assert NEW in (with_pip.site / "demo-1.0.dist-info/RECORD").read_text()
    for arm in Arm:
        with arms.install_arm(prepared.ctx, arm):
            assert (with_pip.site / CONV).read_bytes() == (FILES[CONV] if arm is Arm.BASE else FIXED)
    prepared.ctx.effects.close()
    assert picture(with_pip.folder) == before


def test_pip_may_change_the_version(tmp_path: Path, upstream: Repository, with_pip: Target) -> None:
    change: dict[str, str | bytes | None] = {
        "backend.py": BACKEND.replace("1.0", "1.1").replace("Wheel-Version: 1.1", "Wheel-Version: 1.0"),
        f"src/{CONV}": FIXED,
    }
    prepared = prepare(tmp_path, upstream, mode="pip", target=with_pip, change=change)
    before = picture(with_pip.folder)
    stage.run(prepared.ctx)
    assert not (with_pip.site / "demo-1.0.dist-info/RECORD").exists()
    assert (with_pip.site / "demo-1.1.dist-info/RECORD").exists()
    for arm in Arm:
        with arms.install_arm(prepared.ctx, arm):
            assert (with_pip.site / CONV).read_bytes() == (FILES[CONV] if arm is Arm.BASE else FIXED)
    prepared.ctx.effects.close()
    assert picture(with_pip.folder) == before


def test_pip_refuses_a_drifted_distribution(tmp_path: Path, upstream: Repository, with_pip: Target) -> None:
    prepared = prepare(tmp_path, upstream, mode="pip", target=with_pip)
    with_pip.write(CONV, b"mine = 1\n")
    before = picture(with_pip.folder)
    with pytest.raises(NeedsReview) as caught:
        stage.run(prepared.ctx)
    prepared.ctx.effects.close()
    assert CONV in caught.value.why
    assert picture(with_pip.folder) == before


def test_a_build_that_fails_changes_nothing(tmp_path: Path, upstream: Repository, with_pip: Target) -> None:
    prepared = prepare(
        tmp_path,
        upstream,
        mode="pip",
        target=with_pip,
        change={"backend.py": "raise SystemExit('no')\n", f"src/{CONV}": FIXED},
    )
    before = picture(with_pip.folder)
    with pytest.raises(HostError, match="could not build") as caught:
        stage.run(prepared.ctx)
    assert "fixed.log" in caught.value.next_step
    prepared.ctx.effects.close()
    assert picture(with_pip.folder) == before


def test_the_probe_runs_the_targets_own_python(prepared: Prepared) -> None:
    stage.run(prepared.ctx)
    text = (prepared.ctx.ledger.folder / "install/distribution.json").read_text()
    assert f'"version": "{sys.version.split()[0]}"' in text
    prepared.ctx.effects.close()


def test_a_release_that_is_the_branch_is_told_so(prepared: Prepared) -> None:
    stage.run(prepared.ctx)
    record = _record(prepared)
    assert (record.compared, record.differs) == (3, ())
    prepared.ctx.effects.close()


@pytest.mark.parametrize("what", ["another content", "removed", "a module that the branch has and the release lacks"])
def test_another_release_than_the_branch_is_counted_and_named(tmp_path: Path, upstream: Repository, what: str) -> None:
    """The patch's own files are those of the branch; only others tell that this is another release."""
    made = prepare(tmp_path, upstream)
    other = made.target.site / "demo/ops/other.py"
    if what == "another content":
        other.write_bytes(b"def other():\n    return 'of 1.0.1'\n")
    elif what == "removed":
        other.unlink()
    else:
        record = made.target.site / "demo-1.0.dist-info/RECORD"
        record.write_text(
            "".join(line for line in record.read_text().splitlines(keepends=True) if "other.py" not in line)
        )
        other.unlink()
    result = stage.run(begin_again(made.ctx))
    assert _record(made).differs == ("demo/ops/other.py",)
    assert result.sentence.endswith("; 1 other file differs from the branch")
    assert any(each.where == "demo/ops/other.py" and each.severity == "warning" for each in result.findings)
    made.ctx.effects.close()


def test_files_that_only_one_side_has_are_no_difference(tmp_path: Path, upstream: Repository) -> None:
    """A version that a build writes, tests and data that a wheel leaves out."""
    upstream.commit("more", {"src/demo/tests/test_x.py": "1\n", "src/demo/data.bin": "1\n", "src/demo/notes.md": "1\n"})
    made = prepare(tmp_path, upstream)
    made.target.write("demo/_version.py", b"version = '1.0'\n")
    with (made.target.site / "demo-1.0.dist-info/RECORD").open("a") as record:
        record.write("demo/_version.py,,\n")
    stage.run(begin_again(made.ctx))
    assert _record(made).differs == ()
    made.ctx.effects.close()
