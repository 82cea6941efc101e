"""Find issues of the upstream that look like a run's first fault, and list what they share.

A few searches by the most telling words, then a ranking over what came back; a shared code alone says little, for many
faults end in one code.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Literal

from backproof.adapters.github import issues
from backproof.core.errors import PlanError
from backproof.core.model import Record

if TYPE_CHECKING:
    from backproof.adapters.github import GitHubClient
    from backproof.adapters.github.issues import Issue
    from backproof.records.triage import TriageResult

SEARCHES = 6
_ROWS = 20
_CODE = re.compile(r"(?<![\w.#])(?:[1-5]\d{5}|E[0-9A-Z]\d{4}|0x[0-9a-f]{2,8})(?!\w)", re.IGNORECASE)
_MODEL = re.compile(r"\b(?=[A-Za-z.-]*\d)[A-Z][A-Za-z]+[A-Za-z0-9]*(?:[-.][A-Za-z0-9]+){0,5}\b")
_MODE = re.compile(r"\b[A-Z]{3,}(?:_[A-Z0-9]+){1,5}\b")
_WEIGHTS = {"kernel": 4, "kind": 3, "code": 2, "model": 2, "mode": 2}
_STARS = ((9, "★★★"), (5, "★★"), (3, "★"))


class Fingerprint(Record):
    """The features by which faults are compared."""

    kind: str = ""
    kernel: str = ""
    codes: tuple[str, ...] = ()
    model: str = ""
    modes: tuple[str, ...] = ()

    @property
    def features(self) -> dict[str, tuple[str, ...]]:
        """The values of each feature that is known."""
        single = {"kind": self.kind, "kernel": self.kernel, "model": self.model}
        values = {**{name: (value,) for name, value in single.items() if value}, "code": self.codes, "mode": self.modes}
        return {name: values[name] for name in _WEIGHTS if values.get(name)}


class SimilarIssue(Record):
    """An issue with the features it shares."""

    number: int
    title: str
    url: str
    state: str
    kind: Literal["issue", "pull request"]
    score: int
    shared: tuple[str, ...]
    differs: tuple[str, ...]

    @property
    def stars(self) -> str:
        return next((stars for least, stars in _STARS if self.score >= least), "")


class SimilarIssues(Record):
    """What a search on GitHub gave: what was searched by, and what shares most, best first."""

    fingerprint: dict[str, str]
    similar: tuple[SimilarIssue, ...]


def make_fingerprint(triaged: TriageResult | None, *, words: str = "") -> Fingerprint:
    """Make the fingerprint from the first fault of logs, and fill the gaps from what a person says.

    Args:
        words: for example the title of a run, the model and the mode.

    Raises:
        PlanError: nothing is known at all.
    """
    first = triaged.first_fault if triaged else None
    codes = [triaged.code or "", *(code.code for code in (*triaged.chain, *triaged.codes))] if triaged else []
    result = Fingerprint(
        kind=first.kind if first else "",
        kernel=(triaged.kernel or "") if triaged else "",
        codes=tuple(dict.fromkeys(filter(None, codes)))[:4] or tuple(dict.fromkeys(_CODE.findall(words)))[:4],
        model=next(iter(_MODEL.findall(words)), ""),
        modes=tuple(dict.fromkeys(_MODE.findall(f"{words} {first.text if first else ''}")))[:2],
    )
    if not (result.kind or result.kernel or result.codes):
        raise PlanError(
            "there is nothing to search by",
            why="no first fault was found, and the words name no code",
            next_step="give the logs of the failure, or its code with --words",
        )
    return result


def search_similar(client: GitHubClient, repo: str, wanted: Fingerprint) -> SimilarIssues:
    """Return the issues and pull requests that share most, best first.

    Raises:
        RefusedError: GitHub refused.
    """
    listed = (
        issues.search_issues(client, repo, words, kind=kind)
        for words in _build_queries(wanted)[: SEARCHES // 2]
        for kind in ("issue", "pr")
    )
    issues_by_number = {issue.number: issue for issue in chain.from_iterable(listed)}
    ranked = sorted(
        (_compare_issue(issue, wanted) for issue in issues_by_number.values()),
        key=lambda issue: (-issue.score, -issue.number),
    )
    return SimilarIssues(
        fingerprint={name: ", ".join(words) for name, words in wanted.features.items()},
        similar=tuple(issue for issue in ranked if issue.score)[:_ROWS],
    )


def _build_queries(wanted: Fingerprint) -> list[str]:
    """Return queries, the most telling words first. A query has few words: the search wants all of them."""
    kind = _get_first_word(wanted.kind)
    mode = " ".join((wanted.model, *wanted.modes[:1]))
    telling = map(_strip_operators, (wanted.kernel, *wanted.codes[:1], f"{kind} {wanted.model}", mode, kind))
    return [f'"{query}"' if " " not in query else query for query in dict.fromkeys(telling) if query]


def _strip_operators(words: str) -> str:
    """Return words for a query: nothing in them is a qualifier or an operator."""
    return " ".join(re.findall(r"[\w.-]+", words.replace(":", " ")))[:100]


def _get_first_word(kind: str) -> str:
    return kind.partition("-")[0]


def _compare_issue(issue: Issue, wanted: Fingerprint) -> SimilarIssue:
    text = issue.text[:200_000]
    shared = {
        name: [word for word in words if _contains_word(text, _get_first_word(word) if name == "kind" else word)]
        for name, words in wanted.features.items()
    }
    return SimilarIssue(
        number=issue.number,
        title=issue.title,
        url=issue.html_url,
        state=issue.state,
        kind="pull request" if issue.pull else "issue",
        score=sum(_WEIGHTS[name] for name, values in shared.items() if values),
        shared=tuple(f"{name} {', '.join(values)}" for name, values in shared.items() if values),
        differs=_find_other_codes(text, wanted.codes),
    )


def _contains_word(text: str, word: str) -> bool:
    """Return whether the text has the word, as it is or without hyphens: GLM-5.3-Flash is GLM5.3 Flash elsewhere."""
    return any(
        re.search(rf"(?<![A-Za-z0-9]){re.escape(spell(word))}(?![A-Za-z0-9])", spell(text), re.IGNORECASE)
        for spell in (str, _drop_hyphens)
    )


def _drop_hyphens(text: str) -> str:
    return re.sub(r"(?<=\w)[-_](?=\w)", "", text)


def _find_other_codes(text: str, ours: tuple[str, ...]) -> tuple[str, ...]:
    """Return codes of the same numbering that differ: same place, another fault."""
    lengths = {len(code) for code in ours if code.isdigit()}
    seen = dict.fromkeys(code for code in _CODE.findall(text) if code.isdigit() and len(code) in lengths)
    return tuple(f"code {code}" for code in seen if code not in ours and any(code[:3] == own[:3] for own in ours))[:3]
