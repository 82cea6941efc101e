"""The pick on real repositories: each outcome, drops, and the user's repository left as it was."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from backproof.adapters.git import Store
from backproof.core.errors import HostError, PlanError
from backproof.core.model import Outcome
from backproof.records.proof import PickRecord, Settings, StageResult
from backproof.rundir.ledger import Ledger
from backproof.stages import pick
from kits import write_kit

if TYPE_CHECKING:
    from backproof.rundir.context import Context
    from repositories import Repository
from contexts import context_of


def context(
    tmp_path: Path, repository: Repository, commits: list[str], *, options: str = "", signoff: bool = False
) -> Context:
    kit = write_kit(tmp_path / "kit", commits, pick=options)
    settings = Settings(
        kit=str(kit), repo=str(repository.folder), branch="release", python="", device="emulator", signoff=signoff
    )
    return context_of(Ledger(tmp_path / "run"), kit, settings)


def picked(ctx: Context) -> tuple[StageResult, PickRecord]:
    result = pick.run(ctx)
    record = ctx.ledger.read_record("pick/pick.json", PickRecord)
    assert record is not None
    return result, record


def snapshot(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def fix_on_main(repository: Repository, files: dict[str, str | bytes | None], message: str = "fix\n\nbody\n") -> str:
    """Branch `release` where main is now, then a fix on main."""
    repository.switch("release")
    repository.switch("main", "release")
    return repository.commit(message, files)


def test_clean_pick_keeps_author_and_says_where_it_comes_from(tmp_path: Path, upstream: Repository) -> None:
    fix = fix_on_main(upstream, {"pkg/a.py": "x = 1\ny = 20\nz = 3\n"})
    ctx = context(tmp_path, upstream, [fix])
    result, record = picked(ctx)
    assert result.outcome is Outcome.PASS
    assert [commit.outcome for commit in record.commits] == ["clean"]
    landed = Store(ctx.ledger.store).objects.read_commit(record.head)
    assert f"(cherry picked from commit {fix})" in landed.message
    assert landed.author == "Ann Author <ann@example.org>"
    assert "Signed-off-by" not in landed.message
    assert [change.path for change in record.changes] == ["pkg/a.py"]
    assert result.evidence
    assert all(ctx.ledger.holds(evidence) for evidence in result.evidence)


def test_sign_off_is_the_committers(tmp_path: Path, upstream: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_COMMITTER_NAME", "Rel Manager")
    monkeypatch.setenv("GIT_COMMITTER_EMAIL", "rel@example.org")
    fix = fix_on_main(upstream, {"pkg/a.py": "x = 1\ny = 20\nz = 3\n"})
    ctx = context(tmp_path, upstream, [fix], signoff=True)
    _, record = picked(ctx)
    assert (
        "Signed-off-by: Rel Manager <rel@example.org>"
        in Store(ctx.ledger.store).objects.read_commit(record.head).message
    )


def test_dropped_paths_are_taken_out_of_the_pick_itself(tmp_path: Path, upstream: Repository) -> None:
    fix = fix_on_main(upstream, {"pkg/a.py": "x = 1\ny = 20\nz = 3\n", "notes/7.yaml": "note\n"})
    ctx = context(tmp_path, upstream, [fix])
    _, record = picked(ctx)
    assert record.commits[0].outcome == "clean-after-drops"
    assert record.commits[0].dropped == ("notes/7.yaml",)
    store = Store(ctx.ledger.store)
    assert store.list_commits(record.base, record.head) == (record.head,)
    assert store.objects.read_commit(record.head).parents == (record.base,)
    assert [change.path for change in record.changes] == ["pkg/a.py"]
    assert f"(cherry picked from commit {fix})" in store.objects.read_commit(record.head).message


@pytest.mark.parametrize("there", [True, False])
def test_a_conflict_only_in_dropped_paths_is_no_conflict(tmp_path: Path, upstream: Repository, there: bool) -> None:
    upstream.commit("note", {"notes/7.yaml": "one\n"})
    upstream.switch("release")
    upstream.commit("release's own", {"notes/7.yaml": "release\n" if there else None})
    upstream.switch("main", "main")
    fix = upstream.commit("#1 fix\n\n# not a comment\n", {"notes/7.yaml": "two\n", "pkg/a.py": "x = 9\ny = 2\nz = 3\n"})
    ctx = context(tmp_path, upstream, [fix], signoff=True)
    result, record = picked(ctx)
    assert result.outcome is Outcome.PASS
    assert record.commits[0].outcome == "clean-after-drops"
    assert [change.path for change in record.changes] == ["pkg/a.py"]
    landed = Store(ctx.ledger.store).objects.read_commit(record.head)
    assert landed.message.startswith("#1 fix\n\n# not a comment\n")
    assert f"(cherry picked from commit {fix})" in landed.message
    assert landed.message.count("Signed-off-by:") == 1
    assert "Conflicts" not in landed.message
    assert landed.author == "Ann Author <ann@example.org>"


def test_conflicts_are_named_with_their_kinds_and_need_a_person(tmp_path: Path, upstream: Repository) -> None:
    upstream.switch("release")
    upstream.commit("release's own", {"pkg/a.py": "x = 1\ny = 200\nz = 3\n", "README.md": None})
    upstream.switch("main", "main")
    fix = upstream.commit("fix", {"pkg/a.py": "x = 1\ny = 20\nz = 3\n", "README.md": "hello you\n"})
    ctx = context(tmp_path, upstream, [fix])
    result, record = picked(ctx)
    assert result.outcome is Outcome.PERSON
    assert result.outcome.exit_code == 3
    kinds = {conflict.path: conflict.kind for conflict in record.conflicts}
    assert kinds == {"pkg/a.py": "content", "README.md": "modify/delete: the branch does not have this file"}
    assert "pkg/a.py (content)" in result.sentence
    assert record.head == record.base
    assert "200" in (ctx.ledger.folder / "pick" / "conflict.diff").read_text()


def test_a_commit_that_is_there_already_is_said(tmp_path: Path, upstream: Repository) -> None:
    fix = upstream.commit("fix", {"pkg/a.py": "x = 1\ny = 20\nz = 3\n"})
    upstream.switch("release")
    ctx = context(tmp_path, upstream, [fix])
    result, record = picked(ctx)
    assert record.commits[0].outcome == "already-there"
    assert result.outcome is Outcome.INCONCLUSIVE


def test_an_empty_commit_is_told_from_one_that_is_there(tmp_path: Path, upstream: Repository) -> None:
    upstream.switch("release")
    upstream.switch("main", "main")
    empty = upstream.commit("retrigger", {})
    only_notes = upstream.commit("note", {"notes/8.yaml": "n\n"})
    real = upstream.commit("fix", {"pkg/a.py": "x = 1\ny = 20\nz = 3\n"})
    result, record = picked(context(tmp_path, upstream, [empty, only_notes, real]))
    assert [commit.outcome for commit in record.commits] == ["empty", "empty", "clean"]
    assert result.outcome is Outcome.PASS


def test_a_merge_commit_needs_its_main_line(tmp_path: Path, upstream: Repository) -> None:
    upstream.switch("release")
    upstream.switch("topic", "main")
    upstream.commit("topic", {"pkg/b.py": "b = 1\n"})
    upstream.switch("main", "main")
    upstream.commit("other", {"pkg/c.py": "c = 1\n"})
    upstream.git("merge", "--quiet", "--no-ff", "-m", "merge topic", "topic")
    merge = upstream.git("rev-parse", "HEAD")
    result, record = picked(context(tmp_path, upstream, [merge]))
    assert record.commits[0].outcome == "merge-commit"
    assert result.outcome is Outcome.PERSON
    assert "mainline" in result.sentence
    result, record = picked(context(tmp_path, upstream, [merge], options="mainline = 1"))
    assert result.outcome is Outcome.PASS
    assert [change.path for change in record.changes] == ["pkg/b.py"]


def test_other_commits_that_cancel_out_are_told_from_trees(tmp_path: Path, upstream: Repository) -> None:
    upstream.switch("release")
    upstream.switch("topic", "release")
    fix = upstream.commit("fix", {"pkg/a.py": "x = 1\ny = 20\nz = 3\n", "notes/6.yaml": "six\n"})
    upstream.commit("add note", {"notes/7.yaml": "seven\n"})
    upstream.commit("remove notes", {"notes/6.yaml": None, "notes/7.yaml": None})
    upstream.git("update-ref", "refs/pull/7/head", "HEAD")
    _, record = picked(context(tmp_path, upstream, [fix]))
    assert [commit.subject for commit in record.others] == ["add note", "remove notes"]
    assert all(commit.computed and "not needed" in commit.why for commit in record.others)
    assert "adds notes/7.yaml" in record.others[0].why


def test_other_commits_that_matter_are_not_called_unneeded(tmp_path: Path, upstream: Repository) -> None:
    upstream.switch("release")
    upstream.switch("topic", "release")
    fix = upstream.commit("fix", {"pkg/a.py": "x = 1\ny = 20\nz = 3\n"})
    upstream.commit("second half", {"pkg/b.py": "b = 1\n"})
    upstream.git("update-ref", "refs/pull/7/head", "HEAD")
    _, record = picked(context(tmp_path, upstream, [fix]))
    assert "it matters" in record.others[0].why
    assert "pkg/b.py" in record.others[0].why


def test_a_reconstruction_is_found_by_its_trailer_and_said(tmp_path: Path, upstream: Repository) -> None:
    upstream.switch("release")
    upstream.switch("topic", "release")
    upstream.commit("fix\n\nBackproof-Reconstructs: f5826a4\n", {"pkg/a.py": "x = 1\ny = 20\nz = 3\n"})
    upstream.git("update-ref", "refs/pull/7/head", "HEAD")
    result, record = picked(context(tmp_path, upstream, ["f5826a4"]))
    assert record.commits[0].reconstructed
    assert any("reconstruction" in finding.text for finding in result.findings)


def test_a_commit_that_is_not_there_is_a_usage_error_with_the_fetch_command(
    tmp_path: Path, upstream: Repository
) -> None:
    upstream.switch("release")
    with pytest.raises(PlanError, match="there is no commit abcdef1") as caught:
        pick.run(context(tmp_path, upstream, ["abcdef1"]))
    assert "git fetch" in caught.value.next_step


def test_a_branch_that_is_not_there_gets_a_did_you_mean(tmp_path: Path, upstream: Repository) -> None:
    fix = upstream.commit("fix", {"pkg/a.py": "x = 1\n"})
    upstream.switch("releases")
    with pytest.raises(PlanError, match="no branch 'release'") as caught:
        pick.run(context(tmp_path, upstream, [fix]))
    assert "did you mean 'releases'" in caught.value.why


def test_the_users_repository_is_byte_identical_and_its_hooks_never_run(tmp_path: Path, upstream: Repository) -> None:
    fix = fix_on_main(upstream, {"pkg/a.py": "x = 1\ny = 20\nz = 3\n", ".gitattributes": "*.py filter=evil\n"})
    for hook in ("post-checkout", "pre-commit", "post-commit", "reference-transaction", "commit-msg"):
        path = upstream.folder / ".git" / "hooks" / hook
        path.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran-{hook}\n")
        path.chmod(0o755)
    upstream.git("config", "filter.evil.smudge", f"touch {tmp_path}/ran-filter")
    upstream.git("config", "core.fsmonitor", f"touch {tmp_path}/ran-fsmonitor")
    (upstream.folder / "untracked").write_text("mine\n")
    before = snapshot(upstream.folder)
    result, _ = picked(context(tmp_path, upstream, [fix]))
    assert result.outcome is Outcome.PASS
    assert snapshot(upstream.folder) == before
    assert list(tmp_path.glob("ran-*")) == []


LEAKED = (
    *("GIT_DIR", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY"),
    *("GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_PREFIX"),
)


def test_inherited_git_variables_do_not_steer_us(
    tmp_path: Path, upstream: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    fix = fix_on_main(upstream, {"pkg/a.py": "x = 1\ny = 20\nz = 3\n"})
    for name in LEAKED:
        monkeypatch.setenv(name, str(tmp_path / "elsewhere" / name))
    result, _ = picked(context(tmp_path, upstream, [fix]))
    assert result.outcome is Outcome.PASS
    assert not list(tmp_path.glob("elsewhere*"))


def test_a_shallow_clone_is_said_and_never_a_false_conflict(tmp_path: Path, upstream: Repository) -> None:
    fix = fix_on_main(upstream, {"pkg/a.py": "x = 1\ny = 20\nz = 3\n"})
    shallow = tmp_path / "shallow"
    subprocess.run(
        ["git", "clone", "--quiet", "--depth", "1", "--no-single-branch", f"file://{upstream.folder}", str(shallow)],
        check=True,
        capture_output=True,
    )
    from repositories import Repository as Real

    with pytest.raises(HostError, match="its parent") as caught:
        pick.run(context(tmp_path, Real(shallow), [fix]))
    assert "unshallow" in caught.value.next_step


def test_a_root_commit_and_awkward_names_are_picked(tmp_path: Path, upstream: Repository) -> None:
    upstream.switch("release")
    upstream.git("checkout", "--quiet", "--orphan", "other")
    upstream.git("rm", "-rf", "--quiet", ".")
    root = upstream.commit("root", {"new\nline.txt": "n\n", "sp ace/[x]*.txt": "s\n", "notes/ü.txt": "dropped\n"})
    result, record = picked(context(tmp_path, upstream, [root]))
    assert result.outcome is Outcome.PASS
    assert {change.path for change in record.changes} == {"new\nline.txt", "sp ace/[x]*.txt"}
    assert record.commits[0].dropped == ("notes/ü.txt",)


def test_a_name_that_is_not_utf8_is_picked_and_shown_with_escapes(tmp_path: Path, upstream: Repository) -> None:
    odd = os.fsdecode(b"odd\xff.txt")
    fix = fix_on_main(upstream, {odd: "o\n", "pkg/a.py": "x = 1\ny = 20\nz = 3\n"}, message="fix \xe9")
    result, record = picked(context(tmp_path, upstream, [fix]))
    assert result.outcome is Outcome.PASS
    assert {change.path for change in record.changes} == {"odd\\xff.txt", "pkg/a.py"}


def test_the_inputs_change_with_the_branch_and_the_plan(tmp_path: Path, upstream: Repository) -> None:
    fix = fix_on_main(upstream, {"pkg/a.py": "x = 1\ny = 20\nz = 3\n"})
    first = pick.inputs(context(tmp_path, upstream, [fix]))
    assert pick.inputs(context(tmp_path, upstream, [fix])) == first
    assert pick.inputs(context(tmp_path, upstream, [fix], signoff=True)) != first
    upstream.switch("release", "release")
    upstream.commit("moves on", {"README.md": "hi\n"})
    assert pick.inputs(context(tmp_path, upstream, [fix])) != first


def test_upstreams_own_commit_is_kept_beside_what_landed(tmp_path: Path, upstream: Repository) -> None:
    fix = fix_on_main(upstream, {"pkg/a.py": "x = 1\ny = 20\nz = 3\n", "notes/7.md": "!\n"})
    ctx = context(tmp_path, upstream, [fix])
    result, _ = picked(ctx)
    landed, theirs = ((ctx.ledger.folder / "pick" / f"{name}.mbox").read_text() for name in ("pick", "upstream"))
    assert f"From {fix}" in theirs
    assert "+++ b/notes/7.md" in theirs
    assert "+++ b/notes/7.md" not in landed
    assert "pick/upstream.mbox" in [evidence.path for evidence in result.evidence]


@pytest.mark.parametrize("lost", ["HEAD", "config", "objects", "refs"])
def test_half_a_store_is_made_again(tmp_path: Path, upstream: Repository, lost: str) -> None:
    """A full disk or a kill cut `git init`: the run folder must not be lost with it."""
    fix = fix_on_main(upstream, {"pkg/a.py": "x = 1\ny = 20\nz = 3\n"})
    ctx = context(tmp_path, upstream, [fix])
    first, _ = picked(ctx)
    gone = ctx.ledger.store / lost
    shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    (tmp_path / "run" / "store.git.new").mkdir()
    (tmp_path / "run" / "store.git.new" / "HEAD").write_text("cut")
    again, record = picked(ctx)
    assert (first.outcome, again.outcome) == (Outcome.PASS, Outcome.PASS)
    assert Store(ctx.ledger.store).resolve_commit(record.head) == record.head
    assert not (tmp_path / "run" / "store.git.new").exists()
