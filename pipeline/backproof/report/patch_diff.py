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
    """Both patches beside each other.

    Args:
        upstream: the source commits, as mails.
        landed: the whole backport, as mails.
        fixups: hashes of the landed commits that are no part of upstream's change.
        dropped: paths that the plan left out.
    """
    ours = set(fixups)
    theirs = _files(text for _, text in commits(upstream))
    picked = _files(text for sha, text in commits(landed) if sha not in ours)
    added = _files(text for sha, text in commits(landed) if sha in ours)
    left = set(dropped)
    rows = [
        FileDiff(
            path=path,
            kind=_kind(path, theirs, picked, left),
            upstream=theirs.get(path, ""),
            landed=picked.get(path, ""),
        )
        for path in dict.fromkeys((*theirs, *picked))
    ]
    return (*rows, *(FileDiff(path=path, kind="fix-up", upstream="", landed=text) for path, text in added.items()))


def _kind(
    path: str, theirs: dict[str, str], picked: dict[str, str], dropped: set[str]
) -> Literal["same", "adapted", "dropped", "added"]:
    if path not in picked:
        return "dropped" if path in dropped else "adapted"
    if path not in theirs:
        return "added"
    return "same" if _PLACE.sub("@@", theirs[path]) == _PLACE.sub("@@", picked[path]) else "adapted"


def commits(mails: str) -> list[tuple[str, str]]:
    """Hash and text of each mail; a patch that is no mail is one commit without a hash."""
    starts = [*_MAIL.finditer(mails)]
    if not starts:
        return [("", mails)] if mails else []
    ends = [each.start() for each in starts[1:]] + [len(mails)]
    return [(each["sha"], mails[each.start() : end]) for each, end in zip(starts, ends, strict=True)]


def _files(texts: Iterable[str]) -> dict[str, str]:
    """The hunks of each path; commits that touch the same file stand one after the other."""
    found: dict[str, str] = {}
    for text in texts:
        starts = [each.start() for each in _FILE.finditer(text)]
        if not starts and not _MAIL.match(text):
            starts = [0]  # a bare diff, or what is none at all: shown as it is
        for start, end in zip(starts, [*starts[1:], len(text)][: len(starts)], strict=True):
            path, hunks = _file(text[start:end])
            found[path] = f"{found[path]}\n{hunks}" if path in found else hunks
    return found


def _file(text: str) -> tuple[str, str]:
    place = _PLACE.search(text)
    head, hunks = (text[: place.start()], text[place.start() :]) if place else (text, "")
    if not place and not _FILE.search(text):
        return "(unnamed)", text.rstrip("\n")
    names = [found["path"] for found in (_AFTER.search(head), _BEFORE.search(head)) if found]
    real = [each for each in names if each != _NOWHERE]
    named = _FILE.search(head)
    path = real[0] if real else named["names"].rpartition(" b/")[2] if named else "(unnamed)"
    return path, hunks.rstrip("\n") or "(no text: binary, mode or name only)"
