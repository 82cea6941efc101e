"""Repositories and pull requests that a text names: an address, a body, the subject of a commit."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ADDRESS = re.compile(
    r"(?:(?:https?|ssh|git)://(?:[^@/\s]{1,500}@)?github\.com(?::\d{1,5})?/|(?:[\w.-]{1,100}@)?github\.com:)"
    r"(?P<repo>[\w.-]{1,100}/[\w.-]{1,100}?)(?:\.git)?/?",
    re.IGNORECASE | re.ASCII,
)
_ORIGINAL = re.compile(
    r"(?:backport(?:s|ed)?(?: of)?|cherry[- ]?pick(?:s|ed)?(?: of| from)?|original(?: pull request| pr)?:?)\s+"
    r"(?:(?:https?://[^/\s]+/)?[\w.-]+/[\w.-]+(?:/pull/|#)|#|pr #?)(\d{1,9})",
    re.IGNORECASE,
)
# GitHub puts the number of a squashed pull request behind its title; a backport's title often ends with the original's.
_NUMBERS = re.compile(r"(?:\(#(?P<original>\d{1,9})\) ?)?\(#(?P<pull>\d{1,9})\)$", re.ASCII)
_LONGEST = 20_000


@dataclass(frozen=True, kw_only=True, slots=True)
class NumberedSubject:
    """The subject of a commit without the numbers of pull requests behind it, and these numbers."""

    title: str
    pull: int | None = None
    original: int | None = None


def parse_repository(address: str) -> str:
    """Return the owner/name of an address on GitHub; empty where it is none."""
    match = _ADDRESS.fullmatch(address.strip())
    return match["repo"] if match else ""


def find_original_pull(text: str, *, but: int | None) -> int | None:
    """Return the pull request that a text calls itself a backport of, unless it is the one given by `but`."""
    match = _ORIGINAL.search(text[:_LONGEST])
    return int(match[1]) if match and int(match[1]) != but else None


def parse_subject(subject: str) -> NumberedSubject:
    """Read "a title (#12)", and "a title (#11) (#12)" of a backport."""
    subject = subject[-_LONGEST:].strip()
    match = _NUMBERS.search(subject)
    if match is None:
        return NumberedSubject(title=subject)
    title = subject[: match.start()].strip() or subject
    return NumberedSubject(
        title=title, pull=int(match["pull"]), original=int(match["original"]) if match["original"] else None
    )
