"""What a branch has by parity of reverts, in every wording, and the index that it is read from."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from backproof.adapters import proc
from backproof.history import index_file
from backproof.history.index import CommitIndex
from backproof.history.landings import Landings
from backproof.history.picks import Picker
from platformdirs import user_cache_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from repositories import Opened, Repository

BODY = "".join(f"statement number {number}\n" for number in range(30))
FIXED = BODY.replace("number 9\n", "number nine\n")
TITLE = "repair the ninth statement of the queue"


@pytest.fixture
def fix(upstream: Repository) -> str:
    """A fix on main, and a branch `release` that picked it."""
    upstream.commit("code (#1)", {"code.py": BODY})
    upstream.switch("release")
    upstream.switch("main", "main")
    sha = upstream.commit(f"{TITLE} (#2)", {"code.py": FIXED})
    upstream.switch("release", "release")
    upstream.commit(f"{TITLE} (#200)\n\n(cherry picked from commit {sha})\n", {"code.py": FIXED})
    return sha


def there(upstream: Repository, opened: Opened, fix: str, branch: str = "release") -> bool:
    with Picker(opened(upstream)) as picker:
        tip = upstream.git("rev-parse", branch)
        return Landings(picker, [fix, tip, upstream.git("rev-parse", "main")]).find(fix, tip) is not None


def test_a_pick_is_there(upstream: Repository, opened: Opened, fix: str) -> None:
    assert there(upstream, opened, fix)


@pytest.mark.parametrize(
    "message",
    [
        'Revert "any"\n\nThis reverts commit {pick}.\n',
        'Revert "any"\n\nThis reverts commit {short}.\n',
        "Undo\n\nThis reverts commit {fix}.\n",
        'Revert "' + TITLE + ' (#200)" (#201)\n\nReverts owner/repo#200\n',
        'Revert "' + TITLE + '" (#201)\n',
        "Take it back (#201)\n\nReverts owner/repo#200\n",
        "Take it back (#201)\n\nReverts #77 and #200\n",
        "Back out {short}\n",
        "Undo two\n\nThis reverts commits {pick} and {other}.\n",
        "Undo two\n\nThis reverts commit {other}.\nThis reverts commit {pick}.\n",
    ],
)
def test_a_revert_in_any_wording_takes_it_back(upstream: Repository, opened: Opened, fix: str, message: str) -> None:
    pick = upstream.git("rev-parse", "release")
    names = {"pick": pick, "short": pick[:10], "fix": fix, "other": upstream.git("rev-parse", "release~1")}
    revert = upstream.commit(message.format(**names), {"code.py": BODY})
    assert not there(upstream, opened, fix)
    upstream.commit(f"Again\n\nThis reverts commit {revert}.\n", {"code.py": FIXED})
    assert there(upstream, opened, fix), "a revert of the revert brings it again"
    upstream.commit(f"And back\n\nThis reverts commit {pick}.\n", {"code.py": BODY})
    assert not there(upstream, opened, fix)
    upstream.commit(f"Land again\n\n(cherry picked from commit {fix})\n", {"code.py": FIXED})
    assert there(upstream, opened, fix), "picked again after it was taken back"


@pytest.mark.parametrize(
    "message",
    [
        "Tidy\n\nThis partially reverts commit {pick}.\n",
        "Tidy\n\nSee {pick}, and #200\n",
        'Revert "another statement altogether of the queue" (#201)\n\nReverts owner/repo#77\n',
        'Revert "' + TITLE + '" (#201)\n\nThis reverts commit {other}.\n',
    ],
)
def test_what_takes_back_something_else_takes_back_nothing_here(
    upstream: Repository, opened: Opened, fix: str, message: str
) -> None:
    names = {"pick": upstream.git("rev-parse", "release"), "other": upstream.git("rev-parse", "release~1")}
    upstream.commit(message.format(**names), {"code.py": FIXED + "tail\n"})
    assert there(upstream, opened, fix)


def test_a_revert_on_another_branch_says_nothing_of_this_one(upstream: Repository, opened: Opened, fix: str) -> None:
    upstream.switch("other", "release")
    upstream.commit(f"Undo\n\nThis reverts commit {upstream.git('rev-parse', 'release')}.\n", {"code.py": BODY})
    assert there(upstream, opened, fix)
    assert not there(upstream, opened, fix, "other")


def test_a_pick_of_a_pick_is_there(upstream: Repository, opened: Opened, fix: str) -> None:
    pick = upstream.git("rev-parse", "release")
    upstream.switch("older", "release~1")
    upstream.commit(f"any words\n\n(cherry picked from commit {pick})\n", {"code.py": FIXED})
    with Picker(opened(upstream)) as picker:
        tips = [upstream.git("rev-parse", name) for name in ("older", "release")]
        assert Landings(picker, [fix, *tips]).find(fix, tips[0]) is not None


def read_index(picker: Picker, upstream: Repository) -> CommitIndex:
    return CommitIndex(picker.store, [upstream.git("rev-parse", name) for name in ("main", "release")])


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of git commands that were run."""
    names: list[str] = []
    run = proc.run_process

    def note(argv: list[str], **options: object) -> proc.Completed:
        names.append(next((word for word in argv[1:] if word in {"rev-list", "log"}), ""))
        return run(argv, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(proc, "run_process", note)
    return names  # type: ignore[return-value]


def test_only_new_commits_are_read(upstream: Repository, opened: Opened, fix: str, started: list[str]) -> None:
    with Picker(opened(upstream)) as picker:
        read_index(picker, upstream)
        assert started.count("log") == 1
        read_index(picker, upstream)
        assert started.count("log") == 1
        upstream.commit("one more", {"more.py": "m = 1\n"})
        index = read_index(picker, upstream)
        assert started.count("log") == 2
        tip = upstream.git("rev-parse", "release")
        assert index.has(tip, index.get_number(upstream.git("rev-parse", "release~2")))
        assert not index.has(tip, index.get_number(fix))


def test_an_index_that_another_command_has_is_left_to_it(
    upstream: Repository, opened: Opened, fix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_file, "_WAIT", 0.1)
    with Picker(opened(upstream)) as picker:
        assert Landings(picker, [fix]).find(fix, fix)
        (file,) = (user_cache_path("backproof") / "history").glob("*.sqlite")
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        assert Landings(picker, [fix]).find(fix, fix)
        other.execute("COMMIT")
    assert (
        other.execute("SELECT count(*) FROM commits").fetchone()
        == sqlite3.connect(file).execute("SELECT count(*) FROM commits").fetchone()
    )
    assert file.exists()


@pytest.mark.parametrize("damage", [b"", b"no database" * 1000])
def test_a_damaged_index_is_made_again(upstream: Repository, opened: Opened, fix: str, damage: bytes) -> None:
    with Picker(opened(upstream)) as picker:
        read_index(picker, upstream)
        (file,) = (user_cache_path("backproof") / "history").glob("*.sqlite")
        file.write_bytes(damage)
    for _ in range(2):
        assert there(upstream, opened, fix)
    assert sqlite3.connect(file).execute("SELECT count(*) FROM commits").fetchone() == (4,)


def test_a_cache_that_cannot_be_written_costs_only_time(
    upstream: Repository, opened: Opened, fix: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert there(upstream, opened, fix)


def test_commits_that_are_gone_are_no_part_of_a_rewritten_branch(
    upstream: Repository, opened: Opened, fix: str
) -> None:
    assert there(upstream, opened, fix)
    upstream.git("checkout", "--quiet", "main")
    upstream.git("branch", "--force", "release", "release~1")
    upstream.git("reflog", "expire", "--expire=now", "--all")
    upstream.git("gc", "--quiet", "--prune=now")
    assert not there(upstream, opened, fix)
    upstream.switch("release", "release")
    upstream.commit(f"again\n\n(cherry picked from commit {fix})\n", {"code.py": FIXED})
    assert there(upstream, opened, fix)
