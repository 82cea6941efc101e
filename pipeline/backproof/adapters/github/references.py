"""Repositories and pull requests that a text names: an address, a body, the subject of a commit."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ADDRESS = re.compile(
    r"(?:(?:https?|ssh|git)://(?:[^@/\s]{1,500}@)?github\.com(?::\d{1,5})?/|(?:[\w.-]{1,100}@)?github\.com:)"
    r"(?P<repo>[\w.-]{1,100}/[\w.-]{1,100}?)(?:\.git)?/?",
    re.IGNORECASE | re.ASCII,
)
_LANDS = r"(?:cherry[ -]?pick|(?:back|forward)[ -]?port)(?:s|ed|ing)?\b"
_ANCHOR = re.compile(
    rf"(?:^|[.!?>*\-\[\](:]|\bthis(?: pr| pull request| commit| change| is an?)?)\W{{0,3}}(?:[\w.\-]{{1,30}} ){{0,2}}{_LANDS}"
    rf"|\b{_LANDS}(?=[\s:*(\[]{{1,3}}(?:(?:of|from|for|to|the|main|pull|request|pr|prs|upstream|original)\s){{0,3}}\W?(?:#|http|pr\b|\d{{4}}))"
    r"|\boriginal(?: pull request| pr)?\b:?|\(from(?= #)|\b(?:re-?appl(?:y|ies)|sync(?:s|ed)?|ports?)(?= (?:of )?(?:the )?(?:pr )?#)",
    re.IGNORECASE | re.MULTILINE,
)
"""Where a text says of itself that it lands again what landed elsewhere; its number follows in the same sentence."""
_SENTENCE = re.compile(r"(?:[^\n.;]|\.(?=\S)|\n(?![ \t]*(?:\n|[*>-]|#\D))){0,140}")
_REFERENCE = re.compile(
    r"(?:(?:https?://)?github\.com/)?(?P<repo>[\w.-]{1,100}/[\w.-]{1,100})(?:/pull/|#)(?P<named>\d{1,9})\b"
    r"|(?:(?P<before>\b[\w.-]{1,100})[\s`]+)?(?:(?:PRs?|pull requests?)[\s:\-]{1,2}|(?=[\[(`]{0,3}#))[\[(`]{0,3}#?(?P<bare>\d{1,9})\b"
    r"|(?:(?<=pick )|(?<=pick from ))(?P<only>\d{4,9})\b|(?P<owner>\b[\w-]{1,100})#(?P<short>\d{1,9})\b",
    re.IGNORECASE,
)
_REVERT = re.compile(r"\s*revert\b", re.IGNORECASE)
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


def find_original_pull(text: str, *, but: int | None, repo: str = "") -> int | None:
    """Return the pull request that a text calls itself a backport of.

    Args:
        text: a title with what stands below it.
        but: the number of the text's own pull request, which it is not.
        repo: its repository, owner/name; a number of another one's is none.
    """
    text = text[:_LONGEST]
    if _REVERT.match(text):
        return None
    for anchor in _ANCHOR.finditer(text):
        sentence = _SENTENCE.match(text, anchor.end())
        for match in _REFERENCE.finditer(text, anchor.end(), sentence.end() if sentence else anchor.end()):
            number = int(match["named"] or match["bare"] or match["only"] or match["short"])
            if _is_elsewhere(match, repo):
                break
            if number != but:
                return number
    return None


def _is_elsewhere(match: re.Match[str], repo: str) -> bool:
    """Return whether a number is another repository's: its address says so, or the name of a product before it."""
    owner, _, name = repo.lower().partition("/")
    if address := match["repo"]:
        return bool(repo) and address.lower() != repo.lower()
    word = (match["before"] or "").lower()
    is_product = word and (word == owner.partition("-")[0] or any(map(str.isupper, (match["before"] or "")[1:])))
    return bool(is_product and word not in {name, "pr", "prs", "pull", "ci"})


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
