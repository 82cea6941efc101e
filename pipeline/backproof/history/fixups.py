"""What the fix-ups of a kit make of a tree, without a worktree: compare needs it for declared differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.adapters.git.objects import Entry
from backproof.core.errors import NeedsReview
from backproof.kit import insertion as anchored

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backproof.history.simulate import Simulator


def amended(simulator: Simulator, tree: str, fixups: Sequence[Path]) -> str:
    """The tree with each fix-up; one that is there already changes nothing.

    Raises:
        NeedsReview: one cannot be placed.
    """
    for fixup in fixups:
        tree = _inserted(simulator, tree, fixup) if fixup.suffix == ".toml" else _patched(simulator, tree, fixup)
    return tree


def _inserted(simulator: Simulator, tree: str, fixup: Path) -> str:
    insertion = anchored.load_insertion(fixup)
    old = simulator.objects.entry(tree, insertion.file)
    text = simulator.objects.file(tree, insertion.file)
    if old is None or text is None:
        raise _misplaced(fixup, f"the picked tree has no file {insertion.file}")
    changed = anchored.insert_statement(text, insertion)
    if changed is None:
        return tree
    blob = simulator.objects.write("blob", changed)
    return simulator.objects.edited(tree, {insertion.file: Entry(mode=old.mode, oid=blob)})


def _patched(simulator: Simulator, tree: str, fixup: Path) -> str:
    store = simulator.store
    index = store.folder / "fixup.index"
    env = {"GIT_INDEX_FILE": str(index)}
    patch = fixup.read_bytes()
    try:
        store.git("read-tree", tree, env=env)
        done = store.git("apply", "--cached", "--whitespace=nowarn", "-", stdin=patch, env=env)
        if done.code != 0:
            if store.git("apply", "--cached", "--reverse", "--check", "-", stdin=patch, env=env).code == 0:
                return tree
            raise _misplaced(fixup, done.error_text.strip()[-500:])
        return store.git("write-tree", env=env).text.strip()
    finally:
        index.unlink(missing_ok=True)


def _misplaced(fixup: Path, why: str) -> NeedsReview:
    return NeedsReview(
        f"{fixup.name}: this fix-up does not fit the picked tree",
        why=why,
        next_step="correct the fix-up, or compare without --kit",
    )
