"""The smallest set of commits that gives a pull request's code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.history.cancelling import find_cancelling
from backproof.history.path_filter import make_path_filter
from backproof.history.picks import Picker

if TYPE_CHECKING:
    from backproof.history.records import CancellingRecord
    from repositories import Opened, Repository


def asked(repository: Repository, opened: Opened, base: str, *drop: str) -> CancellingRecord:
    with Picker(opened(repository)) as picker:
        return find_cancelling(picker, base, repository.git("rev-parse", "HEAD"), drop=make_path_filter(drop))


def test_a_note_that_is_added_and_removed_cancels(upstream: Repository, opened: Opened) -> None:
    base = upstream.git("rev-parse", "HEAD")
    fix = upstream.commit("fix", {"pkg/a.py": "x = 2\n"})
    note = upstream.commit("note", {"notes/n.md": "n\n"})
    gone = upstream.commit("no note", {"notes/n.md": None})
    record = asked(upstream, opened, base)
    assert record.needed == (fix,)
    assert record.cancelling == ((note, gone),)
    assert "together change nothing: 1 of 3 commits" in record.sentence


def test_dropped_paths_do_not_count(upstream: Repository, opened: Opened) -> None:
    base = upstream.git("rev-parse", "HEAD")
    fix = upstream.commit("fix", {"pkg/a.py": "x = 2\n", "notes/o.md": "o\n"})
    note = upstream.commit("note", {"notes/n.md": "n\n"})
    assert asked(upstream, opened, base).needed == (fix, note)
    assert asked(upstream, opened, base, "/notes/").needed == (fix,)


def test_commits_that_rest_on_each_other_are_all_needed(upstream: Repository, opened: Opened) -> None:
    base = upstream.git("rev-parse", "HEAD")
    one = upstream.commit("one", {"pkg/a.py": "x = 2\ny = 2\nz = 3\n"})
    two = upstream.commit("two", {"pkg/a.py": "x = 3\ny = 2\nz = 3\n"})
    record = asked(upstream, opened, base)
    assert record.needed == (one, two)
    assert record.sentence == "all 2 commits are needed"


def test_twelve_commits_that_undo_each_other_take_no_time(upstream: Repository, opened: Opened) -> None:
    base = upstream.git("rev-parse", "HEAD")
    for number in range(6):
        upstream.commit(f"add {number}", {f"n{number}": "n\n"})
        upstream.commit(f"remove {number}", {f"n{number}": None})
    last = upstream.commit("fix", {"pkg/a.py": "x = 2\n"})
    assert asked(upstream, opened, base).needed == (last,)


def test_a_merge_that_changed_files_is_said(upstream: Repository, opened: Opened) -> None:
    base = upstream.git("rev-parse", "HEAD")
    upstream.switch("topic")
    upstream.commit("topic", {"t.py": "t = 1\n"})
    upstream.git("checkout", "--quiet", "main")
    upstream.commit("main", {"m.py": "m = 1\n"})
    upstream.git("merge", "--quiet", "--no-ff", "--no-commit", "topic")
    (upstream.folder / "slipped-in").write_text("s\n")
    upstream.git("add", "-A")
    upstream.git("commit", "-qm", "merge")
    assert "a merge among them changed files" in asked(upstream, opened, base).sentence
