"""The whole installed distribution beside the tree of its branch: a proof on another release is one of that release."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pathspec import GitIgnoreSpec

from backproof.adapters.git.objects import FILE_MODES
from backproof.core.model import Arm
from backproof.install.overlay import find_original

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backproof.adapters.git import Store
    from backproof.adapters.git.objects import Entry
    from backproof.install.patch import Patch

_BESIDE = frozenset({"test", "tests", "testing"})
"""Folders that a branch has in its packages and a wheel often leaves out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BranchComparison:
    """How many files have a counterpart in the branch's tree, and those that are not as there, below site-packages.

    `differs` have other content, `lacks` are modules that stand in a package of the branch and are not installed.
    """

    compared: int
    differs: tuple[str, ...]
    lacks: tuple[str, ...]


def compare_branch(store: Store, the_patch: Patch, root: str, *, published: bool) -> BranchComparison:
    """Compare what the distribution installs, the files of the patch left out: those are compared before they are changed.

    Args:
        store: the objects of the run.
        the_patch: with the distribution and the tree of the branch.
        root: the folder of the repository whose content is installed.
        published: the tree is the published release, which has what its build made, too. Its .gitignore says what that is: git
            would not have kept it.
    """
    tree, own = the_patch.trees[Arm.BASE], {file.installed for file in the_patch.files}
    made = GitIgnoreSpec.from_lines(_read_ignored(store, tree) if published else ())
    pairs = {
        path: entry
        for path in sorted(the_patch.installed.files.keys() - own)
        if not made.match_file(_tree_path(root, path))
        and (entry := store.objects.find_entry(tree, _tree_path(root, path)))
        and entry.mode in FILE_MODES
    }
    return BranchComparison(
        compared=len(pairs),
        differs=tuple(path for path, entry in pairs.items() if not _is_same(the_patch, path, entry)),
        lacks=tuple(
            sorted(set(_list_modules(store, the_patch, root, set(pairs))) - own - set(the_patch.installed.files))
        ),
    )


def _read_ignored(store: Store, tree: str) -> list[str]:
    return (store.objects.read_file(tree, ".gitignore") or b"").decode("utf-8", "replace").splitlines()


def _tree_path(root: str, path: str) -> str:
    return (PurePosixPath(root or ".") / path).as_posix()


def _is_same(the_patch: Patch, path: str, entry: Entry) -> bool:
    """Compare as git names blobs, so that none of them is read."""
    try:
        content = find_original(the_patch.site, path).read_bytes()
    except OSError:
        return False
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest() == entry.oid


def _list_modules(store: Store, the_patch: Patch, root: str, paths: set[str]) -> Iterator[str]:
    for folder in sorted({PurePosixPath(path).parent for path in paths if path.endswith(".py")}):
        entry = store.objects.find_entry(the_patch.trees[Arm.BASE], _tree_path(root, folder.as_posix()))
        if entry is None or folder == PurePosixPath(".") or _BESIDE & set(folder.parts):
            continue
        names = store.objects.read_tree(entry.oid).items()
        yield from (
            (folder / name).as_posix() for name, item in names if name.endswith(".py") and item.mode in FILE_MODES
        )
