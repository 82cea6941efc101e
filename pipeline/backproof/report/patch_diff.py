"""The patch as landed beside upstream's, file by file: what is the same, what was dropped, adapted or added. No I/O."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

_MAIL = re.compile(r"^From (?P<sha>[0-9a-f]{40}) ", re.MULTILINE)
_FILE = re.compile(r"^diff --git (?P<names>.+)$", re.MULTILINE)
_PLACE = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@.*$", re.MULTILINE)
_AFTER = re.compile(r"^\+\+\+ \"?(?:b/)?(?P<path>[^\t\n\"]+)", re.MULTILINE)
_BEFORE = re.compile(r"^--- \"?(?:a/)?(?P<path>[^\t\n\"]+)", re.MULTILINE)
_NOWHERE = "/dev/null"


@dataclass(frozen=True, kw_only=True, slots=True)
class FileDiff:
    """One file of one commit on both sides; "" where the other has it alone."""

    path: str
    kind: Literal["same", "adapted", "dropped", "added", "fix-up"]
    upstream: str
    landed: str


def pair_files(upstream: str, landed: str, *, fixups: Iterable[str], dropped: Iterable[str]) -> tuple[FileDiff, ...]:
    """Put both patches beside each other.

    Args:
        upstream: the source commits, as mails.
        landed: the whole backport, as mails.
        fixups: hashes of the landed commits that are no part of upstream's change.
        dropped: paths that the plan left out.
    """
    ours = set(fixups)
    theirs = _read_files(text for _, text in split_mails(upstream))
    picked = _read_files(text for sha, text in split_mails(landed) if sha not in ours)
    added = _read_files(text for sha, text in split_mails(landed) if sha in ours)
    left = set(dropped)
    rows = [
        FileDiff(
            path=path,
            kind=_classify_file(path, theirs, picked, left),
            upstream=theirs.get(path, ""),
            landed=picked.get(path, ""),
        )
        for path in dict.fromkeys((*theirs, *picked))
    ]
    return (*rows, *(FileDiff(path=path, kind="fix-up", upstream="", landed=text) for path, text in added.items()))


def _classify_file(
    path: str, theirs: dict[str, str], picked: dict[str, str], dropped: set[str]
) -> Literal["same", "adapted", "dropped", "added"]:
    if path not in picked:
        return "dropped" if path in dropped else "adapted"
    if path not in theirs:
        return "added"
    return "same" if _PLACE.sub("@@", theirs[path]) == _PLACE.sub("@@", picked[path]) else "adapted"


def split_mails(mails: str) -> list[tuple[str, str]]:
    """Return hash and text of each mail; a patch that is no mail is one commit without a hash."""
    starts = [*_MAIL.finditer(mails)]
    if not starts:
        return [("", mails)] if mails else []
    ends = [match.start() for match in starts[1:]] + [len(mails)]
    return [(match["sha"], mails[match.start() : end]) for match, end in zip(starts, ends, strict=True)]


def _read_files(texts: Iterable[str]) -> dict[str, str]:
    """Return the hunks of each path; commits that touch the same file stand one after the other."""
    files: dict[str, str] = {}
    for text in texts:
        starts = [match.start() for match in _FILE.finditer(text)]
        if not starts and not _MAIL.match(text):
            starts = [0]  # a bare diff, or what is none at all: shown as it is
        for start, end in zip(starts, [*starts[1:], len(text)][: len(starts)], strict=True):
            path, hunks = _read_file(text[start:end])
            files[path] = f"{files[path]}\n{hunks}" if path in files else hunks
    return files


def _read_file(text: str) -> tuple[str, str]:
    place = _PLACE.search(text)
    head, hunks = (text[: place.start()], text[place.start() :]) if place else (text, "")
    if not place and not _FILE.search(text):
        return "(unnamed)", text.rstrip("\n")
    names = [match["path"] for match in (_AFTER.search(head), _BEFORE.search(head)) if match]
    real = [name for name in names if name != _NOWHERE]
    named = _FILE.search(head)
    path = real[0] if real else named["names"].rpartition(" b/")[2] if named else "(unnamed)"
    return path, hunks.rstrip("\n") or "(no text: binary, mode or name only)"
