"""For any edits: the simulated pick is the real one, and a tree edited by us is the tree that git writes."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest
from backproof.adapters.git import Entry, Source, Store
from backproof.history.conflict_hunks import count_conflicts, find_hunks
from backproof.history.picks import Picker
from backproof.records.picks import PickOutcome
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from repositories import Repository

QUICK = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
LINES = st.lists(st.sampled_from(["a", "b", "c", "d", "e", ""]), max_size=12).map(lambda lines: "\n".join(lines) + "\n")
NAMES = st.sampled_from(["f", "dir/f", "dir/g", "dir", "dir.x", "dir/sub/h", "z"])


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    folder = tmp_path_factory.mktemp("shared")
    repository = Repository(folder)
    repository.git("init", "--quiet", "-b", "main")
    return repository


def cherry_picked(repository: Repository, fix: str) -> str | None:
    """The tree of a real cherry-pick; None where it conflicts."""
    done = subprocess.run(
        ["git", "-c", "merge.conflictStyle=diff3", "-C", str(repository.folder), "cherry-pick", "--no-commit", fix],
        capture_output=True,
        check=False,
    )
    return repository.git("write-tree") if done.returncode == 0 else None


@QUICK
@given(base=LINES, ours=LINES, theirs=LINES)
def test_a_simulated_pick_is_the_real_one(shared: Repository, base: str, ours: str, theirs: str) -> None:
    shared.git("reset", "--quiet", "--hard") if (shared.folder / ".git" / "index").exists() else None
    shared.git("checkout", "--quiet", "--force", "--orphan", "fresh")
    start = shared.commit("base", {"f": base})
    release = shared.commit("ours", {"f": ours})
    shared.git("checkout", "--quiet", "--force", "--detach", start)
    fix = shared.commit("theirs", {"f": theirs})
    shared.git("checkout", "--quiet", "--force", "--detach", release)
    shared.git("branch", "--quiet", "-D", "fresh")
    expected = cherry_picked(shared, fix)
    with tempfile.TemporaryDirectory() as folder:
        store = Store.create(Path(folder) / "s", Source.open(str(shared.folder)))
        with Picker(store) as picker:
            pick = picker.pick(fix, picker.read_tree(release))
            if pick.outcome is PickOutcome.CONFLICT:
                assert len(find_hunks(picker, pick.conflicts[0])) == count_conflicts(picker, pick)
    assert pick.tree == expected


@QUICK
@given(first=st.dictionaries(NAMES, LINES, max_size=5), second=st.dictionaries(NAMES, LINES | st.none(), max_size=5))
def test_an_edited_tree_is_what_git_writes(
    tmp_path_factory: pytest.TempPathFactory, first: dict[str, str], second: dict[str, str | None]
) -> None:
    store = Store(tmp_path_factory.mktemp("s"))
    subprocess.run(["git", "init", "-q", "--bare", str(store.folder)], check=True)
    with Picker(store) as picker:

        def entries(files: dict[str, str | None]) -> dict[str, Entry | None]:
            return {
                name: None
                if text is None
                else Entry(mode="100644", oid=picker.objects.write_object("blob", text.encode()))
                for name, text in files.items()
                # A name that is a file and a folder at once is no tree.
                if not any(other.startswith(f"{name}/") for other in {*first, *second})
            }

        before = entries(dict(first))
        tree = picker.objects.edit_tree(None, before)
        after = entries(second)
        ours = picker.objects.edit_tree(tree, after)
        differing = set(picker.objects.diff_trees(tree, ours))
    rows = {name: entry for name, entry in {**before, **after}.items() if entry}
    listing = "".join(f"{entry.mode} {entry.oid}\t{name}\n" for name, entry in rows.items())
    env = {"GIT_INDEX_FILE": str(store.folder / "index")}
    store.run_git("read-tree", "--empty", env=env)
    store.run_git("update-index", "--index-info", stdin=listing.encode(), env=env)
    assert ours == store.run_git("write-tree", env=env).text.strip()
    assert differing == {name for name in {*before, *after} if before.get(name) != rows.get(name)}
