"""The audit on a pull request like #19353: marked resolved and never landed, validation carried over, commits that cancel."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from backproof.adapters.github import RefusedError, pulls
from backproof.core.errors import PlanError
from backproof.devices import DEVICES
from backproof.kit.loader import load_plan
from backproof.upstream.audit import Subject, examine_pull
from checkout import KIT

if TYPE_CHECKING:
    from collections.abc import Callable

    from backproof.adapters.github import GitHubClient
    from server import StandIn

FILE = "vllm_ascend/models/glm5next/ops/causal_conv1d.py"
BEFORE = """
def causal_conv1d(conv_state, cache_indices):
    if not conv_state.is_contiguous():
        requests = cache_indices.shape[0]
        kernel_state = torch.empty((requests, 2), dtype=conv_state.dtype)
    return kernel_state
"""
HEAD = BEFORE.replace("(requests, 2)", "(requests + 1, 2)")
ASKED = (
    "        kernel_state = torch.empty((requests + 1, 2), dtype=conv_state.dtype)\n        kernel_state[-1].zero_()\n"
)
FIRST, FIX, NOTE, UNNOTE = "1" * 40, "f" * 40, "d" * 40, "6" * 40


def thread(body: str, *, resolved: bool = True, path: str = FILE, line: int = 5) -> dict[str, object]:
    comment = {
        "body": body,
        "url": "https://example.invalid/r1",
        "author": {"__typename": "User", "login": "gemini"},
        "originalCommit": {"oid": FIRST},
    }
    return {
        "id": f"T{line}{len(body)}",
        "isResolved": resolved,
        "isOutdated": False,
        "path": path,
        "line": line,
        "startLine": None,
        "originalLine": line,
        "originalStartLine": None,
        "resolvedBy": {"__typename": "User", "login": "ann"},
        "comments": {"nodes": [comment], "pageInfo": {"hasNextPage": False, "endCursor": None}},
    }


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    """The kit of 19353, its plan and fix-ups."""
    folder = tmp_path / "19353"
    shutil.copytree(KIT, folder)
    (folder / "checks").mkdir(exist_ok=True)
    for name in ("operators.py", "checks/test_conv_state.py"):
        (folder / name).touch()
    return folder


@pytest.fixture
def world(hub: StandIn) -> StandIn:
    world = hub.world
    original = "Validated on Ascend 910: 573/573 requests healthy."
    world.pull(18878, title="GLM5Next: padded rows", body=original, base="main", merged=True)
    body = f"Backport of #18878.\n\n{original}\nNo separate NPU run was performed on this branch; CI is the validation vehicle."
    world.pull(19353, title="[releases] padded rows", body=body, head=UNNOTE, base="releases/v0.30.0")
    world.contents[FIRST, FILE] = BEFORE
    world.contents[UNNOTE, FILE] = HEAD
    world.pull_commits[19353] = [FIX, NOTE, UNNOTE]
    added = {"filename": "release_notes/19353.yaml", "status": "added"}
    removed = {"filename": "release_notes/19353.yaml", "status": "removed"}
    world.commits[FIX] = {"message": "fix", "files": [{"filename": FILE, "status": "modified"}]}
    world.commits[NOTE] = {"message": "note", "files": [added]}
    world.commits[UNNOTE] = {"message": "no note", "files": [removed]}
    world.pull_files[19353] = [{"filename": FILE, "status": "modified"}]
    world.checks[UNNOTE] = [
        {"name": "lint", "status": "completed", "conclusion": "success"},
        {"name": "e2e-a3", "status": "completed", "conclusion": "skipped"},
    ]
    return hub


def test_resolved_and_not_landed_is_found_with_the_fixup_that_closes_it(
    world: StandIn, client: GitHubClient, kit: Path
) -> None:
    world.world.threads[19353] = [thread(f"![high](x) Zero the row.\n```suggestion\n{ASKED}```")]
    subject = Subject(repo="example/project", pull=19353, original=18878, plan=load_plan(kit, DEVICES), kit=kit)
    record = examine_pull(client, subject)
    (request,) = record.requests
    assert (request.in_head, request.resolved, request.closed_by) == ("no", True, "zero-null-row")
    (finding,) = [each for each in record.findings if "not landed" in each.text]
    assert "zero-null-row closes it" in finding.text
    assert finding.where == f"{FILE}:5"


def test_the_same_asked_for_in_words_is_found_too(world: StandIn, client: GitHubClient) -> None:
    world.world.threads[19353] = [
        thread("Please zero the null row: `kernel_state[-1].zero_()` after `torch.empty(...)`")
    ]
    record = examine_pull(client, Subject(repo="example/project", pull=19353))
    request = record.requests[0]
    assert (request.kind, request.in_head) == ("named-code", "no")
    assert "no fix-up" in next(each.text for each in record.findings if "not landed" in each.text)


def test_what_landed_is_no_finding(world: StandIn, client: GitHubClient) -> None:
    world.world.contents[UNNOTE, FILE] = HEAD.replace("    return", "        kernel_state[ -1].zero_()\n    return")
    world.world.threads[19353] = [thread("```suggestion\n        kernel_state[-1].zero_()\n```")]
    record = examine_pull(client, Subject(repo="example/project", pull=19353))
    assert record.requests[0].in_head == "after-formatting"
    assert not [each for each in record.findings if "not landed" in each.text]


def test_the_tree_of_a_run_is_looked_at_beside_the_head(world: StandIn, client: GitHubClient) -> None:
    world.world.threads[19353] = [thread(f"```suggestion\n{ASKED}```")]
    fixed = HEAD.replace("    return", "        kernel_state[-1].zero_()\n    return")
    record = examine_pull(client, Subject(repo="example/project", pull=19353, tree={FILE: fixed}.get))
    assert (record.requests[0].in_head, record.requests[0].in_run) == ("no", "exactly")


def test_words_and_deleted_lines(world: StandIn, client: GitHubClient) -> None:
    world.world.threads[19353] = [
        thread("Why is this needed?", resolved=False, line=4),
        thread("```suggestion\n```", line=5),
    ]
    record = examine_pull(client, Subject(repo="example/project", pull=19353))
    assert [(each.kind, each.in_head, each.lines) for each in record.requests] == [
        ("prose", "for-a-person", "4"),
        ("suggestion", "exactly", "5"),
    ]


def test_claims_cancelled_commits_and_skipped_checks(world: StandIn, client: GitHubClient) -> None:
    record = examine_pull(client, Subject(repo="example/project", pull=19353))
    assert [(each.kinds[0], each.inherited) for each in record.claims] == [("device", True), ("not-run", False)]
    assert [each.commit for each in record.cancelled] == [NOTE, UNNOTE]
    assert [(each.name, each.state) for each in record.checks] == [("e2e-a3", "skipped")]
    assert record.checks_succeeded == 1


def test_reverts_and_follow_ups_are_told_from_mentions(world: StandIn, client: GitHubClient) -> None:
    world.world.issues = [
        {
            "number": 18900,
            "title": "Revert padded rows",
            "body": "Reverts example/project#18878",
            "pull": "2026-01-01T00:00:00Z",
        },
        {"number": 19000, "title": "Follow-up of #18878", "body": "", "pull": None},
        {"number": 19001, "title": "Numbers", "body": "18878 tokens", "pull": None},
        {"number": 19002, "title": "Docs", "body": "See #18878.", "pull": None},
        {"number": 19003, "title": "Change rows", "body": "#18878 broke the rows. This PR revert it.", "pull": None},
    ]
    record = examine_pull(client, Subject(repo="example/project", pull=19353, original=18878))
    assert [(each.number, each.kind) for each in record.later] == [
        (18900, "revert"),
        (19003, "revert"),
        (19000, "follow-up"),
        (19002, "mention"),
    ]
    assert [each.severity for each in record.findings if "18900" in each.text] == ["warning"]


def test_many_threads_are_all_read(world: StandIn, client: GitHubClient) -> None:
    world.world.threads[19353] = [thread(f"Is this {index} right?", line=index + 1) for index in range(120)]
    assert len(examine_pull(client, Subject(repo="example/project", pull=19353)).requests) == 120


def test_without_a_token_the_rest_is_still_told(world: StandIn, connected: Callable[..., GitHubClient]) -> None:
    world.fault("refuse", "POST", "/graphql", status=401, message="Requires authentication", times=9)
    record = examine_pull(connected(world, token=None), Subject(repo="example/project", pull=19353))
    assert "GitHub wants a token" in record.limits[0]
    assert record.claims


def test_a_pull_request_that_is_not_there(world: StandIn, client: GitHubClient) -> None:
    with pytest.raises(RefusedError, match="example/project#1 cannot be read"):
        examine_pull(client, Subject(repo="example/project", pull=1))


@pytest.mark.parametrize(
    "text",
    [
        "https://github.com/example/project/pull/19353/files",
        "example/project#19353",
        "github.com/example/project/pull/19353",
    ],
)
def test_how_a_pull_request_is_named(text: str) -> None:
    assert pulls.parse_reference(text) == ("example/project", 19353)


@pytest.mark.parametrize("text", ["19353", "https://github.com/example/project/issues/3", "a/b/c#1", ""])
def test_what_names_none(text: str) -> None:
    with pytest.raises(PlanError):
        pulls.parse_reference(text)


def test_the_record_reads_back(world: StandIn, client: GitHubClient) -> None:
    world.world.threads[19353] = [thread(f"```suggestion\n{ASKED}```")]
    record = examine_pull(client, Subject(repo="example/project", pull=19353))
    assert type(record).model_validate_json(record.model_dump_json()) == record
