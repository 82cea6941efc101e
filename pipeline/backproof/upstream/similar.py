"""Find issues of the upstream that look like a run's first fault, and list what they share.

A few searches by the most telling words, then a ranking over what came back; a shared code alone says little, for many
faults end in one code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ValidationError

from backproof.adapters.github import issues
from backproof.core.errors import PlanError
from backproof.records.triage import TriageResult

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.adapters.github import GitHubClient
    from backproof.adapters.github.issues import Issue
    from backproof.kit.plan import Plan

SEARCHES = 6
_ROWS = 20
_CODE = re.compile(r"(?<![\w.#])(?:[1-5]\d{5}|E[0-9A-Z]\d{4}|0x[0-9a-f]{2,8})(?!\w)", re.IGNORECASE)
_MODEL = re.compile(r"\b(?=[A-Za-z.-]*\d)[A-Z][A-Za-z]+[A-Za-z0-9]*(?:[-.][A-Za-z0-9]+){0,5}\b")
_MODE = re.compile(r"\b[A-Z]{3,}(?:_[A-Z0-9]+){1,5}\b")
_WEIGHTS = {"kernel": 4, "kind": 3, "code": 2, "model": 2, "mode": 2}
_STARS = ((9, "★★★"), (5, "★★"), (3, "★"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Fingerprint:
    """The features by which faults are compared."""

    kind: str = ""
    kernel: str = ""
    codes: tuple[str, ...] = ()
    model: str = ""
    modes: tuple[str, ...] = ()

    @property
    def shown_values(self) -> dict[str, str]:
        values = {
            "kind": self.kind,
            "kernel": self.kernel,
            "code": ", ".join(self.codes),
            "model": self.model,
            "mode": ", ".join(self.modes),
        }
        return {name: value for name, value in values.items() if value}


@dataclass(frozen=True, kw_only=True, slots=True)
class SimilarIssue:
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


def make_fingerprint(plan: Plan, fault: Path | None, *, model: str = "", mode: str = "") -> Fingerprint:
    """Make the fingerprint from the first fault of a run, and fill the gaps from the plan.

    Raises:
        PlanError: the file is not an answer of `backproof triage --json`, or nothing is known at all.
    """
    triaged = _read_triage(fault) if fault else None
    first = triaged.first_fault if triaged else None
    words = " ".join((plan.title, *plan.baseline.arguments, *plan.baseline.environment.values()))
    codes = dict.fromkeys(
        (triaged.code or "", *(code.code for code in (*triaged.chain, *triaged.codes))) if triaged else ()
    )
    result = Fingerprint(
        kind=first.kind if first else (plan.triage.kind if plan.triage else ""),
        kernel=(triaged.kernel or "") if triaged else "",
        codes=tuple(filter(None, codes))[:4] or tuple(dict.fromkeys(_CODE.findall(words)))[:4],
        model=model or next(iter(_MODEL.findall(plan.title)), ""),
        modes=(mode,) if mode else tuple(dict.fromkeys(_MODE.findall(f"{words} {first.text if first else ''}")))[:2],
    )
    if not (result.kind or result.kernel or result.codes):
        raise PlanError(
            f"{plan.id}: there is nothing to search by",
            why="no first fault was found in the run, and the plan names no code and no [triage] kind",
            next_step="run `backproof triage --json` on the logs and name its file with --fault",
        )
    return result


def _read_triage(path: Path) -> TriageResult:
    try:
        return TriageResult.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise PlanError(
            f"{path}: no first fault can be read from it",
            why=str(error).splitlines()[0],
            next_step="name the file that `backproof triage --json` wrote",
        ) from error


def search_similar(client: GitHubClient, repo: str, wanted: Fingerprint) -> tuple[SimilarIssue, ...]:
    """Return the issues and pull requests that share most, best first.

    Raises:
        RefusedError: GitHub refused.
    """
    issues_by_number: dict[int, Issue] = {}
    for words in _build_queries(wanted)[: SEARCHES // 2]:
        for kind in ("issue", "pr"):
            for issue in issues.search_issues(client, repo, words, kind=kind):
                issues_by_number.setdefault(issue.number, issue)
    ranked = sorted(
        (_compare_issue(issue, wanted) for issue in issues_by_number.values()),
        key=lambda issue: (-issue.score, -issue.number),
    )
    return tuple(issue for issue in ranked if issue.score)[:_ROWS]


def _build_queries(wanted: Fingerprint) -> list[str]:
    """Return queries, the most telling words first. A query has few words: the search wants all of them."""
    telling = [wanted.kernel, *wanted.codes[:1], " ".join(filter(None, (_get_first_word(wanted.kind), wanted.model)))]
    telling += [" ".join(filter(None, (wanted.model, *wanted.modes[:1]))), _get_first_word(wanted.kind)]
    return [
        f'"{query}"' if " " not in query else query for query in dict.fromkeys(map(_strip_operators, telling)) if query
    ]


def _strip_operators(words: str) -> str:
    """Return words for a query: nothing in them is a qualifier or an operator."""
    return " ".join(re.findall(r"[\w.-]+", words.replace(":", " ")))[:100]


def _get_first_word(kind: str) -> str:
    return kind.partition("-")[0]


def _compare_issue(issue: Issue, wanted: Fingerprint) -> SimilarIssue:
    text = issue.text[:200_000]
    shared = {
        "kernel": [wanted.kernel] if _contains_word(text, wanted.kernel) else [],
        "kind": [wanted.kind] if _contains_word(text, _get_first_word(wanted.kind)) else [],
        "code": [word for word in wanted.codes if _contains_word(text, word)],
        "model": [wanted.model] if _contains_word(_drop_hyphens(text), _drop_hyphens(wanted.model)) else [],
        "mode": [word for word in wanted.modes if _contains_word(text, word)],
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
    return (
        bool(word) and re.search(rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])", text, re.IGNORECASE) is not None
    )


def _drop_hyphens(text: str) -> str:
    """Drop hyphens, for GLM-5.3-Flash is GLM5.3 Flash: a name's hyphens come and go."""
    return re.sub(r"(?<=\w)[-_](?=\w)", "", text)


def _find_other_codes(text: str, ours: tuple[str, ...]) -> tuple[str, ...]:
    """Return codes of the same numbering that differ: same place, another fault."""
    lengths = {len(code) for code in ours if code.isdigit()}
    seen = dict.fromkeys(code for code in _CODE.findall(text) if code.isdigit() and len(code) in lengths)
    return tuple(f"code {code}" for code in seen if code not in ours and any(code[:3] == own[:3] for own in ours))[:3]


def describe_rows(wanted: Fingerprint, rows: tuple[SimilarIssue, ...]) -> dict[str, Any]:
    """Return the result for programs."""
    fields = ("number", "title", "url", "state", "kind", "score", "shared", "differs")
    listed: list[dict[str, Any]] = [{name: getattr(row, name) for name in fields} for row in rows]
    return {"schema_version": 1, "fingerprint": wanted.shown_values, "similar": listed}
