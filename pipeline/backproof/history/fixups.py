"""Fix-ups of a kit, an anchored insertion or a patch: apply them to a tree of objects, and read what they add."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from backproof.adapters.git.command import checked
from backproof.adapters.git.objects import FILE_MODES, Entry
from backproof.core.errors import NeedsReview, PlanError
from backproof.kit import insertion as anchored

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from backproof.adapters.git import Store


def apply_fixup(store: Store, tree: str, fixup: Path) -> str:
    """Return the tree with a fix-up; one that is there already changes nothing.

    Raises:
        PlanError: the file is no fix-up.
        NeedsReview: it cannot be placed.
    """
    return _insert(store, tree, fixup) if _is_insertion(fixup) else _patch(store, tree, fixup)


def apply_fixups(store: Store, tree: str, fixups: Iterable[Path]) -> str:
    """Return the tree with all fix-ups, in order; see `apply_fixup`."""
    for fixup in fixups:
        tree = apply_fixup(store, tree, fixup)
    return tree


def read_added_text(fixup: Path, path: str) -> str:
    """Return what a fix-up adds to a file; '' when it does not touch it.

    Raises:
        PlanError: the file is no fix-up.
    """
    if _is_insertion(fixup):
        insertion = anchored.load_insertion(fixup)
        return insertion.insert if insertion.file == path else ""
    hunks = [hunk for file in _read_patch(fixup) if file.path == path for hunk in file]
    return "".join(line.value for hunk in hunks for line in hunk if line.is_added)


def _is_insertion(fixup: Path) -> bool:
    return fixup.suffix == ".toml"


def _insert(store: Store, tree: str, fixup: Path) -> str:
    insertion = anchored.load_insertion(fixup)
    old = store.objects.find_entry(tree, insertion.file)
    if old is None or old.mode not in FILE_MODES:
        raise _misplaced(fixup, "cannot be placed", f"the picked tree has no file {insertion.file}")
    changed = anchored.insert_statement(store.objects.read_object(old.oid, "blob"), insertion)
    if changed is None:
        return tree
    blob = store.objects.write_object("blob", changed)
    return store.objects.edit_tree(tree, {insertion.file: Entry(mode=old.mode, oid=blob)})


def _patch(store: Store, tree: str, fixup: Path) -> str:
    """Apply without fuzz: the context is there or the patch is refused."""
    _read_patch(fixup)
    patch = fixup.read_bytes()
    index = store.folder.absolute() / "fixup.index"
    env = {"GIT_INDEX_FILE": str(index)}
    command = ("apply", "--cached", "--whitespace=nowarn")
    try:
        checked(store.run_git("read-tree", tree, env=env), "the picked tree cannot be read")
        applied = store.run_git(*command, "-", stdin=patch, env=env)
        if applied.code == 0:
            return checked(store.run_git("write-tree", env=env), "the fixed tree cannot be written").text.strip()
        if store.run_git(*command, "--reverse", "--check", "-", stdin=patch, env=env).code == 0:
            return tree
        raise _misplaced(fixup, "does not apply after the pick", applied.error_text.strip()[-800:])
    finally:
        index.unlink(missing_ok=True)


def _read_patch(fixup: Path) -> PatchSet:
    try:
        return PatchSet(fixup.read_text(encoding="utf-8", errors="replace"))
    except (UnidiffParseError, OSError) as error:
        raise PlanError(f"{fixup}: not a patch", why=str(error), next_step="make it with `git diff`") from error


def _misplaced(fixup: Path, what: str, why: str) -> NeedsReview:
    return NeedsReview(
        f"the fix-up {fixup.name} {what}",
        why=why,
        next_step=f"correct {fixup} for this branch, or drop the fix-up from the plan",
    )
