"""Questions about history, each answered by one git process: logs, blame, patch ids, range-diff.

Paths and messages pass as bytes that need not be UTF-8; records are separated by NUL, never by newline.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

from backproof.adapters.git.command import checked
from backproof.adapters.git.objects import CommitInfo

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from backproof.adapters.git.store import Store

    Span = tuple[int, int]

_FIELDS = ("%H", "%T", "%P", "%an <%ae>", "%at", "%B")
_BLAMED = re.compile(rb"^(\^?[0-9a-f]{40}) (\d+) (\d+)(?: \d+)?$")
_AS_MERGED = ("--unified=0", "--histogram", "--no-indent-heuristic", "--no-ext-diff", "--no-textconv")
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class FileHunks:
    """What a commit changes in a file: where the lines of each side begin and end, from 0; nothing for no text."""

    sha: str
    hunks: tuple[tuple[Span, Span], ...]


def read_log(store: Store, *revs: str, paths: Sequence[str] = (), options: Sequence[str] = ()) -> list[CommitInfo]:
    """Return commits without merges, newest first."""
    return _read_commits(store, "--no-merges", *options, *revs, "--", *paths)


def read_commits(store: Store, shas: Iterable[str]) -> list[CommitInfo]:
    """Return these commits, merges too, in this order."""
    return _read_commits(store, "--no-walk=unsorted", "--stdin", stdin="\n".join([*shas, ""]).encode())


def _read_commits(store: Store, *command: str, stdin: bytes = b"") -> list[CommitInfo]:
    done = store.run_git("log", "-z", f"--format={'%x00'.join(_FIELDS)}", *command, stdin=stdin)
    tokens = checked(done, "history cannot be read").stdout.decode("utf-8", "replace").split("\0")
    rows = zip(*(tokens[at :: len(_FIELDS)] for at in range(len(_FIELDS))), strict=False)
    return [
        CommitInfo(
            sha=sha.strip(), tree=tree, parents=tuple(parents.split()), author=who, authored=date, message=message
        )
        for sha, tree, parents, who, date, message in rows
        if sha.strip()
    ]


def list_ancestry(store: Store, tips: Iterable[str], *, without: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Yield each commit of the tips with its parents, parents first; what `without` has, where it is there, is left out."""
    names = "".join([*(f"{tip}\n" for tip in tips), *(f"^{sha}\n" for sha in without)]).encode()
    command = ("rev-list", "--reverse", "--topo-order", "--parents", "--ignore-missing", "--stdin")
    done = checked(store.run_git(*command, stdin=names), "history cannot be walked")
    for line in BytesIO(done.stdout):
        yield tuple(line.decode("ascii").split())


def find_merge_base(store: Store, first: str, second: str) -> str | None:
    """Return the newest common ancestor; None where there is none (or a shallow clone hides it)."""
    done = store.run_git("merge-base", first, second)
    return done.text.strip() if done.code == 0 else None


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


def diff_blobs(store: Store, old: str, new: str) -> list[tuple[Span, Span]]:
    """Return the differences of two blobs as a merge sees them: where the lines of each side begin and end, from 0."""
    done = store.run_git("diff", *_AS_MERGED, "--text", old, new, asks=[old, new])
    return _read_spans(checked(done, "two files cannot be compared").text)


def read_hunks(store: Store, *revs: str, paths: Collection[str]) -> dict[str, list[FileHunks]]:
    """Return for each file what each commit changes in it, newest first, merges left out."""
    options = ("--no-merges", "--topo-order", "--patch", "--no-renames", "--no-color", "--format=commit %H")
    done = checked(store.run_git("log", *options, *_AS_MERGED, *revs, "--", *paths, asks=()), "history cannot be read")
    # A line of a file starts with a sign, so that nothing in it is taken for a commit, a file or a hunk.
    text = done.stdout.decode("utf-8", "surrogateescape")
    names = {f"a/{path} b/{path}": path for path in paths}
    hunks: dict[str, list[FileHunks]] = {path: [] for path in paths}
    sha = ""
    for part in re.split(r"^(?=commit [0-9a-f]{40}$|diff --git )", text, flags=re.MULTILINE):
        head, _, rest = part.partition("\n")
        if head.startswith("commit "):
            sha = head.removeprefix("commit ")
        elif path := names.get(head.removeprefix("diff --git ")):
            hunks[path].append(FileHunks(sha=sha, hunks=tuple(_read_spans(rest))))
    return hunks


def _read_spans(text: str) -> list[tuple[Span, Span]]:
    sides = [(match.groups()[:2], match.groups()[2:]) for match in _HUNK.finditer(text)]
    return [(_read_span(*before), _read_span(*after)) for before, after in sides]


def _read_span(first: str, count: str | None) -> Span:
    """Return the span of one side of a hunk; one of no lines stands behind the line that it names."""
    lines = int(count or 1)
    start = int(first) - (1 if lines else 0)
    return start, start + lines


def render_range_diff(store: Store, original: str, landed: str) -> str:
    """Return two ranges of commits beside each other, for people."""
    # The default of 60 takes a small edited commit for two unrelated ones.
    done = store.run_git("range-diff", "--creation-factor=100", "--no-notes", "--no-color", original, landed)
    return checked(done, "the commits cannot be compared").stdout.decode("utf-8", "replace")


def find_merged_pull(store: Store, rev: str, pull: int) -> str | None:
    """Return the commit by which a pull request came into a branch, squashed or merged, the newest; None where none did."""
    pattern = rf"\(#{pull}\)$|^Merge pull request #{pull} "
    done = store.run_git("log", "-1", "--format=%H", "--extended-regexp", f"--grep={pattern}", rev)
    return done.text.strip() or None if done.code == 0 else None
