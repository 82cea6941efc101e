"""An index of the commits of a repository by what they say: kept in the user's cache, and only ever added to.

What a commit says never changes, so that an entry holds for ever; branches are asked with their tips of now. Each commit has
a number above those of its ancestors: one walk over the edges, newest first, tells which tips have which commit.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from backproof.adapters.git.log import list_ancestry, read_commits
from backproof.history.commit_graph import lend_commit_graph
from backproof.history.index_file import locate_index, open_index_file
from backproof.history.relations import Relations, plain_title

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from backproof.adapters.git import Store

_VERSION = 2
"""Raised with every change of what is written: an index of another version is another file."""
_BATCH = 2000
_SHORTEST, _LONGEST = 7, 40
_TABLES = """
CREATE TABLE IF NOT EXISTS commits (id INTEGER PRIMARY KEY, sha TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS edges (child INTEGER, parent INTEGER, PRIMARY KEY (child, parent)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS names (name TEXT, id INTEGER, PRIMARY KEY (name, id)) WITHOUT ROWID;
"""
_ADD_EDGE = "INSERT OR IGNORE INTO edges SELECT a.id, b.id FROM commits a, commits b WHERE a.sha = ? AND b.sha = ?"
_ADD_NAME = "INSERT OR IGNORE INTO names SELECT ?, id FROM commits WHERE sha = ?"


class CommitIndex:
    """The commits of some tips and their ancestors, as numbers; a number is above those of its ancestors."""

    def __init__(self, store: Store, tips: Iterable[str]) -> None:
        self._store = store
        self._bits = _number_bits(tips)
        # Another one where a shallow clone was cut elsewhere, for parents then differ.
        key = [str(_VERSION), *sorted(store.read_boundary()), store.read_borrowed()]
        path = locate_index("history", key)
        self._grown = False
        self._database = open_index_file(path, self._fill)
        if store.lazy:
            lend_commit_graph(store, path.with_suffix(".graph"), self._bits, new=self._grown)
        self._have = self._walk_edges()

    def _fill(self, database: sqlite3.Connection) -> None:
        database.executescript(_TABLES)
        if all(_find_number(database, tip) for tip in self._bits):
            return
        self._grown = True
        with database:
            database.execute("BEGIN IMMEDIATE")
            tops = database.execute("SELECT sha FROM commits WHERE id NOT IN (SELECT parent FROM edges)").fetchall()
            lacking = list_ancestry(self._store, self._bits, without=(sha for (sha,) in tops))
            while batch := list(itertools.islice(lacking, _BATCH)):
                _add_batch(database, self._store, batch)

    def _walk_edges(self) -> list[int]:
        """Return for each number the bits of the tips that have it."""
        ((last,),) = self._database.execute("SELECT coalesce(max(id), 0) FROM commits")
        have = [0] * (last + 1)
        for tip, bit in self._bits.items():
            have[self.get_number(tip)] |= bit
        for child, parent in self._database.execute("SELECT child, parent FROM edges ORDER BY child DESC"):
            have[parent] |= have[child]
        return have

    def mark(self, shas: Iterable[str]) -> None:
        """Make tips of some of the commits, so that their ancestors can be asked for."""
        tips = dict.fromkeys([*self._bits, *shas])
        if len(tips) > len(self._bits):
            self._bits = _number_bits(tips)
            self._have = self._walk_edges()

    def get_number(self, sha: str) -> int:
        """Return the number of a commit that is among the tips or their ancestors."""
        return _find_number(self._database, sha)

    def read_sha(self, number: int) -> str:
        (sha,) = self._database.execute("SELECT sha FROM commits WHERE id = ?", (number,)).fetchone()
        return str(sha)

    def has(self, tip: str, number: int) -> bool:
        """Tell whether a tip has a commit."""
        return bool(self._have[number] & self._bits[tip])

    def resolve(self, name: str) -> int:
        """Return the commit that a full or abbreviated hash names; 0 for none, or more than one."""
        query = "SELECT id FROM commits WHERE sha >= ? AND sha < ?"
        numbers = self._select(query, [name, f"{name}g"])
        return numbers[0] if len(numbers) == 1 else 0

    def find_naming(self, kind: str, *names: object) -> list[int]:
        """Return the commits that say this of these: full hashes, numbers of pull requests or titles."""
        keys = [key for name in names for key in _spell_keys(kind, str(name))]
        query = f"SELECT DISTINCT id FROM names WHERE name IN ({','.join('?' * len(keys))})"  # noqa: S608 - marks alone
        return self._select(query, keys)

    def _select(self, query: str, values: list[str]) -> list[int]:
        """Return the commits of our tips: the index also has those of earlier questions, which may be gone by now."""
        return sorted(number for (number,) in self._database.execute(query, values) if self._have[number])


def _number_bits(tips: Iterable[str]) -> dict[str, int]:
    return {tip: 1 << bit for bit, tip in enumerate(dict.fromkeys(tips))}


def _spell_keys(kind: str, name: str) -> list[str]:
    """Return the names under which something is in the index: a full hash also under its abbreviations."""
    lengths = range(_SHORTEST, _LONGEST + 1) if kind in _HASHES else [len(name)]
    return [f"{kind} {name[:length]}" for length in lengths]


_HASHES = frozenset({"source", "reverted", "cause", "followed"})


def _list_names(relations: Relations) -> Iterator[str]:
    """Yield the names under which a commit is found."""
    for kind, values in (
        ("source", relations.sources),
        ("reverted", relations.reverted),
        ("cause", relations.causes),
        ("followed", relations.followed),
        ("pull", [relations.pull]),
        ("ported", relations.ported),
        ("reverted-pull", relations.reverted_pulls),
        ("named-pull", relations.named_pulls),
        ("title", [relations.change_title]),
        ("plain-title", [plain_title(relations.title)]),
        ("reverted-title", [relations.reverted_title]),
        ("authored", [relations.authored]),
    ):
        yield from (f"{kind} {value}" for value in values if value)


def _find_number(database: sqlite3.Connection, sha: str) -> int:
    """Return the number of a commit; 0 where it has none."""
    row = database.execute("SELECT id FROM commits WHERE sha = ?", (sha,)).fetchone()
    return int(row[0]) if row else 0


def _add_batch(database: sqlite3.Connection, store: Store, batch: list[tuple[str, ...]]) -> None:
    # One may be there: what it was found under is gone from the repository.
    rows = [row for row in batch if not _find_number(database, row[0])]
    database.executemany("INSERT INTO commits (sha) VALUES (?)", [(sha,) for sha, *_ in rows])
    edges = [(sha, parent) for sha, *parents in rows for parent in parents]
    database.executemany(_ADD_EDGE, edges)
    commits = read_commits(store, (sha for sha, *_ in rows)) if rows else []
    names = ((name, commit.sha) for commit in commits for name in _list_names(Relations(commit)))
    database.executemany(_ADD_NAME, names)
