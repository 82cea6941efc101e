"""A pick, a survey, an explanation and a comparison say the same, and the script of a run gives the same tree."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import history_cases
import pytest
from backproof.history import reproduce
from backproof.history.compare import Backport, compare_backport
from backproof.history.explain import explain_pick
from backproof.history.picks import Picker
from backproof.history.survey import survey_branches
from backproof.records.picks import ConflictKind, PickOutcome
from backproof.rundir import loaded_run
from backproof.stages import REGISTRY
from backproof.verdict import run_verdict
from pick_runs import run_pick

if TYPE_CHECKING:
    from pathlib import Path

    from history_cases import Case
    from repositories import Opened, Repository


def git_tree(repository: Repository, fix: str, folder: Path) -> str:
    """The tree of a plain `git cherry-pick` in a clone; files are checked out as they are in the repository."""
    clone = type(repository)(folder)
    repository.git("clone", "--quiet", "--no-checkout", str(repository.folder), str(folder))
    (folder / ".git" / "info" / "attributes").write_text("* -text\n")
    clone.git("checkout", "--quiet", "--detach", "origin/release")
    clone.git("cherry-pick", fix)
    return clone.git("rev-parse", "HEAD^{tree}")


@pytest.mark.parametrize("case", history_cases.LANDING.values(), ids=history_cases.LANDING)
def test_all_say_that_it_lands_and_give_gits_tree(
    case: Case, tmp_path: Path, upstream: Repository, opened: Opened
) -> None:
    fix = case(upstream)
    tree = git_tree(upstream, fix, tmp_path / "clone")
    ctx, picked = run_pick(tmp_path, upstream, fix)
    assert [commit.outcome for commit in picked.commits] == [PickOutcome.CLEAN]
    upstream.git("fetch", "--quiet", str(ctx.store.folder), f"{picked.head}:refs/heads/landed")
    release = upstream.git("rev-parse", "release")
    main = upstream.git("rev-parse", "main")
    with Picker(opened(upstream)) as picker:
        row = survey_branches(picker, [fix], {"release": release}, main=main).rows[0]
        explained = explain_pick(picker, fix=fix, branch="release", release=release)
        backport = Backport(base=release, head=picked.head)
        compared = compare_backport(picker, backport, [fix])
    assert (row.outcome, explained.outcome, compared.simulated) == (PickOutcome.CLEAN,) * 3
    assert compared.verdict == "identical"
    assert row.tree == picked.head_tree == tree


@pytest.mark.usefixtures("old_git")
@pytest.mark.parametrize("case", history_cases.LANDING.values(), ids=history_cases.LANDING)
def test_a_git_without_merges_in_memory_lands_it_too(case: Case, tmp_path: Path, upstream: Repository) -> None:
    fix = case(upstream)
    _, picked = run_pick(tmp_path, upstream, fix)
    assert [commit.outcome for commit in picked.commits] == [PickOutcome.CLEAN]
    assert picked.head_tree == git_tree(upstream, fix, tmp_path / "clone")


@pytest.mark.parametrize("case", history_cases.LANDING.values(), ids=history_cases.LANDING)
def test_the_script_of_the_run_gives_the_tree(case: Case, tmp_path: Path, upstream: Repository) -> None:
    fix = case(upstream)
    ctx, picked = run_pick(tmp_path, upstream, fix)
    script = tmp_path / "reproduce.sh"
    loaded = run_verdict.read_evidence(ctx.ledger, loaded_run.require_run(ctx.ledger), REGISTRY)
    script.write_bytes(reproduce.render_script(ctx.ledger, loaded))
    done = subprocess.run(["bash", str(script), "again"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert f"tree {picked.head_tree}, as in the run" in done.stdout.decode()


def test_all_name_a_new_file_in_a_moved_folder_alike(tmp_path: Path, upstream: Repository, opened: Opened) -> None:
    fix = history_cases.build_case("13-new-file-in-moved-dir", upstream)
    ctx, picked = run_pick(tmp_path, upstream, fix)
    release = upstream.git("rev-parse", "release")
    with Picker(opened(upstream)) as picker:
        row = survey_branches(picker, [fix], {"release": release}, main=upstream.git("rev-parse", "main")).rows[0]
        explained = explain_pick(picker, fix=fix, branch="release", release=release)
    assert (picked.commits[0].outcome, row.outcome, explained.outcome) == (PickOutcome.CONFLICT,) * 3
    kinds = {"old/guard.py": ConflictKind.DIRECTORY_RENAME}
    assert {conflict.path: conflict.kind for conflict in picked.conflicts} == kinds
    assert {conflict.path: conflict.kind for conflict in row.conflicts} == kinds
    assert {conflict.path: conflict.kind for conflict in explained.conflicts} == kinds
    assert "check 1 of the text" in (ctx.ledger.folder / "pick" / "conflict.diff").read_text()


def test_a_message_that_holds_gits_own_marks_lands_whole(tmp_path: Path, upstream: Repository) -> None:
    body = "* work\n\n# Conflicts:\n#\tmod.py\n\n* address review\n\n"
    trailers = "Co-authored-by: Other <other@example.invalid>\nSigned-off-by: Dev <dev@example.invalid>\n"
    upstream.commit("start", {"mod.py": "limit = 10\n", "CHANGES.md": "# 14\n"})
    upstream.switch("release")
    upstream.commit("note", {"CHANGES.md": "# 14\n- on the release\n"})
    upstream.switch("main", "main")
    (upstream.folder / "mod.py").write_text("limit = 100\n")
    (upstream.folder / "CHANGES.md").write_text("# 14\n- the limit is larger\n")
    upstream.git("commit", "--quiet", "--all", "--cleanup=verbatim", "--file=-", stdin=f"Raise\n\n{body}{trailers}")
    fix = upstream.git("rev-parse", "HEAD")
    ctx, picked = run_pick(tmp_path, upstream, fix, drop="*.md")
    assert picked.commits[0].outcome is PickOutcome.CLEAN_AFTER_DROPS
    message = ctx.store.objects.read_commit(picked.head).message
    assert message == f"Raise\n\n{body}{trailers}(cherry picked from commit {fix})\n"


MESSAGES = {
    "subject alone": "Fix",
    "body": "Fix\n\nbecause\n",
    "trailers": "Fix\n\nbecause\n\nCo-authored-by: O <o@x>\nSigned-off-by: Cam Committer <cam@example.org>\n",
    "picked before": f"Fix\n\n(cherry picked from commit {'a' * 40})\n",
    "marks": "#1 Fix\n\n# not a comment\n\n\n\n---\n* Merge\n\n# Conflicts:\n#\tmod.py\n\n",
    "latin-1": "F\udce9x\n",
}


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_the_commit_is_the_one_that_git_would_write(
    message: str, tmp_path: Path, upstream: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream.switch("release")
    upstream.switch("main", "main")
    raw = message.encode("utf-8", "surrogateescape")
    tree = upstream.commit("as files", {"README.md": "hello you\n"})
    head = f"tree {upstream.git('rev-parse', f'{tree}^{{tree}}')}\nparent {upstream.git('rev-parse', 'release')}\n"
    people = "author A\udce9n <a@x> 1700000000 +0200\ncommitter C <c@x> 1700000001 -0300\n\n"
    data = (head + people).encode("utf-8", "surrogateescape") + raw
    made = ["git", "-C", str(upstream.folder), "hash-object", "-w", "-t", "commit", "--stdin"]
    fix = subprocess.run(made, input=data, check=True, capture_output=True).stdout.decode().strip()
    upstream.git("update-ref", "refs/heads/main", fix)
    monkeypatch.setenv("GIT_COMMITTER_NAME", "Cam Committer")
    monkeypatch.setenv("GIT_COMMITTER_EMAIL", "cam@example.org")
    ctx, picked = run_pick(tmp_path, upstream, fix, signoff=True)
    upstream.git("checkout", "--quiet", "--force", "release")
    upstream.git("cherry-pick", "-x", "--signoff", fix)
    ours = ctx.store.objects.read_object(picked.head, "commit")
    gits = subprocess.run(
        ["git", "-C", str(upstream.folder), "cat-file", "commit", "HEAD"], check=True, capture_output=True
    ).stdout
    assert without_committer(ours) == without_committer(gits)


def without_committer(commit: bytes) -> list[bytes]:
    return [line for line in commit.split(b"\n") if not line.startswith(b"committer ")]


def test_what_an_attribute_file_of_the_repository_names_is_never_written_elsewhere(
    tmp_path: Path, upstream: Repository, opened: Opened
) -> None:
    """Trees are made by hand: no honest git writes a folder named `..`."""
    store = opened(upstream)

    def tree(text: str) -> str:
        blob = store.objects.write_object("blob", text.encode())
        attributes = store.objects.write_object("blob", b"* merge=union\n")
        rows = b"100644 .gitattributes\0" + bytes.fromhex(attributes) + b"100644 f\0" + bytes.fromhex(blob)
        inner = store.objects.write_object("tree", rows)
        outer = store.objects.write_object("tree", b"40000 ..\0" + bytes.fromhex(inner))
        return store.objects.write_object("tree", b"40000 ..\0" + bytes.fromhex(outer))

    base, ours, theirs = (store.objects.write_synthetic(tree(text)) for text in ("a\n", "b\n", "c\n"))
    fix = store.objects.transplant_commit(theirs, tree=store.objects.read_commit(theirs).tree, parent=base)
    before = sorted(tmp_path.iterdir())
    with Picker(store) as picker:
        result = picker.pick(fix, picker.read_tree(ours))
    assert result.outcome in {PickOutcome.CONFLICT, PickOutcome.UNKNOWN}
    assert sorted(tmp_path.iterdir()) == before
    assert not (store.folder / ".gitattributes").exists()
