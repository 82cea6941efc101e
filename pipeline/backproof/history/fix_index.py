"""The messages and changes of a main branch as a full-text index, which is kept and grows with the branch."""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Final

from backproof.adapters.git.patches import list_unmerged, read_patches
from backproof.history.index_file import locate_index, open_index_file

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

    from backproof.adapters.git import Source, Store

_VERSION: Final = 1
_SCHEMA: Final = """
DROP TABLE IF EXISTS commits;
DROP TABLE IF EXISTS words;
CREATE TABLE commits (id INTEGER PRIMARY KEY, sha TEXT NOT NULL UNIQUE, subject TEXT NOT NULL);
CREATE VIRTUAL TABLE words USING fts5(subject, body, files, lines, content='', tokenize="unicode61");
"""
ALL_PARTS: Final = ("subject", "body", "files", "lines")
# What a commit says of itself tells more than what it changes.
_WEIGHTS: Final = "4.0, 3.0, 3.0, 1.0"


class FixIndex:
    """Finds the commits that hold a word. One connection, for one command."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        if connection.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
            connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {_VERSION}; COMMIT;")

    def add_commits(self, store: Store, main: str) -> int:
        """Index the commits of `main` that are not there yet, and return how many were new."""
        known_shas = {sha for (sha,) in self._connection.execute("SELECT sha FROM commits")}
        missing = [sha for sha in list_unmerged(store, main) if sha not in known_shas]
        with self._connection:
            for patch in read_patches(store, missing):
                subject, _, body = patch.message.partition("\n")
                row = self._connection.execute("INSERT INTO commits(sha, subject) VALUES (?, ?)", (patch.sha, subject))
                self._connection.execute(
                    "INSERT INTO words(rowid, subject, body, files, lines) VALUES (?, ?, ?, ?, ?)",
                    (row.lastrowid, subject, body, "\n".join(patch.files), patch.lines),
                )
        return len(missing)

    def score_word(self, word: str, parts: tuple[str, ...] = ALL_PARTS) -> dict[str, float]:
        """Return the commits that hold a word, each with its BM25 score: the rarer the word, the higher."""
        quoted = word.replace('"', '""').replace("\0", " ")
        rows = self._connection.execute(
            f"SELECT sha, -bm25(words, {_WEIGHTS}) FROM words JOIN commits ON id = words.rowid WHERE words MATCH ?",  # noqa: S608 - constants
            (f'{{{" ".join(parts)}}} : "{quoted}"',),
        )
        return {sha: score for sha, score in rows if score > 0}

    def read_subject(self, sha: str) -> str:
        return str(self._connection.execute("SELECT subject FROM commits WHERE sha = ?", (sha,)).fetchone()[0])


@contextmanager
def open_index(source: Source, store: Store, main: str, say: Callable[[str], None]) -> Iterator[FixIndex]:
    """Open the index of a repository in the user's cache, brought up to `main`; the first time takes a while."""
    path = locate_index("fixes", [str(_VERSION), str(source.git_dir.resolve())])
    if not path.exists():
        say("reading the history of main once: the next search has it")

    def fill(connection: sqlite3.Connection) -> None:
        # What is damaged is told now, not in the middle of a search.
        connection.execute("PRAGMA quick_check(1)").fetchone()
        FixIndex(connection).add_commits(store, main)

    with closing(open_index_file(path, fill)) as connection:
        yield FixIndex(connection)
