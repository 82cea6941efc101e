"""A finished run, for an audit of what its pull request should contain and claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.adapters.git import Store
from backproof.verdict import run_verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from backproof.records.proof import Run
    from backproof.rundir.ledger import Ledger
    from backproof.rundir.loaded_run import LoadedRun
    from backproof.rundir.registry import Registry


def open_run(ledger: Ledger, said: Run, registry: Registry) -> tuple[Callable[[str], str | None], LoadedRun]:
    """Return a reader of the whole backport's files, by path (None for one it lacks), and the run, judged again."""
    loaded = run_verdict.read_run(ledger, said, registry)
    head = loaded.fixup.head if loaded.fixup else (loaded.pick.head if loaded.pick else "")
    store = Store(ledger.store)
    tree = store.objects.read_commit(head).tree if store.objects.find_object(head) else None

    def read_blob(path: str) -> str | None:
        content = store.objects.read_file(tree, path) if tree else None
        return None if content is None else content.decode("utf-8", "replace")

    return read_blob, loaded
