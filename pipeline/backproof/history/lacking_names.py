"""Names and arguments that a clean pick uses and the release lacks: text merges around them, and no conflict says so.

Only what the release with the pick lacks, and neither the release alone nor main, is reported: the fix worked on main.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.adapters import pyrefly

if TYPE_CHECKING:
    from backproof.adapters.pyrefly import LackingName
    from backproof.history.picks import Change, Drop, Picker

NOT_CHECKED = "whether the release has the names that the fix uses was not checked: install backproof[names]"


def find_lacking_names(picker: Picker, change: Change, base: str, head: str, *, drop: Drop) -> tuple[str, ...]:
    """Return one sentence for each name that the tree `head` uses and lacks, with file and line; none without pyrefly.

    Args:
        picker: of the store that holds the trees.
        change: what the fix does on main.
        base: the release's tree.
        head: the release's tree with the pick.
        drop: paths that are left out.
    """
    if not pyrefly.is_installed():
        return ()
    reports = _check_tree(picker, head, base, drop)
    if not reports:
        return ()
    # Most picks end above: these two checks are for those that have something to be told apart.
    known = Counter((report.path, report.text) for report in _check_tree(picker, base, head, drop))
    main = {report.text for report in _check_tree(picker, change.after, change.before, drop)}
    sentences: list[str] = []
    for report in reports:
        known[report.path, report.text] -= 1
        if known[report.path, report.text] < 0 and report.text not in main:
            sentences.append(f"{report.path}:{report.line}: {report.text}; main has it")
    return tuple(dict.fromkeys(sentences))


def _check_tree(picker: Picker, tree: str, other: str, drop: Drop) -> list[LackingName]:
    """Check the Python files in which a tree differs from another one."""
    pairs = picker.diff_trees(other, tree).items()
    paths = [path for path, (_, new) in pairs if new is not None and path.endswith(".py") and not drop(path)]
    if not paths:
        return []
    with tempfile.TemporaryDirectory(prefix="backproof-") as folder:
        picker.store.export_tree(tree, Path(folder) / "tree", links=False)
        return pyrefly.find_lacking_names(Path(folder) / "tree", paths)
