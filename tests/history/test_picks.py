"""Simulated picks equal real ones: outcome, tree and kind of conflict, in memory and with an old git."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from backproof.core.errors import HostError
from backproof.history.picks import Picker, PickResult
from backproof.records.picks import ConflictKind, PickOutcome

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.adapters.git import Store
    from repositories import Opened, Repository

LONG = "".join(f"line {number}\n" for number in range(40))


def notes(path: str) -> bool:
    return path.startswith("notes/")


def simulated(store: Store, fix: str, branch: str, *, mainline: int | None = None) -> PickResult:
    with Picker(store, mainline=mainline) as picker:
        onto = picker.read_tree(store.resolve_commit(branch) or branch)
        return picker.pick(fix, onto, drop=notes)


def sides(repository: Repository, release: dict[str, str | bytes | None], fix: dict[str, str | bytes | None]) -> str:
    """A branch `release` with one change, and a fix on main; returns the fix."""
    repository.switch("release")
    repository.commit("release's own", release)
    repository.git("tag", "-f", "tip")
    repository.switch("main", "main")
    return repository.commit("fix (#5)", fix)


def tip(repository: Repository) -> str:
    return repository.git("rev-parse", "tip")


def test_a_clean_pick_has_the_tree_of_a_real_cherry_pick(upstream: Repository, opened: Opened) -> None:
    fix = sides(upstream, {"other.py": "o = 1\n"}, {"pkg/a.py": "x = 1\ny = 20\nz = 3\n"})
    pick = simulated(opened(upstream), fix, tip(upstream))
    upstream.git("checkout", "--quiet", "tip")
    upstream.git("cherry-pick", fix)
    assert pick.outcome is PickOutcome.CLEAN
    assert pick.tree == upstream.git("rev-parse", "HEAD^{tree}")


def test_dropped_paths_are_as_the_release_has_them(upstream: Repository, opened: Opened) -> None:
    upstream.commit("note", {"notes/deep/7.yaml": "one\n"})
    fix = sides(
        upstream,
        {"notes/deep/7.yaml": "release\n"},
        {"notes/deep/7.yaml": "two\n", "notes/new/8.yaml": "n\n", "pkg/a.py": "x = 9\ny = 2\nz = 3\n"},
    )
    pick = simulated(opened(upstream), fix, tip(upstream))
    upstream.git("checkout", "--quiet", "tip")
    upstream.commit("by hand", {"pkg/a.py": "x = 9\ny = 2\nz = 3\n"})
    assert pick.outcome is PickOutcome.CLEAN_AFTER_DROPS
    assert pick.only_in_dropped
    assert pick.dropped == ("notes/deep/7.yaml", "notes/new/8.yaml")
    assert pick.tree == upstream.git("rev-parse", "HEAD^{tree}")


def test_a_change_that_is_there_is_told_from_a_commit_that_changes_nothing(
    upstream: Repository, opened: Opened
) -> None:
    change: dict[str, str | bytes | None] = {"pkg/a.py": "x = 1\ny = 20\nz = 3\n"}
    fix = sides(upstream, change, change)
    nothing = upstream.commit("retrigger", {})
    noted = upstream.commit("note only", {"notes/n.yaml": "n\n"})
    store = opened(upstream)
    assert simulated(store, fix, tip(upstream)).outcome is PickOutcome.ALREADY_THERE
    assert simulated(store, nothing, tip(upstream)).outcome is PickOutcome.EMPTY
    assert simulated(store, noted, tip(upstream)).outcome is PickOutcome.EMPTY


def kinds() -> dict[str, tuple[dict[str, str | bytes | None], dict[str, str | bytes | None], str]]:
    """Release's change, main's change, and the kind of conflict that they make."""
    edited = LONG.replace("line 7\n", "line seven\n")
    return {
        "content": ({"long": LONG.replace("line 7\n", "seven\n")}, {"long": edited}, "content"),
        "deleted by the release": (
            {"long": None},
            {"long": edited},
            "modify/delete: the branch does not have this file",
        ),
        "deleted by the fix": (
            {"long": edited},
            {"long": None},
            "modify/delete: the fix deletes what the branch changed",
        ),
        "add/add": ({"new": "a\n"}, {"new": "b\n"}, "add/add"),
        "rename": ({"long": None, "ours": LONG}, {"long": None, "theirs": LONG}, "rename"),
        "file/directory": ({"place": "file\n"}, {"place/inner": "x\n"}, "file/directory"),
        "folder rename": (
            {"dir/one": None, "dir/two": None, "moved/one": LONG + "1\n", "moved/two": LONG + "2\n"},
            {"dir/three": "new\n"},
            "directory rename",
        ),
    }


@pytest.mark.parametrize("case", list(kinds()))
@pytest.mark.parametrize("age", ["new", "old"])
def test_each_kind_of_conflict_is_named(
    case: str, age: str, upstream: Repository, opened: Opened, request: pytest.FixtureRequest
) -> None:
    upstream.commit("files", {"long": LONG, "dir/one": LONG + "1\n", "dir/two": LONG + "2\n"})
    release, main, kind = kinds()[case]
    fix = sides(upstream, release, main)
    if age == "old":
        request.getfixturevalue("old_git")
    pick = simulated(opened(upstream), fix, tip(upstream))
    assert pick.outcome is PickOutcome.CONFLICT
    assert ConflictKind(kind) in {conflict.kind for conflict in pick.conflicts}
    assert pick.tree is None


def test_types_and_modes_in_conflict_are_named(upstream: Repository, opened: Opened) -> None:
    upstream.commit("files", {"tool": "t\n"})
    upstream.switch("release")
    (upstream.folder / "tool").unlink()
    (upstream.folder / "tool").symlink_to("pkg/a.py")
    upstream.git("add", "-A")
    upstream.git("commit", "-qm", "link")
    upstream.git("tag", "tip")
    upstream.switch("main", "main")
    fix = upstream.commit("fix", {"tool": "changed\n"})
    pick = simulated(opened(upstream), fix, tip(upstream))
    assert {conflict.kind for conflict in pick.conflicts} == {ConflictKind.MODE}


def test_a_submodule_moved_on_both_sides_is_a_submodule_conflict(upstream: Repository, opened: Opened) -> None:
    def point(number: str) -> None:
        upstream.git("update-index", "--add", "--cacheinfo", f"160000,{number * 40},sub")
        upstream.git("commit", "-qm", f"point at {number}")

    point("1")
    upstream.switch("release")
    point("2")
    upstream.git("tag", "tip")
    upstream.switch("main", "main")
    point("3")
    pick = simulated(opened(upstream), upstream.git("rev-parse", "HEAD"), tip(upstream))
    assert [conflict.kind for conflict in pick.conflicts] == [ConflictKind.SUBMODULE]


def test_an_old_git_gives_the_same_trees_and_says_once_that_it_is_slow(
    upstream: Repository, opened: Opened, request: pytest.FixtureRequest
) -> None:
    fix = sides(upstream, {"other.py": "o = 1\n"}, {"pkg/a.py": "x = 1\ny = 20\nz = 3\n", "notes/n.yaml": "n\n"})
    conflict = upstream.commit("other", {"other.py": "o = 2\n"})
    store = opened(upstream)
    new = [simulated(store, sha, tip(upstream)) for sha in (fix, conflict)]
    request.getfixturevalue("old_git")
    messages: list[str] = []
    with Picker(store, say=messages.append) as picker:
        onto = picker.read_tree(tip(upstream))
        old = [picker.pick(sha, onto, drop=notes) for sha in (fix, conflict)]
    assert [(pick.outcome, pick.tree, pick.dropped) for pick in old] == [
        (pick.outcome, pick.tree, pick.dropped) for pick in new
    ]
    assert [list(pick.conflicts) for pick in old] == [list(pick.conflicts) for pick in new]
    assert len(messages) == 1
    assert "2.34.1 cannot merge in memory" in messages[0]


def test_attributes_of_the_release_count_as_in_a_worktree(upstream: Repository, opened: Opened) -> None:
    upstream.commit("log", {"CHANGES": "one\n", ".gitattributes": "CHANGES merge=union\n"})
    fix = sides(upstream, {"CHANGES": "one\nrelease\n"}, {"CHANGES": "one\nmain\n"})
    pick = simulated(opened(upstream), fix, tip(upstream))
    upstream.git("checkout", "--quiet", "tip")
    upstream.git("cherry-pick", fix)
    assert pick.tree == upstream.git("rev-parse", "HEAD^{tree}")


def test_a_merge_commit_needs_its_main_line(upstream: Repository, opened: Opened) -> None:
    upstream.switch("release")
    upstream.git("tag", "tip")
    upstream.switch("topic", "main")
    upstream.commit("topic", {"t.py": "t = 1\n"})
    upstream.switch("main", "main")
    upstream.commit("main", {"m.py": "m = 1\n"})
    upstream.git("merge", "--quiet", "--no-ff", "-m", "merge", "topic")
    merge = upstream.git("rev-parse", "HEAD")
    store = opened(upstream)
    assert simulated(store, merge, tip(upstream)).outcome is PickOutcome.MERGE_COMMIT
    pick = simulated(store, merge, tip(upstream), mainline=1)
    assert pick.outcome is PickOutcome.CLEAN
    with Picker(store) as picker:
        assert set(picker.objects.diff_trees(picker.read_tree(tip(upstream)), str(pick.tree))) == {"t.py"}
    assert simulated(store, merge, tip(upstream), mainline=3).outcome is PickOutcome.MERGE_COMMIT


def test_a_root_commit_with_awkward_names_lands(upstream: Repository, opened: Opened) -> None:
    upstream.switch("release")
    upstream.git("tag", "tip")
    upstream.git("checkout", "--quiet", "--orphan", "other")
    upstream.git("rm", "-rf", "--quiet", ".")
    blob = upstream.git("hash-object", "-w", "--stdin", stdin="latin\n")
    names = b"100644 %s\tn\xe9e.txt\x00100644 %s\tNEW\nline\x00" % (blob.encode(), blob.encode())
    subprocess.run(["git", "-C", str(upstream.folder), "update-index", "-z", "--index-info"], input=names, check=True)
    root = upstream.git("commit-tree", upstream.git("write-tree"), "-m", "root")
    store = opened(upstream)
    pick = simulated(store, root, tip(upstream))
    assert pick.outcome is PickOutcome.CLEAN
    with Picker(store) as picker:
        new = picker.objects.diff_trees(picker.read_tree(tip(upstream)), str(pick.tree))
    assert set(new) == {"n\udce9e.txt", "NEW\nline"}


def test_names_that_differ_only_in_case_and_crlf_are_bytes_like_any(upstream: Repository, opened: Opened) -> None:
    upstream.commit("files", {"Read.me": "a\r\nb\r\nc\r\n", "read.me": "other\n"})
    fix = sides(upstream, {"read.me": "mine\n"}, {"Read.me": "a\r\nB\r\nc\r\n"})
    store = opened(upstream)
    pick = simulated(store, fix, tip(upstream))
    assert pick.outcome is PickOutcome.CLEAN
    with Picker(store) as picker:
        assert picker.objects.read_file(str(pick.tree), "Read.me") == b"a\r\nB\r\nc\r\n"
        assert picker.objects.read_file(str(pick.tree), "read.me") == b"mine\n"


def test_an_lfs_pointer_is_merged_as_the_text_it_is_and_no_filter_runs(
    tmp_path: Path, upstream: Repository, opened: Opened
) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 1\n"
    upstream.commit("lfs", {".gitattributes": "*.bin filter=lfs merge=lfs\n", "w.bin": pointer.format("a" * 64)})
    upstream.git("config", "filter.lfs.smudge", f"touch {tmp_path}/ran")
    upstream.git("config", "merge.lfs.driver", f"touch {tmp_path}/ran")
    fix = sides(upstream, {"w.bin": pointer.format("b" * 64)}, {"w.bin": pointer.format("c" * 64)})
    (tmp_path / "ran").unlink(missing_ok=True)
    pick = simulated(opened(upstream), fix, tip(upstream))
    assert [conflict.kind for conflict in pick.conflicts] == [ConflictKind.CONTENT]
    assert not (tmp_path / "ran").exists()


def test_a_replaced_commit_is_picked_as_it_is(upstream: Repository, opened: Opened) -> None:
    fix = sides(upstream, {"other.py": "o = 1\n"}, {"pkg/a.py": "x = 1\ny = 20\nz = 3\n"})
    store = opened(upstream)
    before = simulated(store, fix, tip(upstream))
    evil = upstream.commit("evil", {"pkg/a.py": "import evil\n"})
    upstream.git("replace", fix, evil)
    store.run_git("update-ref", f"refs/replace/{fix}", evil)
    assert upstream.git("show", f"{fix}:pkg/a.py") == "import evil"
    assert simulated(store, fix, tip(upstream)) == before


def clone(upstream: Repository, folder: Path, *options: str) -> Path:
    subprocess.run(
        ["git", "clone", "--quiet", "--no-single-branch", *options, f"file://{upstream.folder}", str(folder)],
        check=True,
        capture_output=True,
    )
    return folder


def test_a_parent_hidden_by_a_shallow_clone_is_never_a_conflict(
    tmp_path: Path, upstream: Repository, opened: Opened
) -> None:
    fix = sides(upstream, {"other.py": "o = 1\n"}, {"pkg/a.py": "x = 1\ny = 20\nz = 3\n"})
    shallow = clone(upstream, tmp_path / "shallow", "--depth", "1")
    pick = simulated(opened(shallow), fix, tip(upstream))
    assert pick.outcome is PickOutcome.UNKNOWN
    assert "git fetch --unshallow" in pick.why


def test_a_blob_that_a_partial_clone_lacks_is_never_a_conflict(
    tmp_path: Path, upstream: Repository, opened: Opened
) -> None:
    fix = sides(upstream, {"pkg/a.py": "x = 7\ny = 2\nz = 3\n"}, {"pkg/a.py": "x = 1\ny = 20\nz = 3\n"})
    upstream.git("config", "uploadpack.allowFilter", "true")
    partial = clone(upstream, tmp_path / "partial", "--filter=blob:none", "--no-checkout")
    store = opened(partial)
    pick = simulated(store, fix, tip(upstream))
    assert pick.outcome is PickOutcome.UNKNOWN
    assert pick.tree is None
    assert "git fetch --refetch" in pick.why
    with Picker(store) as picker, pytest.raises(HostError, match="cannot be read") as caught:
        picker.objects.read_file(picker.read_tree(fix), "pkg/a.py")
    assert "git fetch --refetch" in caught.value.next_step


def test_one_unreadable_pick_does_not_spoil_the_others(tmp_path: Path, upstream: Repository, opened: Opened) -> None:
    good = sides(upstream, {"pkg/a.py": "x = 7\ny = 2\nz = 3\n"}, {"new.py": "n = 1\n"})
    bad = upstream.commit("bad", {"pkg/a.py": "x = 1\ny = 20\nz = 3\n"})
    lost = upstream.git("rev-parse", f"{bad}:pkg/a.py")
    (upstream.folder / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    with Picker(opened(upstream)) as picker:
        onto = picker.read_tree(tip(upstream))
        changes = [picker.read_change(sha) for sha in (good, bad, good)]
        pick = picker.pick_all([(change, onto) for change in changes])
    assert [pick.outcome for pick in pick] == [PickOutcome.CLEAN, PickOutcome.UNKNOWN, PickOutcome.CLEAN]
    assert lost in pick[1].why
