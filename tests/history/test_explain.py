"""Each conflict gets its cause, each cause is put to the test, and the printed commands are run."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from backproof.core.errors import HostError
from backproof.history.explain import explain_pick
from backproof.history.path_filter import make_path_filter
from backproof.history.picks import Picker
from backproof.history.try_causes import TrialVerdict
from backproof.records.picks import PickOutcome

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.adapters.git import Store
    from backproof.history.records import ExplainRecord
    from repositories import Opened, Repository

BODY = "".join(f"line {number}\n" for number in range(30))


def explained(store: Store, fix: str, release: str, *, main: str | None = None, drop: str = "/notes/") -> ExplainRecord:
    with Picker(store) as picker:
        return explain_pick(picker, fix=fix, branch="rel/1", release=release, drop=make_path_filter([drop]), main=main)


def bash(repository: Repository, *commands: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "GIT_AUTHOR_NAME": "U", "GIT_AUTHOR_EMAIL": "u@x", "GIT_COMMITTER_NAME": "U"}
    env |= {"GIT_COMMITTER_EMAIL": "u@x", "GIT_EDITOR": "false"}
    script = "set -e\n" + "\n".join(commands)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=repository.folder,
        env=env,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    assert not check or done.returncode == 0, f"{script}\n{done.stderr}"
    return done


def test_the_missing_commit_is_named_proved_and_its_commands_work(upstream: Repository, opened: Opened) -> None:
    base = upstream.commit("base", {"code.py": BODY})
    cause = upstream.commit("rework (#7)", {"code.py": BODY.replace("line 9\n", "nine = compute()\n")})
    upstream.commit("elsewhere (#8)", {"code.py": BODY.replace("line 9\n", "nine = compute()\n") + "tail\n"})
    fixed = BODY.replace("line 9\n", "nine = compute(safely=True)\n") + "tail\n"
    fix = upstream.commit("fix (#9)", {"code.py": fixed})
    record = explained(opened(upstream), fix, base)
    assert record.outcome is PickOutcome.CONFLICT
    assert [cause.commit for cause in record.causes] == [cause]
    first = record.causes[0]
    assert (first.pull, first.side, first.lines, first.of) == (7, "main", 1, 1)
    assert first.verdict is TrialVerdict.MAKES_CLEAN
    assert "picking #7 first makes this clean" in first.sentence
    assert "explains 1 of 1 conflicting lines in code.py" in first.sentence
    bash(upstream, *record.commands)
    assert (upstream.folder / "code.py").read_text() == fixed.replace("tail\n", "")
    assert f"cherry picked from commit {fix}" in upstream.git("log", "-1", "--format=%B")


def test_where_the_whole_commit_conflicts_its_hunks_do(upstream: Repository, opened: Opened) -> None:
    upstream.commit("base", {"code.py": BODY, "other.py": BODY})
    base = upstream.git("rev-parse", "HEAD")
    upstream.switch("rel", base)
    release = upstream.commit("own", {"other.py": BODY.replace("line 4\n", "four for the release\n")})
    upstream.switch("main", base)
    nine = BODY.replace("line 9\n", "nine = compute()\n")
    cause = upstream.commit(
        "rework (#7)", {"code.py": nine, "other.py": BODY.replace("line 4\n", "four for main\n"), "more.py": "m = 1\n"}
    )
    fix = upstream.commit("fix (#9)", {"code.py": nine.replace("compute()", "compute(1)")})
    record = explained(opened(upstream), fix, release)
    assert record.causes[0].commit == cause
    assert record.causes[0].verdict is TrialVerdict.HUNKS_DO
    assert "its hunks in code.py alone do" in record.causes[0].sentence
    bash(upstream, *record.commands)
    assert (upstream.folder / "code.py").read_text() == nine.replace("compute()", "compute(1)")
    assert "four for the release" in (upstream.folder / "other.py").read_text()
    assert not (upstream.folder / "more.py").exists()


def test_several_commits_together_and_no_more_than_needed(upstream: Repository, opened: Opened) -> None:
    base = upstream.commit("base", {"a.py": BODY, "b.py": BODY, "c.py": BODY})
    one = upstream.commit("one (#1)", {"a.py": BODY.replace("line 5\n", "five\n")})
    two = upstream.commit("two (#2)", {"b.py": BODY.replace("line 5\n", "five\n")})
    upstream.commit("three (#3)", {"c.py": BODY.replace("line 5\n", "five\n")})
    change = "six\n"
    fix = upstream.commit(
        "fix (#4)", {"a.py": BODY.replace("line 5\n", change), "b.py": BODY.replace("line 5\n", change)}
    )
    record = explained(opened(upstream), fix, base)
    assert {cause.verdict for cause in record.causes} == {TrialVerdict.PICKED_HELPS}
    assert record.together == (one, two)
    assert f"Together {one[:12]}, {two[:12]} make this clean" in record.sentence
    bash(upstream, *record.commands)
    assert upstream.git("show", "HEAD:b.py").splitlines()[5] == "six"
    assert upstream.git("show", "HEAD:c.py") == BODY.strip()


def test_what_a_named_commit_rests_on_is_taken_with_it(upstream: Repository, opened: Opened) -> None:
    base = upstream.commit("base", {"a.py": BODY, "b.py": BODY})
    one = upstream.commit("one (#1)", {"a.py": BODY.replace("line 9\n", "nine\n")})
    upstream.commit("beside (#2)", {"b.py": BODY.replace("line 5\n", "five\n")})
    two = upstream.commit("two (#3)", {"a.py": BODY.replace("line 9\n", "nine and more\n")})
    fix = upstream.commit("fix (#4)", {"a.py": BODY.replace("line 9\n", "nine and fixed\n")})
    record = explained(opened(upstream), fix, base)
    assert record.together == (one, two)
    bash(upstream, *record.commands)
    assert upstream.git("show", "HEAD:a.py").splitlines()[9] == "nine and fixed"
    assert upstream.git("show", "HEAD:b.py") == BODY.strip()


@pytest.mark.parametrize(
    "text", [b"nine", b"\tnine", b"n\xefne", b"nine\r", b"\x1b[31mnine", "né 'ne' $HOME `x`".encode(), b"END"]
)
def test_where_only_a_hunk_of_a_commit_lands_it_is_taken_as_it_is(
    text: bytes, upstream: Repository, opened: Opened
) -> None:
    body = BODY.encode()
    base = upstream.commit("base", {"a.py": body, "b.py": BODY})
    upstream.switch("rel", base)
    release = upstream.commit("own", {"a.py": body.replace(b"line 20\n", b"twenty\n")})
    upstream.switch("main", base)
    upstream.commit("before (#6)", {"a.py": (older := body.replace(b"line 2\n", b"two\n"))})
    cause = upstream.commit(
        "wide (#7)", {"a.py": older.replace(b"line 9\n", text + b"\n").replace(b"line 20\n", b"20\n"), "b.py": "x\n"}
    )
    fixed = older.replace(b"line 9\n", text + b" fixed\n").replace(b"line 20\n", b"20\n")
    fix = upstream.commit("fix (#9)", {"a.py": fixed})
    record = explained(opened(upstream), fix, release)
    assert (record.together, record.hunks_alone, record.sides) == ((cause,), True, ())
    assert f"Hunks of {cause[:12]} make this clean" in record.sentence
    bash(upstream, *record.commands)
    wanted = body.replace(b"line 9\n", text + b" fixed\n").replace(b"line 20\n", b"twenty\n")
    assert (upstream.folder / "a.py").read_bytes() == wanted
    assert upstream.git("show", "HEAD:b.py") == BODY.strip()
    assert upstream.git("status", "--porcelain") == ""


def test_lines_are_followed_through_what_moved_them(upstream: Repository, opened: Opened) -> None:
    base = upstream.commit("base", {"a.py": BODY})
    upstream.switch("rel", base)
    release = upstream.commit("own", {"a.py": BODY.replace("line 0\n", "zero\n").replace("line 20\n", "twenty\n")})
    upstream.switch("main", base)
    nine = BODY.replace("line 9\n", "nine\n").replace("line 20\n", "20\n")
    first = upstream.commit("first (#1)", {"a.py": nine})
    moved = "top\n" * 7 + nine.replace("line 0\n", "0\n")
    upstream.commit("moves all down (#2)", {"a.py": moved})
    more = moved.replace("nine\n", "nine and more\n").replace("20\n", "21\n")
    second = upstream.commit("second (#3)", {"a.py": more})
    fix = upstream.commit("fix (#4)", {"a.py": more.replace("nine and more\n", "nine, fixed\n")})
    record = explained(opened(upstream), fix, release)
    assert (record.together, record.hunks_alone) == ((first, second), True)
    bash(upstream, *record.commands)
    wanted = BODY.replace("line 0\n", "zero\n").replace("line 20\n", "twenty\n").replace("line 9\n", "nine, fixed\n")
    assert (upstream.folder / "a.py").read_text() == wanted


def test_a_file_that_came_later_is_taken_as_main_had_it(upstream: Repository, opened: Opened) -> None:
    base = upstream.commit("base", {"a.py": BODY})
    upstream.switch("rel", base)
    release = upstream.commit("own", {"c.py": "own\n"})
    upstream.switch("main", base)
    added = upstream.commit("adds (#1)", {"b.py": b"\x00binary\n", "a.py": "", "c.py": "main\n"})
    fix = upstream.commit("fix (#4)", {"b.py": b"\x00fixed\n"})
    record = explained(opened(upstream), fix, release)
    assert record.outcome is PickOutcome.CONFLICT
    bash(upstream, *record.commands)
    assert (upstream.folder / "b.py").read_bytes() == b"\x00fixed\n"
    assert f"git cherry-pick -x {added}" not in record.commands


def test_where_no_commit_helps_both_sides_are_shown(upstream: Repository, opened: Opened) -> None:
    base = upstream.commit("base", {"code.py": BODY})
    upstream.switch("rel", base)
    own = upstream.commit("own way (#50)", {"code.py": BODY.replace("line 9\n", "ours\n")})
    upstream.switch("main", base)
    fix = upstream.commit("fix (#9)", {"code.py": BODY.replace("line 9\n", "theirs\n")})
    sides = explained(opened(upstream), fix, own).sides
    assert [(place.path, place.line, place.branch, place.fix) for place in sides] == [("code.py", 10, "ours", "theirs")]


def test_the_releases_own_commit_is_named_and_never_reverted_for_the_user(upstream: Repository, opened: Opened) -> None:
    base = upstream.commit("base", {"code.py": BODY})
    upstream.switch("rel", base)
    own = upstream.commit("own way (#50)", {"code.py": BODY.replace("line 9\n", "ours\n")})
    upstream.switch("main", base)
    fix = upstream.commit("fix (#9)", {"code.py": BODY.replace("line 9\n", "theirs\n")})
    record = explained(opened(upstream), fix, own)
    assert [(cause.commit, cause.side, cause.verdict) for cause in record.causes] == [
        (own, "release", TrialVerdict.TAKEN_BACK)
    ]
    assert not any("revert" in command for command in record.commands)
    at = next(i for i, command in enumerate(record.commands) if command.startswith("# edit"))
    stopped = bash(upstream, *record.commands[:at], check=False)
    assert stopped.returncode != 0
    assert "<<<<<<<" in (upstream.folder / "code.py").read_text()
    (upstream.folder / "code.py").write_text(BODY.replace("line 9\n", "both\n"))
    bash(upstream, *record.commands[at:])
    assert "both" in upstream.git("show", "HEAD:code.py")


def test_lines_that_the_release_removed_are_traced_to_who_removed_them(upstream: Repository, opened: Opened) -> None:
    base = upstream.commit("base", {"code.py": BODY})
    upstream.switch("rel", base)
    upstream.commit("unrelated (#49)", {"code.py": BODY + "tail\n"})
    own = upstream.commit("remove (#50)", {"code.py": BODY.replace("line 9\n", "") + "tail\n"})
    release = upstream.commit("later (#51)", {"x.py": "x = 1\n"})
    upstream.switch("main", base)
    fix = upstream.commit("fix (#9)", {"code.py": BODY.replace("line 9\n", "nine\n")})
    record = explained(opened(upstream), fix, release)
    assert [cause.commit for cause in record.causes] == [own]
    assert "removed these lines on the release branch" in record.causes[0].how


def test_a_file_that_the_release_does_not_have_names_who_added_it(upstream: Repository, opened: Opened) -> None:
    base = upstream.git("rev-parse", "HEAD")
    adder = upstream.commit("new module (#7)", {"new.py": BODY})
    fix = upstream.commit(
        "fix (#9)", {"new.py": BODY.replace("line 9\n", "nine\n"), "pkg/a.py": "x = 2\ny = 2\nz = 3\n"}
    )
    record = explained(opened(upstream), fix, base)
    assert [(conflict.path, conflict.kind.value) for conflict in record.conflicts] == [
        ("new.py", "modify/delete: the branch does not have this file")
    ]
    assert record.causes[0].commit == adder
    assert record.causes[0].how == "added the file, which the release does not have"
    assert record.causes[0].verdict is TrialVerdict.MAKES_CLEAN


def test_leaving_a_missing_file_out_by_hand(upstream: Repository, opened: Opened) -> None:
    upstream.commit("module (#7)", {"new.py": BODY})
    base = upstream.git("rev-parse", "HEAD")
    upstream.switch("rel", base)
    gone = upstream.commit("drop it (#50)", {"new.py": None})
    upstream.switch("main", base)
    fix = upstream.commit(
        "fix (#9)", {"new.py": BODY.replace("line 9\n", "nine\n"), "pkg/a.py": "x = 2\ny = 2\nz = 3\n"}
    )
    record = explained(opened(upstream), fix, gone)
    assert [(cause.commit, cause.how) for cause in record.causes] == [(gone, "deleted the file on the release branch")]
    stop = next(i for i, command in enumerate(record.commands) if "cherry-pick -x" in command)
    assert bash(upstream, *record.commands[: stop + 1], check=False).returncode != 0
    bash(upstream, *record.commands[stop + 1 :])
    assert upstream.git("diff", "--name-only", gone, "HEAD") == "pkg/a.py"


def test_a_commit_that_the_release_took_in_another_form_is_not_called_missing(
    upstream: Repository, opened: Opened
) -> None:
    base = upstream.commit("base", {"code.py": BODY})
    upstream.switch("rel", base)
    taken = upstream.commit("[rel] rework (#7) (#70)", {"code.py": BODY.replace("line 9\n", "nine for the release\n")})
    upstream.switch("main", base)
    upstream.commit("rework (#7)", {"code.py": BODY.replace("line 9\n", "nine = compute()\n")})
    fix = upstream.commit("fix (#9)", {"code.py": BODY.replace("line 9\n", "nine = compute(1)\n")})
    record = explained(opened(upstream), fix, taken)
    assert [(cause.commit, cause.side) for cause in record.causes] == [(taken, "release")]
    assert "in another form" in record.causes[0].how


def test_an_insertion_is_explained_by_its_neighbours_and_said_to_be_weaker(
    upstream: Repository, opened: Opened
) -> None:
    base = upstream.commit("base", {"code.py": BODY})
    upstream.switch("rel", base)
    release = upstream.commit("own (#50)", {"code.py": BODY + "of the release\n"})
    upstream.switch("main", base)
    near = upstream.commit("near (#7)", {"code.py": BODY.replace("line 28\n", "twenty eight\n")})
    fix = upstream.commit("fix (#9)", {"code.py": BODY.replace("line 28\n", "twenty eight\n") + "of main\n"})
    record = explained(opened(upstream), fix, release)
    assert near in [cause.commit for cause in record.causes]
    assert next(cause for cause in record.causes if cause.commit == near).how.startswith("stands next to")


def test_a_conflict_only_in_dropped_paths_comes_with_commands_that_drop(upstream: Repository, opened: Opened) -> None:
    base = upstream.commit("base", {"notes/a.md": "one\n", "notes/é.md": "one\n"})
    upstream.switch("rel", base)
    release = upstream.commit("own", {"notes/a.md": "release\n", "notes/é.md": None})
    upstream.switch("main", base)
    fix = upstream.commit(
        "fix (#9)",
        {"notes/a.md": "two\n", "notes/é.md": "two\n", "notes/new one.md": "n\n", "pkg/a.py": "x = 2\ny = 2\nz = 3\n"},
    )
    record = explained(opened(upstream), fix, release)
    assert record.outcome is PickOutcome.CLEAN_AFTER_DROPS
    assert all(conflict.dropped for conflict in record.conflicts)
    bash(upstream, *record.commands)
    assert upstream.git("diff", "--name-only", release, "HEAD") == "pkg/a.py"
    assert upstream.git("log", "-1", "--format=%an") == "Ann Author"


def test_drops_without_a_conflict_are_taken_out_of_the_commit(upstream: Repository, opened: Opened) -> None:
    base = upstream.commit("base", {"notes/a.md": "one\n"})
    fix = upstream.commit("fix (#9)", {"notes/a.md": "two\n", "notes/b.md": "b\n", "pkg/a.py": "x = 2\n"})
    record = explained(opened(upstream), fix, base)
    bash(upstream, *record.commands)
    assert upstream.git("diff", "--name-only", base, "HEAD") == "pkg/a.py"
    assert upstream.git("status", "--porcelain") == ""


def test_later_reverts_and_fixes_are_told(upstream: Repository, opened: Opened) -> None:
    base = upstream.git("rev-parse", "HEAD")
    fix = upstream.commit("fix (#9)", {"pkg/a.py": "x = 2\ny = 2\nz = 3\n"})
    repair = upstream.commit("Fix a regression of #9 (#10)", {"pkg/a.py": "x = 3\ny = 2\nz = 3\n"})
    upstream.commit("notes name #9 and others (#11)", {"README.md": "notes\n"})
    revert = upstream.commit(f'Revert "fix (#9)" (#12)\n\nThis reverts commit {fix}.\n', {"pkg/a.py": "x = 1\n"})
    again = upstream.commit(f'Revert "Revert" (#13)\n\nThis reverts commit {revert}.\n', {"pkg/a.py": "x = 3\n"})
    record = explained(opened(upstream), fix, base, main=again)
    assert [(follow_up.commit, follow_up.kind) for follow_up in record.follow_ups] == [
        (repair, "fix"),
        (revert, "revert"),
        (again, "revert of the revert"),
    ]


def test_a_shallow_clone_is_refused_with_the_command_that_deepens(
    tmp_path: Path, upstream: Repository, opened: Opened
) -> None:
    base = upstream.commit("base", {"code.py": BODY})
    upstream.switch("rel", base)
    release = upstream.commit("own (#50)", {"code.py": BODY.replace("line 9\n", "ours\n")})
    upstream.switch("main", base)
    upstream.commit("before", {"x.py": "x = 1\n"})
    fix = upstream.commit("fix (#9)", {"code.py": BODY.replace("line 9\n", "theirs\n"), "x.py": "x = 1\n"})
    shallow = tmp_path / "shallow"
    subprocess.run(
        ["git", "clone", "-q", "--depth", "2", "--no-single-branch", f"file://{upstream.folder}", str(shallow)],
        check=True,
    )
    (shallow / ".git" / "shallow").read_text()
    store = opened(shallow)
    with pytest.raises(HostError, match="cut off") as caught:
        explained(store, fix, release)
    assert "git fetch --unshallow" in caught.value.next_step


def test_markers_that_a_file_holds_as_text_are_not_taken_for_conflicts(upstream: Repository, opened: Opened) -> None:
    text = "<<<<<<< HEAD\nexample\n=======\nother\n>>>>>>> branch\n"
    base = upstream.commit("base", {"doc.py": text + BODY})
    cause = upstream.commit("rework (#7)", {"doc.py": text + BODY.replace("line 9\n", "nine\n")})
    fix = upstream.commit("fix (#9)", {"doc.py": text + BODY.replace("line 9\n", "NINE\n")})
    record = explained(opened(upstream), fix, base)
    assert [(cause.commit, cause.lines, cause.of) for cause in record.causes] == [(cause, 1, 1)]


def test_names_that_are_not_utf8_are_spelled_for_bash(upstream: Repository, opened: Opened) -> None:
    base = upstream.git("rev-parse", "HEAD")
    path = os.fsdecode(b"n\xe9e\n.py")
    upstream.commit("add (#7)", {path: BODY})
    fix = upstream.commit("fix (#9)", {path: BODY.replace("line 9\n", "nine\n"), "pkg/a.py": "x = 2\n"})
    record = explained(opened(upstream), fix, base, drop="*.py\n!/pkg/")
    assert record.model_dump_json()
    left = explained(opened(upstream), fix, base)
    assert "\\xe9" in left.conflicts[0].path
    with Picker(opened(upstream)) as picker:
        record = explain_pick(picker, fix=fix, branch="r", release=base, drop=lambda candidate: candidate == path)
    bash(upstream, *record.commands)
    assert upstream.git("diff", "--name-only", base, "HEAD") == "pkg/a.py"


def test_a_commit_that_solves_a_part_of_a_file_is_said_to_do_no_more(upstream: Repository, opened: Opened) -> None:
    base = upstream.commit("base", {"code.py": BODY})
    upstream.switch("rel", base)
    release = upstream.commit("own (#50)", {"code.py": BODY.replace("line 25\n", "ours\n")})
    upstream.switch("main", base)
    rework = upstream.commit("rework (#7)", {"code.py": BODY.replace("line 5\n", "five\n")})
    fixed = BODY.replace("line 5\n", "FIVE\n").replace("line 25\n", "theirs\n")
    fix = upstream.commit("fix (#9)", {"code.py": fixed})
    record = explained(opened(upstream), fix, release)
    first = next(cause for cause in record.causes if cause.commit == rework)
    assert first.verdict is TrialVerdict.FEWER
    assert "picking #7 first removes 1 of 2 conflicts" in first.sentence
    assert record.together == ()
