"""A commit-graph for the store of a question, kept in the user's cache: git walks history with it in a third of the time.

The user's repository may have none, and nothing is written there. git takes a commit that the graph lacks from its object, and
no graph at all in a shallow clone. https://git-scm.com/docs/commit-graph
"""

from __future__ import annotations

import contextlib
import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from backproof.adapters.git import Store

_CHECKSUM = 20
"""Bytes of SHA-1 at its end, over all before them."""


def lend_commit_graph(store: Store, path: Path, tips: Iterable[str], *, new: bool) -> None:
    """Put a graph of the repository into the store: the cached one, or a `new` one, which is then cached."""
    graph = store.folder / "objects" / "info" / "commit-graph"
    with contextlib.suppress(OSError):
        if not new and _is_whole(data := path.read_bytes()):
            graph.write_bytes(data)
            return
    names = "".join(f"{tip}\n" for tip in tips).encode()
    done = store.run_git("commit-graph", "write", "--no-progress", "--stdin-commits", stdin=names, asks=())
    with contextlib.suppress(OSError):
        if done.code == 0:
            aside = path.with_name(f"{store.folder.parent.name}-{path.name}")
            aside.write_bytes(graph.read_bytes())
            aside.replace(path)


def _is_whole(data: bytes) -> bool:
    """Tell whether all was written: with a damaged graph git answers wrongly."""
    digest = hashlib.sha1(data[:-_CHECKSUM], usedforsecurity=False).digest()
    return data.startswith(b"CGPH") and data[-_CHECKSUM:] == digest
