"""The commit-graph that a question borrows from the cache: whole, or made again; never in the user's repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from backproof.history.landings import Landings
from backproof.history.picks import Picker
from platformdirs import user_cache_path

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.adapters.git import Store
    from repositories import Opened, Repository


def ask(store: Store, *tips: str) -> bytes:
    """Ask a question, and return the graph that the store has for it."""
    with Picker(store) as picker:
        landings = Landings(picker, tips)
        assert all(landings.find(tip, tip) for tip in tips)
    graph = store.folder / "objects" / "info" / "commit-graph"
    assert store.run_git("commit-graph", "verify").code == 0
    return graph.read_bytes()


def cached() -> Path:
    (path,) = (user_cache_path("backproof") / "history").glob("*.graph")
    return path


def reopen(store: Store) -> Store:
    (store.folder / "objects" / "info" / "commit-graph").unlink()
    return store


@pytest.mark.parametrize("damage", ["", "cut", "turned"])
def test_a_question_has_the_graph_of_the_one_before(upstream: Repository, opened: Opened, damage: str) -> None:
    first = upstream.commit("first", {"a.py": "a\n"})
    store = opened(upstream)
    graph = ask(store, first)
    damaged = {"": graph, "cut": graph[:-7], "turned": graph[:-40] + bytes([graph[-40] ^ 1]) + graph[-39:]}
    cached().write_bytes(damaged[damage])
    assert ask(reopen(store), first) == graph == cached().read_bytes()
    assert not (upstream.folder / ".git" / "objects" / "info" / "commit-graph").exists()


def test_new_commits_come_into_the_graph(upstream: Repository, opened: Opened) -> None:
    first = upstream.commit("first", {"a.py": "a\n"})
    store = opened(upstream)
    before = ask(store, first)
    second = upstream.commit("second", {"a.py": "b\n"})
    after = ask(reopen(store), second)
    assert bytes.fromhex(second) in after
    assert bytes.fromhex(second) not in before


def test_a_store_that_stays_gets_none(upstream: Repository, opened: Opened) -> None:
    store = opened(upstream)
    store.lazy = False
    with Picker(store) as picker:
        Landings(picker, [upstream.git("rev-parse", "HEAD")])
    assert not (store.folder / "objects" / "info" / "commit-graph").exists()
