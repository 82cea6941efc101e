"""Which repository and which pull requests a text names: addresses, bodies, subjects of commits."""

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
    """The owner/name of an address on GitHub; empty where it is none."""
    found = _ADDRESS.fullmatch(address.strip())
    return found["repo"] if found else ""


def find_original_pull(text: str, *, but: int | None) -> int | None:
    """The pull request that a text says to be the backport of, unless it is the one that says so."""
    found = _ORIGINAL.search(text[:_LONGEST])
    return int(found[1]) if found and int(found[1]) != but else None


def parse_subject(subject: str) -> NumberedSubject:
    """Reads "a title (#12)", and "a title (#11) (#12)" of a backport."""
    subject = subject[-_LONGEST:].strip()
    found = _NUMBERS.search(subject)
    if found is None:
        return NumberedSubject(title=subject)
    title = subject[: found.start()].strip() or subject
    return NumberedSubject(
        title=title, pull=int(found["pull"]), original=int(found["original"]) if found["original"] else None
    )
