"""The tree of a finished run, for an audit of what its pull request should contain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.adapters.git import Store
from backproof.rundir import loaded_run

if TYPE_CHECKING:
    from collections.abc import Callable

    from backproof.records.proof import Run
    from backproof.rundir.ledger import Ledger
    from backproof.rundir.registry import Registry


def open_tree(ledger: Ledger, run: Run, registry: Registry) -> Callable[[str], str | None]:
    """Read files of the whole backport, by path, from the run's own object store; None for a path it lacks."""
    loaded = loaded_run.load_run(ledger, run, registry)
    head = loaded.fixup.head if loaded.fixup else (loaded.pick.head if loaded.pick else "")
    store = Store.open(ledger.store)

    def read_blob(path: str) -> str | None:
        done = store.run_git("cat-file", "blob", f"{head}:{path}")
        return done.text if done.code == 0 else None

    return read_blob
