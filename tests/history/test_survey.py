"""The survey over real branches: what is there under another hash, what is affected, what the branch would lack."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from backproof.history.path_filter import make_path_filter
from backproof.history.picks import Picker
from backproof.history.survey import survey_branches
from backproof.records.picks import PickOutcome

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.history.records import SurveyRow
    from repositories import Opened, Repository

BODY = "".join(f"statement number {number}\n" for number in range(30))
FIXED = BODY.replace("number 9\n", "number nine\n")


def surveyed(
    repository: Repository, opened: Opened, fix: str, *branches: str, drop: str = "/notes/"
) -> dict[str, SurveyRow]:
    tips = {name: repository.git("rev-parse", name) for name in branches}
    main = repository.git("rev-parse", "main")
    with Picker(opened(repository)) as picker:
        record = survey_branches(picker, [fix], tips, main=main, drop=make_path_filter([drop]))
    return {row.branch: row for row in record.rows}


@pytest.fixture
def project(upstream: Repository) -> Repository:
    """A main with code, and a branch `plain` there."""
    upstream.commit("code (#1)", {"code.py": BODY, "notes/a.md": "a\n"})
    upstream.switch("plain")
    upstream.commit("own (#100)", {"own.py": "o = 1\n"})
    upstream.switch("main", "main")
    return upstream


def land(project: Repository, branch: str, message: str, files: dict[str, str | bytes | None]) -> str:
    project.switch(branch, "plain")
    sha = project.commit(message, files)
    project.git("checkout", "--quiet", "main")
    return sha


def test_a_branch_that_needs_the_fix_and_takes_it(project: Repository, opened: Opened) -> None:
    fix = project.commit("repair the ninth statement (#2)", {"code.py": FIXED})
    row = surveyed(project, opened, fix, "plain")["plain"]
    assert (row.outcome, row.affected, row.there) == (PickOutcome.CLEAN, "yes", "")
    assert row.why == "it has 1 of the 1 line that the fix takes away"
    assert row.tree is not None


@pytest.mark.parametrize(
    ("message", "content", "how"),
    [
        ("[plain] any words (#2) (#200)", "adapted\n", "pull request #2"),
        ("any words (#200)\n\nThis is a backport of #2 for the release\n", "adapted\n", "pull request #2"),
        ("any (#200)\n\ncherry-picked from https://github.com/a/b/pull/2\n", "adapted\n", "pull request #2"),
        ("[rel] bring both (from #7, #2) (#200)", "adapted\n", "pull request #2"),
        ("[rel] bring it - #2 (#200)", "adapted\n", "pull request #2"),
        ("[v1][cherry-pick] Repair the ninth statement (#200)", "adapted\n", "its title"),
        ("Repair the ninth statement in v0.23.0rc1 (#200)", "adapted\n", "its title"),
        ("any words (#200)", FIXED, "its patch id"),
    ],
)
def test_a_fix_that_is_there_under_another_hash(
    project: Repository, opened: Opened, message: str, content: str, how: str
) -> None:
    there = land(project, "has", message, {"code.py": content if content == FIXED else BODY + content})
    fix = project.commit("repair the ninth statement (#2)", {"code.py": FIXED})
    row = surveyed(project, opened, fix, "has")["has"]
    assert row.outcome is PickOutcome.ALREADY_THERE
    assert row.there.startswith(f"{how}: {there[:12]}")
    assert row.affected == "no"


def test_a_revert_is_found_as_a_revert_and_never_as_what_it_reverts(project: Repository, opened: Opened) -> None:
    subject = "reword the ninth statement of the code (#2)"
    land(project, "reverted", f'[rel] Revert "{subject}" (#200)', {"code.py": BODY + "adapted\n"})
    fix = project.commit(subject, {"code.py": FIXED})
    revert = project.commit(f'Revert "{subject}" (#3)\n\nThis reverts commit {fix}.\n', {"code.py": BODY})
    assert surveyed(project, opened, fix, "reverted")["reverted"].there == ""
    assert surveyed(project, opened, revert, "reverted")["reverted"].there.startswith("its title")


def test_a_trailer_names_the_original(project: Repository, opened: Opened) -> None:
    fix = project.commit("short", {"code.py": FIXED})
    land(project, "has", f"other\n\n(cherry picked from commit {fix})\n", {"code.py": BODY + "adapted\n"})
    assert surveyed(project, opened, fix, "has")["has"].there.startswith("its cherry-pick trailer")


def test_the_same_tree_without_any_word_is_there_too(project: Repository, opened: Opened) -> None:
    land(project, "has", "two things (#200)", {"code.py": FIXED, "x.py": "x = 1\n"})
    fix = project.commit("repair the ninth statement (#2)", {"code.py": FIXED})
    row = surveyed(project, opened, fix, "has")["has"]
    assert (row.outcome, row.there) == (PickOutcome.ALREADY_THERE, "its tree: a pick changes nothing")


def test_a_backport_that_the_branch_reverted_is_not_there(project: Repository, opened: Opened) -> None:
    there = land(project, "had", "[plain] repair (#2) (#200)", {"code.py": FIXED})
    project.git("checkout", "--quiet", "had")
    project.commit(f'Revert "[plain] repair (#2) (#200)"\n\nThis reverts commit {there}.\n', {"code.py": BODY})
    project.git("checkout", "--quiet", "main")
    fix = project.commit("repair the ninth statement (#2)", {"code.py": FIXED})
    assert surveyed(project, opened, fix, "had")["had"].outcome is PickOutcome.CLEAN


@pytest.mark.parametrize(
    "message", ["Repair what #2 broke elsewhere (#200)", "another (#200)\n\nexposed by #2, unrelated\n", "tidy (#200)"]
)
def test_a_commit_that_only_mentions_the_fix_is_not_the_fix(project: Repository, opened: Opened, message: str) -> None:
    land(project, "other", message, {"code.py": BODY + "tail\n"})
    fix = project.commit("fix ut (#2)", {"code.py": FIXED})
    row = surveyed(project, opened, fix, "other")["other"]
    assert row.outcome is PickOutcome.CLEAN


def test_a_branch_after_the_fix_has_the_commit_itself(project: Repository, opened: Opened) -> None:
    fix = project.commit("repair the ninth statement (#2)", {"code.py": FIXED})
    project.switch("later")
    assert surveyed(project, opened, fix, "later")["later"].there == "the commit itself"


def test_a_branch_without_the_faulty_lines_is_no_sure_no(project: Repository, opened: Opened) -> None:
    land(project, "without", "drop it (#300)", {"code.py": None})
    land(project, "rewritten", "rewrite (#301)", {"code.py": "something else entirely\n"})
    fix = project.commit("repair the ninth statement (#2)", {"code.py": FIXED})
    rows = surveyed(project, opened, fix, "without", "rewritten")
    assert (rows["without"].outcome, rows["without"].affected) == (PickOutcome.CONFLICT, "unknown")
    assert rows["without"].why == "the branch does not have code.py under this name"
    assert (rows["rewritten"].outcome, rows["rewritten"].affected) == (PickOutcome.CONFLICT, "unknown")
    assert rows["rewritten"].conflicts[0].kind.value == "content"


def test_conflicts_in_dropped_paths_are_told_from_real_ones(project: Repository, opened: Opened) -> None:
    land(project, "noted", "notes (#300)", {"notes/a.md": "release\n"})
    fix = project.commit("repair the ninth statement (#2)", {"code.py": FIXED, "notes/a.md": "b\n"})
    row = surveyed(project, opened, fix, "noted")["noted"]
    assert (row.outcome, row.only_in_dropped, row.dropped) == (PickOutcome.CLEAN_AFTER_DROPS, True, ("notes/a.md",))


def test_what_the_branch_would_lack_is_told_unless_it_has_it(project: Repository, opened: Opened) -> None:
    fix = project.commit("repair the ninth statement (#2)", {"code.py": FIXED})
    repair = project.commit("Fix the repair of #2 (#3)", {"code.py": FIXED + "more\n"})
    project.commit("unrelated, names #2 (#4)", {"README.md": "x\n"})
    land(project, "has-repair", "[plain] Fix the repair of #2 (#3) (#203)", {"own.py": "o = 2\n"})
    rows = surveyed(project, opened, fix, "plain", "has-repair")
    assert [(follow_up.commit, follow_up.kind) for follow_up in rows["plain"].lacks] == [(repair, "fix")]
    assert rows["has-repair"].lacks == ()


def test_a_kits_commits_land_on_top_of_each_other(project: Repository, opened: Opened) -> None:
    one = project.commit("one (#2)", {"code.py": FIXED})
    two = project.commit("two (#3)", {"code.py": FIXED.replace("number nine", "number NINE")})
    tips = {"plain": project.git("rev-parse", "plain")}
    main = project.git("rev-parse", "main")
    with Picker(opened(project)) as picker:
        alone = survey_branches(picker, [one, two], tips, main=main)
        series = survey_branches(picker, [one, two], tips, main=main, series=True)
    assert [row.outcome for row in alone.rows] == [PickOutcome.CLEAN, PickOutcome.CONFLICT]
    assert [row.outcome for row in series.rows] == [PickOutcome.CLEAN, PickOutcome.CLEAN]


def test_a_merge_commit_and_a_hidden_parent_are_rows_of_their_own_kind(
    tmp_path: Path, project: Repository, opened: Opened
) -> None:
    project.switch("topic", "main")
    project.commit("t (#5)", {"t.py": "t = 1\n"})
    project.git("checkout", "--quiet", "main")
    project.git("merge", "--quiet", "--no-ff", "-m", "merge", "topic")
    merge = project.git("rev-parse", "HEAD")
    assert surveyed(project, opened, merge, "plain")["plain"].outcome is PickOutcome.MERGE_COMMIT
    fix = project.commit("fix it all (#6)", {"code.py": FIXED})
    project.git("clone", "-q", "--depth", "1", "--no-single-branch", f"file://{project.folder}", str(tmp_path / "cut"))
    tips = {"plain": project.git("rev-parse", "plain")}
    with Picker(opened(tmp_path / "cut")) as picker:
        record = survey_branches(picker, [fix], tips, main=fix)
    row = record.rows[0]
    assert "git fetch --unshallow" in record.limits[0]
    assert row.outcome is PickOutcome.UNKNOWN
    assert "git fetch --unshallow" in row.why
