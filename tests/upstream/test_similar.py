"""Similar issues: few calls, ranked by what they share, with why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from backproof.core.errors import PlanError
from backproof.records.triage import TriageResult
from backproof.upstream import similar

if TYPE_CHECKING:
    from backproof.adapters.github import GitHubClient
    from server import StandIn

TITLE = "GLM5Next CausalConv1d: padded decode rows (NPU error 507011)"
_FIRST = {"file": "a.log", "line": 3, "kind": "mte-out-of-range", "rule": "", "text": "MTE error, FULL_DECODE_ONLY"}
_NONE = ("why", "chain", "detail_lines", "pointer_lines", "secondary_lines", "noise_lines", "unknown_lines", "pointers")
TRIAGE = {
    **dict.fromkeys((*_NONE, "ranks", "distribution", "timeline", "notes"), ()),
    **dict.fromkeys(("verdict", "advice"), "x"),
    **dict.fromkeys(("device", "rank", "server"), None),
    "counts": {},
    "files": 1,
    "bytes": 1,
    "lists_complete": True,
    "schema_version": 2,
    "outcome": "first-fault",
    "confidence": "high",
    "first_fault": {**_FIRST, "time": None},
    "kernel": "gather_conv_state",
    "code": "507011",
    "codes": [{"table": "ts", "code": "0x91", "meaning": "", "source": ""}],
}
ISSUES = [
    {"number": 18878, "title": "GLM5Next padded decode", "body": "gather_conv_state: MTE error, 507011", "pull": None},
    {"number": 16828, "title": "507011 with high concurrency on GLM5-Next", "body": "MTE accesses invalid GM address"},
    {"number": 15903, "title": "GLM5Next TopK", "body": "all ranks, 507035"},
    {"number": 8992, "title": "rtMemcpy in capture", "body": "FULL_DECODE_ONLY 507011"},
    {"number": 1, "title": "Typo", "body": "5070110 and amte"},
]


@pytest.fixture
def fault() -> TriageResult:
    return TriageResult.model_validate(TRIAGE)


def test_ranked_by_what_is_shared_with_why(hub: StandIn, client: GitHubClient, fault: TriageResult) -> None:
    hub.world.issues = ISSUES
    wanted = similar.make_fingerprint(fault, words=TITLE)
    rows = similar.search_similar(client, "example/project", wanted).similar
    assert [row.number for row in rows] == [18878, 16828, 8992, 15903]
    assert rows[0].stars == "★★★"
    assert rows[0].shared == (
        "kernel gather_conv_state",
        "kind mte-out-of-range",
        "code 507011",
        "model GLM5Next",
    )
    assert rows[0].kind == "pull request"
    assert rows[3].differs == ("code 507035",)


def test_the_calls_are_bounded(hub: StandIn, client: GitHubClient, fault: TriageResult) -> None:
    wanted = similar.make_fingerprint(fault, words=f"{'M1' * 150} A_B repo:other/x OR")
    similar.search_similar(client, "example/project", wanted)
    searches = [each.query["q"] for each in hub.requests if each.path == "/search/issues"]
    assert len(searches) <= similar.SEARCHES
    assert all(each.count("repo:") == 1 for each in searches), "nothing in a log line becomes a qualifier"


def test_without_logs_words_say_what_is_known() -> None:
    wanted = similar.make_fingerprint(None, words=TITLE)
    assert (wanted.codes, wanted.model) == (("507011",), "GLM5Next")


def test_nothing_to_search_by_is_told() -> None:
    with pytest.raises(PlanError, match="nothing to search by"):
        similar.make_fingerprint(None, words="A small backport")
