"""From a failure to its fix: the commits that a release lacks, ranked by the words that they share with it, each with why."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from backproof.adapters.git.patches import list_unmerged
from backproof.history.branches import find_main
from backproof.history.fix_index import ALL_PARTS, open_index
from backproof.history.records import FindRecord, FoundFix
from backproof.history.survey import survey_branches

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from backproof.history.fix_index import FixIndex
    from backproof.history.repository import Repository
    from backproof.records.triage import Clue

_IDENTIFIER: Final = re.compile(r"\b(?=[0-9_]*[A-Za-z])\w{3,80}", re.ASCII)
_TELLING: Final = re.compile(r"_|[a-z][A-Z]|[A-Za-z]\d|\d[A-Za-z]")
"""An identifier rather than a word of prose."""
_PART: Final = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}")
_FIX: Final = re.compile(r"\bfix|\bbug|revert", re.IGNORECASE)
_WORDS: Final = 90
_SHOWN: Final = 20
_WEIGHTS: Final = {"kind": 1.0, "code": 3.0, "kernel": 3.0, "word": 2.5, "raised": 1.5, "frame": 1.5, "line": 1.0}
_PROSE: Final = 0.35
_DEPTH: Final = 0.9
"""What a frame counts against the one that it called: the fault is near the innermost."""
LEAST: Final = 45.0
"""A score below this is what a failure shares with any history (bench/find.py)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RankedFix:
    """A commit with its score, and the words that it shares, the most telling first."""

    sha: str
    subject: str
    score: float
    shared: tuple[str, ...]


def rank_fixes(
    index: FixIndex,
    clues: Iterable[Clue],
    candidates: Iterable[str],
    *,
    parts: tuple[str, ...] = ALL_PARTS,
    top: int = 10,
    least: float | None = None,
) -> list[RankedFix]:
    """Rank commits; empty when none shares enough to be more than chance.

    Args:
        candidates: full hashes; the index may hold more.
        parts: of the commits, where words are looked for.
        top: how many are returned.
        least: the score from which a commit is more than chance; by default what was measured.
    """
    allowed = frozenset(candidates)
    scores: dict[str, dict[str, float]] = defaultdict(dict)
    for word, weight in weigh_words(clues).items():
        for sha, score in index.score_word(word, parts).items():
            if sha in allowed:
                scores[sha][word] = weight * score
    ranked = sorted(
        (_make_fix(index.read_subject(sha), sha, words) for sha, words in scores.items()), key=lambda fix: -fix.score
    )
    return [fix for fix in ranked[:top] if fix.score >= (LEAST if least is None else least)]


def _make_fix(subject: str, sha: str, words: dict[str, float]) -> RankedFix:
    score = sum(words.values()) * (1.5 if _FIX.search(subject) else 1.0)
    shared = sorted(words, key=lambda word: -words[word])
    return RankedFix(sha=sha, subject=subject, score=score, shared=tuple(shared[:6]))


def weigh_words(clues: Iterable[Clue]) -> dict[str, float]:
    """Return the words to search for, each with its weight; the heaviest, where there are too many."""
    weights: dict[str, float] = {}
    depth = 1.0
    for clue in clues:
        if clue.what == "frame":
            depth *= _DEPTH
        for word, share in _split_clue(clue):
            weight = _WEIGHTS[clue.what] * share * (depth if clue.what == "frame" else 1.0)
            weights[word] = max(weight, weights.get(word, 0.0))
    return dict(sorted(weights.items(), key=lambda item: -item[1])[:_WORDS])


def _split_clue(clue: Clue) -> Iterator[tuple[str, float]]:
    if clue.what == "code":
        yield clue.text.lower(), 1.0
    elif clue.what == "frame":
        place, _, name = clue.text.rpartition(" in ")
        yield name.lower(), 1.0
        yield PurePosixPath(place.rpartition(":")[0]).stem.lower(), 0.5
    else:
        for word in _IDENTIFIER.findall(clue.text):
            if _TELLING.search(word):
                # Of a log's `gather_v3`, the operator is `GatherV3`; the other way round the parts below find it.
                yield from ((spelling, 1.0) for spelling in {word.lower(), word.lower().replace("_", "")})
                yield from ((part.lower(), _PROSE) for part in _PART.findall(word))
            else:
                yield word.lower(), _PROSE


def search_history(
    opened: Repository, clues: Sequence[Clue], *, release: str, main_branch: str | None, top: int
) -> FindRecord:
    """Search the commits of main that a release lacks, and ask for the best of them whether the release needs and takes them.

    Args:
        release: a branch, tag or commit.
        top: how many commits are returned at most.
    """
    main, tip = find_main(opened.source, main_branch), opened.resolve_branch(release)
    candidates = list_unmerged(opened.picker.store, main, tip)
    with open_index(opened.source, opened.picker.store, main, opened.say) as index:
        ranked = rank_fixes(index, clues, candidates, top=top)
    rows = {}
    if ranked:
        survey = survey_branches(opened.picker, [fix.sha for fix in ranked], {release: tip}, main=main)
        rows = {row.commit: row for row in survey.rows}
    fixes = (
        FoundFix(
            commit=fix.sha,
            subject=fix.subject,
            score=round(fix.score, 1),
            shared=fix.shared,
            outcome=rows[fix.sha].outcome,
            affected=rows[fix.sha].affected,
        )
        for fix in ranked
    )
    words = tuple(weigh_words(clues))[:_SHOWN]
    return FindRecord(release=release, candidates=len(candidates), searched_by=words, fixes=tuple(fixes))
