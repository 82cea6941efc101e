"""Questions about history, each answered by one git process: logs, blame, patch ids, range-diff.

Paths and messages pass as bytes that need not be UTF-8; records are separated by NUL, never by newline.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backproof.adapters.git.command import checked
from backproof.adapters.git.objects import CommitInfo

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from backproof.adapters.git.store import Store

_FIELDS = ("%H", "%T", "%P", "%an <%ae>", "%B")
_BLAMED = re.compile(rb"^(\^?[0-9a-f]{40}) (\d+) (\d+)(?: \d+)?$")
_MARKED = re.compile(r"\x01[0-9a-f]{40}")
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


def read_log(store: Store, *revs: str, paths: Sequence[str] = (), options: Sequence[str] = ()) -> list[CommitInfo]:
    """Return commits without merges, newest first."""
    command = ("log", "-z", "--no-merges", f"--format={'%x00'.join(_FIELDS)}", *options, *revs, "--", *paths)
    done = checked(store.run_git(*command), "history cannot be read")
    tokens = done.stdout.decode("utf-8", "replace").split("\0")
    rows = zip(*(tokens[at :: len(_FIELDS)] for at in range(len(_FIELDS))), strict=False)
    return [
        CommitInfo(sha=sha.strip(), tree=tree, parents=tuple(parents.split()), author=author, message=message)
        for sha, tree, parents, author, message in rows
        if sha.strip()
    ]


def find_merge_base(store: Store, first: str, second: str) -> str | None:
    """Return the newest common ancestor; None where there is none (or a shallow clone hides it)."""
    done = store.run_git("merge-base", first, second)
    return done.text.strip() if done.code == 0 else None


def read_touched_paths(store: Store, *revs: str, paths: Sequence[str] = ()) -> dict[str, tuple[str, ...]]:
    """Return all paths that each commit changes; with `paths` only of the commits that change one of these."""
    options = ("-z", "--no-merges", "--no-renames", "--name-only", "--full-diff", "--full-history", "--format=%x01%H")
    done = checked(store.run_git("log", *options, *revs, "--", *paths), "history cannot be read")
    touched: dict[str, list[str]] = {}
    current: list[str] = []
    for token in done.stdout.decode("utf-8", "surrogateescape").split("\0"):
        if _MARKED.fullmatch(token):
            current = touched.setdefault(token[1:], [])
        elif token:
            # git starts the list of paths on a line of its own, also under -z.
            current.append(token if current else token.removeprefix("\n"))
    return {sha: tuple(paths) for sha, paths in touched.items()}


def blame_lines(
    store: Store, rev: str, path: str, ranges: Iterable[tuple[int, int]], *, without: str
) -> dict[int, str]:
    """Return the commit that wrote each line of the ranges; lines that `without` already has are left out."""
    spans = [flag for first, last in ranges for flag in ("-L", f"{first},{last}")]
    if not spans:
        return {}
    done = checked(
        store.run_git("blame", "--porcelain", *spans, rev, f"^{without}", "--", path),
        f"{path}: its history cannot be read",
    )
    writers: dict[int, str] = {}
    boundary: set[str] = set()
    current = ""
    for line in done.stdout.split(b"\n"):
        if match := _BLAMED.match(line):
            current = match[1].decode()
            writers[int(match[3])] = current
        elif line == b"boundary":
            boundary.add(current)
    return {line: sha for line, sha in writers.items() if sha not in boundary}


def read_patch_ids(store: Store, shas: Sequence[str]) -> dict[str, str]:
    """Return the stable patch id of each commit that changes something."""
    if not shas:
        return {}
    names = "\n".join(shas).encode() + b"\n"
    shown = checked(
        store.run_git("diff-tree", "--stdin", "--root", "-p", "--full-index", "--no-renames", stdin=names),
        "changes cannot be read",
    )
    done = checked(store.run_git("patch-id", "--stable", stdin=shown.stdout), "patch ids cannot be computed")
    return {commit: patch for patch, commit in (line.split() for line in done.text.splitlines())}


def diff_blobs(store: Store, old: str, new: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the differences of two blobs as a merge sees them: where the lines of each side begin and end, from 0."""
    options = ("--unified=0", "--histogram", "--no-indent-heuristic", "--text", "--no-ext-diff", "--no-textconv")
    text = checked(store.run_git("diff", *options, old, new), "two files cannot be compared").text
    sides = [(match.groups()[:2], match.groups()[2:]) for match in _HUNK.finditer(text)]
    return [(_read_span(*before), _read_span(*after)) for before, after in sides]


def _read_span(first: str, count: str | None) -> tuple[int, int]:
    """Return the span of one side of a hunk; one of no lines stands behind the line that it names."""
    lines = int(count or 1)
    start = int(first) - (1 if lines else 0)
    return start, start + lines


def render_range_diff(store: Store, original: str, landed: str) -> str:
    """Return two ranges of commits beside each other, for people."""
    # The default of 60 takes a small edited commit for two unrelated ones.
    done = store.run_git("range-diff", "--creation-factor=100", "--no-notes", "--no-color", original, landed)
    return checked(done, "the commits cannot be compared").stdout.decode("utf-8", "replace")
