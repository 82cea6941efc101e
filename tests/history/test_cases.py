"""Shapes of public bug reports: survey, explain, compare and pick give the right answer to each."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from backproof.adapters import proc
from backproof.adapters.git import Source
from backproof.core.errors import PlanError
from backproof.history.cancelling import find_cancelling
from backproof.history.compare import Backport, compare_backport
from backproof.history.explain import explain_pick
from backproof.history.picks import Picker
from backproof.history.survey import survey_branches
from backproof.records.picks import PickOutcome
from history_cases import FOLDER, build_case, build_many_files
from pick_runs import run_pick

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from repositories import Opened, Repository

CLEAN, THERE, CONFLICT = PickOutcome.CLEAN, PickOutcome.ALREADY_THERE, PickOutcome.CONFLICT


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a survey says of `release`; a pick of the same fix has the outcome `picked`, which git's own merge has, too."""

    outcome: PickOutcome
    affected: tuple[str, ...] = ("yes", "partly", "unknown")
    there: str = ""
    lacks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    picked: PickOutcome | None = None
    suspects: int = 0


ANSWERS = {
    "01-moved-file": Answer(outcome=CLEAN, affected=("yes",)),
    "02-picked-revert": Answer(
        outcome=CLEAN, lacks=(), notes=("main took this back in", "the branch took this back in")
    ),
    "03-revert-of-revert": Answer(outcome=THERE, affected=("no",), there="its cherry-pick trailer", picked=CONFLICT),
    "04-reverted-after-fork": Answer(outcome=CLEAN, affected=("yes",), notes=("the branch took this back in",)),
    "05-version-bump": Answer(outcome=CLEAN, affected=("yes",)),
    "06-merged-back": Answer(outcome=THERE, affected=("no",), there="its cherry-pick trailer", picked=CONFLICT),
    "07-fixes-tag": Answer(outcome=CLEAN, affected=("no",)),
    "08-regression-in": Answer(outcome=CLEAN, affected=("yes",), lacks=("fix", "fix")),
    "09-clean-but-broken": Answer(outcome=CLEAN, suspects=3),
    "10-odd-encoding": Answer(outcome=CLEAN, affected=("yes",)),
    "11-short-hash": Answer(outcome=CLEAN, affected=("yes",)),
    "12-drop-renamed": Answer(outcome=CLEAN, affected=("yes",)),
    "13-new-file-in-moved-dir": Answer(outcome=CONFLICT),
    "14-conflicts-in-message": Answer(outcome=CONFLICT),
    "15-crlf-not-normalised": Answer(outcome=CLEAN, affected=("yes",)),
    "16-union-in-folder": Answer(outcome=CLEAN),
    "17-union-at-root": Answer(outcome=CLEAN),
    "20-merge-commit": Answer(outcome=CLEAN, affected=("yes",)),
    "21-pull-of-main": Answer(outcome=CLEAN, affected=("yes",)),
    "24-large-patch": Answer(outcome=CLEAN, affected=("yes",)),
    "25-many-files": Answer(outcome=CLEAN, affected=("yes",)),
    "27-hash-lines": Answer(outcome=CONFLICT),
    "28-reformatted": Answer(outcome=CONFLICT, affected=("unknown", "yes")),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_survey_explain_and_pick_say_the_same(name: str, upstream: Repository, opened: Opened) -> None:
    fix, answer = build_case(name, upstream), ANSWERS[name]
    release, main = (upstream.git("rev-parse", branch) for branch in ("release", "main"))
    with Picker(opened(upstream)) as picker:
        row = survey_branches(picker, [fix], {"release": release}, main=main).rows[0]
        explained = explain_pick(picker, fix=fix, branch="release", release=release, main=main)
        picked = picker.pick(fix, picker.read_tree(release))
    assert (row.outcome, row.affected in answer.affected) == (answer.outcome, True), row
    assert row.there.startswith(answer.there)
    assert bool(row.there) == bool(answer.there)
    assert tuple(item.kind for item in row.lacks) == answer.lacks == tuple(item.kind for item in explained.follow_ups)
    for notes in (row.notes, [note for note in explained.notes if "took" in note]):
        assert len(notes) == len(answer.notes)
        assert all(note.startswith(start) for note, start in zip(notes, answer.notes, strict=True))
    assert explained.outcome is picked.outcome is (answer.picked or answer.outcome)
    assert len(row.suspects) == len(explained.suspects) == answer.suspects
    assert row.why or row.affected != "no"


def test_the_merge_of_a_pull_request_is_compared_with_its_own_change(upstream: Repository, opened: Opened) -> None:
    fix = build_case("20-merge-commit", upstream)
    with Picker(opened(upstream)) as picker:
        backport = Backport.parse(picker, "backport-20", lambda name: upstream.git("rev-parse", name))
        record = compare_backport(picker, backport, [fix])
    assert (record.verdict, record.simulated) == ("identical", CLEAN)


def test_a_backport_that_uses_what_the_release_lacks_is_suspect(upstream: Repository, opened: Opened) -> None:
    fix = build_case("09-clean-but-broken", upstream)
    with Picker(opened(upstream)) as picker:
        backport = Backport.parse(picker, "backport9", lambda name: upstream.git("rev-parse", name))
        record = compare_backport(picker, backport, [fix])
    assert record.verdict == "identical"
    names = [suspect.split("`")[1] for suspect in record.suspects]
    assert names == ["strict", "LIMIT", "SafeError"]


def test_a_dropped_path_is_dropped_under_the_releases_own_name(tmp_path: Path, upstream: Repository) -> None:
    fix = build_case("12-drop-renamed", upstream)
    _, picked = run_pick(tmp_path, upstream, fix, drop="*.rst")
    assert [change.path for change in picked.changes] == ["mod.py"]


@pytest.mark.parametrize("name", ["14-conflicts-in-message", "27-hash-lines"])
def test_a_message_lands_whole_where_paths_are_dropped(
    name: str, tmp_path: Path, upstream: Repository, opened: Opened
) -> None:
    fix = build_case(name, upstream)
    whole = upstream.git("show", "--no-patch", "--format=%B", fix)
    ctx, picked = run_pick(tmp_path, upstream, fix, drop="*.md")
    landed = ctx.store.objects.read_commit(picked.head).message
    assert landed == f"{whole}\n(cherry picked from commit {fix})\n"
    release = upstream.git("rev-parse", "release")
    with Picker(opened(upstream)) as picker:
        record = explain_pick(picker, fix=fix, branch="release", release=release, drop=lambda path: path[-3:] == ".md")
    env = {"GIT_COMMITTER_NAME": "U", "GIT_COMMITTER_EMAIL": "u@x", "PATH": os.environ["PATH"], "GIT_EDITOR": "false"}
    script = "\n".join(["set -e", *record.commands])
    subprocess.run(["bash", "-c", script], cwd=upstream.folder, env=env, check=True, capture_output=True)
    assert upstream.git("log", "-1", "--format=%B") == landed.strip()
    assert upstream.git("diff", "--name-only", "release", "HEAD") == "mod.py"


def test_the_pull_requests_commits_are_not_those_of_main(tmp_path: Path, upstream: Repository) -> None:
    fix = build_case("21-pull-of-main", upstream)
    _, picked = run_pick(tmp_path, upstream, fix, pull=2100)
    assert [commit.subject for commit in picked.others] == ["Raise the limit"]


def test_an_update_from_main_cancels_nothing(upstream: Repository, opened: Opened) -> None:
    build_case("22-update-branch", upstream)
    with Picker(opened(upstream)) as picker:
        record = find_cancelling(picker, upstream.git("rev-parse", "main"), upstream.git("rev-parse", "pr"))
    assert [record.commits[sha] for sha in record.needed] == ["Raise the limit"]
    assert [record.commits[sha] for sha in record.cancelling[0]] == ["Add a note", "Remove the note"]


def test_a_large_patch_is_whole(tmp_path: Path, upstream: Repository) -> None:
    fix = build_case("24-large-patch", upstream)
    ctx, picked = run_pick(tmp_path, upstream, fix)
    upstream.git("checkout", "--quiet", "release")
    upstream.git("am", "--quiet", str(ctx.ledger.folder / "pick" / "pick.mbox"))
    assert upstream.git("rev-parse", "HEAD^{tree}") == picked.head_tree


@pytest.mark.parametrize("count", [300, 36_000])
def test_a_change_of_many_files_is_picked_with_few_commands(
    count: int, tmp_path: Path, upstream: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    fix = build_many_files(upstream, count)
    started: list[Sequence[str]] = []

    def run_noted(argv: Sequence[str], **options: Any) -> proc.Completed:
        started.append(argv)
        return run_process(argv, **options)

    run_process = proc.run_process
    monkeypatch.setattr(proc, "run_process", run_noted)
    _, picked = run_pick(tmp_path, upstream, fix)
    assert len(picked.changes) == count
    assert len(started) < 60


def test_a_repository_of_sha256_is_named_as_not_supported(upstream: Repository) -> None:
    script = str(FOLDER / "18-sha256" / "make.sh")
    subprocess.run(["bash", script, str(upstream.folder)], check=True, capture_output=True)
    with pytest.raises(PlanError, match="sha256 repositories are not supported"):
        Source.open(str(upstream.folder))


@pytest.mark.parametrize("name", ["origin/topic", "refs/heads/release", "refs/remotes/origin/topic", "v1", "main~1"])
def test_a_branch_is_found_under_every_name_that_git_has_for_it(upstream: Repository, name: str) -> None:
    build_case("04-reverted-after-fork", upstream)
    upstream.git("update-ref", "refs/remotes/origin/topic", "main~1")
    upstream.git("tag", "--annotate", "--message", "1", "v1", "main")
    ref, commit = Source.open(str(upstream.folder)).find_branch(name)
    assert commit == upstream.git("rev-parse", f"{name}^{{commit}}")
    assert ref in {name, f"refs/remotes/{name}", f"refs/tags/{name}"}
