"""Commits of ours on trees that were made as objects. git itself writes message, author, committer and sign-off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.adapters.git.command import checked

if TYPE_CHECKING:
    from backproof.adapters.git.store import Store


def write_pick(store: Store, sha: str, *, tree: str, parent: str, signoff: bool, mainline: int | None) -> str:
    """Write the commit that `git cherry-pick -x` would write, with a tree that was made as an object."""
    options = ["--allow-empty", "--keep-redundant-commits", *(["-m", str(mainline)] if mainline else [])]
    # The strategy that keeps HEAD's tree: git writes message, author and sign-off, and merges nothing.
    return _write_commit(store, tree, parent, "cherry-pick", "--strategy=ours", "-x", *options, sha, signoff=signoff)


def write_commit(store: Store, message: str, *, tree: str, parent: str, signoff: bool) -> str:
    """Write a commit of ours."""
    command = ("commit", "--quiet", "--allow-empty", "--file=-")
    return _write_commit(store, tree, parent, *command, signoff=signoff, stdin=message.encode())


def _write_commit(store: Store, tree: str, parent: str, *command: str, signoff: bool, stdin: bytes = b"") -> str:
    empty = store.objects.write_synthetic(store.objects.write_object("tree", b""))
    with store.open_worktree(empty) as worktree:
        name, *rest = command
        done = worktree.run_git(name, *(["--signoff"] if signoff else []), *rest, stdin=stdin)
        checked(done, "the commit cannot be written")
        return store.objects.transplant_commit(worktree.read_head(), tree=tree, parent=parent)
