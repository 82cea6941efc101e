"""What a message says of other commits, in the wordings of git, GitHub, GitLab, patchback, the kernel, Django and Mercurial."""

from __future__ import annotations

import pytest
from backproof.adapters.git import CommitInfo
from backproof.history.relations import Relations

A, B, C = "a" * 40, "b1" * 20, "c2" * 20


def says(message: str, *, parents: int = 1) -> Relations:
    info = CommitInfo(
        sha="0" * 40, tree="1" * 40, parents=("2" * 40,) * parents, message=message, author="A <a@x>", authored="1"
    )
    return Relations(info)


@pytest.mark.parametrize(
    "body",
    [
        f"(cherry picked from commit {B})",
        f"(cherry-picked from commit {B})",
        f"cherry-picked from {B}.",
        f"commit {B} upstream.",
        f"[ Upstream commit {B} ]",
        f"upstream commit {B}",
        f"Backport of {B} from main.",
        f"Backport of commit {B}",
        f"(backported from commit {B})",
        f"(cherry picked from commit {B.upper()})",
        f"Reland of {B}",
        f"[PR #12/{B} backport][8.3.x] title",
    ],
)
def test_the_source_of_a_pick(body: str) -> None:
    assert says(f"T\n\n{body}\n").sources == {B}
    assert says(body).sources == {B}


@pytest.mark.parametrize(
    "body",
    [
        f"See {B}",
        f"Since commit {B} this fails",
        f"not a backport, unlike {B}",
        "cherry picked from commit deadbee"[:30],
    ],
)
def test_a_commit_that_is_only_named_is_no_source(body: str) -> None:
    assert says(f"T\n\n{body}\n").sources == frozenset()


@pytest.mark.parametrize(
    ("body", "hashes"),
    [
        (f"This reverts commit {B}.", {B}),
        (f"This reverts commit {B[:9]}.", {B[:9]}),
        (f"This reverts commits {B}, {C} and {A}.", {A, B, C}),
        (f"This reverts commits:\n\n- {B}\n- {C}\n", {B, C}),
        (f"This reverts commit {B}.\nThis reverts commit {C}.", {B, C}),
        (f"This reverts commit {B}, reversing\nchanges made to {C}.", {B}),
        (f'Reverts {B[:12]} ("queue: hold")', {B[:12]}),
        (f"Back out {B}", {B}),
        (f"Backed out changeset {B[:12]} (bug 1)", {B[:12]}),
        (f"Backs out {B}", {B}),
        (f"This partially reverts commit {B}.", set()),
        (f"Instead of reverting, see {B}", set()),
    ],
)
def test_what_is_taken_back_by_hash(body: str, hashes: set[str]) -> None:
    assert says(f"T\n\n{body}\n").reverted == hashes


@pytest.mark.parametrize(
    ("body", "numbers"),
    [
        ("Reverts owner/repo#12", {12}),
        ("Reverts #12, #13 and #14", {12, 13, 14}),
        ("Revert PR #12", {12}),
        ("Reverts https://github.com/owner/repo/pull/12", {12}),
        ("Partially reverts #12", set()),
        ("Fixes #12", set()),
    ],
)
def test_what_is_taken_back_by_number(body: str, numbers: set[int]) -> None:
    assert says(f"T\n\n{body}\n").reverted_pulls == numbers


@pytest.mark.parametrize(
    ("subject", "back", "title"),
    [
        ('Revert "Fix the queue (#12)" (#15)', True, "fix the queue"),
        ('Revert "Fix the queue"', True, "fix the queue"),
        ('[rel] Revert "Fix the queue"', True, "fix the queue"),
        ('Back out "Fix the queue"', True, "fix the queue"),
        ('Revert "Revert "Fix the queue""', False, 'revert "fix the queue"'),
        ('Reapply "Fix the queue"', False, 'revert "fix the queue"'),
        ('Revert "Reapply "Fix the queue""', True, 'reapply "fix the queue"'),
        ("Fix the queue", False, ""),
        ("Reverting the polarity of a queue", False, ""),
    ],
)
def test_a_title_that_takes_back(subject: str, back: bool, title: str) -> None:
    relations = says(subject)
    assert (relations.takes_back, relations.reverted_title) == (back, title)


@pytest.mark.parametrize(
    "body",
    [
        f'Fixes: {B[:12]} ("queue: hold")',
        f"Fixes {B}",
        f"Regression in {B}.",
        f"This fixes a regression introduced in {B}.",
        f"Regression from {B}",
        f"Caused by commit {B}",
        f"Broken since {B}",
    ],
)
def test_the_cause_that_is_repaired(body: str) -> None:
    assert {name[:12] for name in says(f"T\n\n{body}\n").causes} == {B[:12]}


@pytest.mark.parametrize("body", [f"Follow up to {B}.", f"Follow-up to {B}", f"Followup of {B}", f"Follows up on {B}"])
def test_what_is_followed_up(body: str) -> None:
    assert says(f"T\n\n{body}\n").followed == {B}


@pytest.mark.parametrize(
    ("message", "parents", "pull", "title"),
    [
        ("Merge pull request #200 from someone/topic\n\nRaise the limit\n", 2, 200, "Raise the limit"),
        (
            "Merge branch 'topic' into 'main'\n\nRaise the limit\n\nSee merge request group/project!7\n",
            2,
            7,
            "Raise the limit",
        ),
        ("Merge #31\n\n31: Raise the limit\n", 2, 31, "31: Raise the limit"),
        ("Merge branch 'release/6.0'\n", 2, None, "Merge branch 'release/6.0'"),
        ("Raise the limit (#12)", 1, 12, "Raise the limit (#12)"),
    ],
)
def test_the_pull_request_that_a_commit_came_with(message: str, parents: int, pull: int | None, title: str) -> None:
    relations = says(message, parents=parents)
    assert (relations.pull, relations.title, relations.merges_pull) == (pull, title, parents == 2 and pull is not None)


def test_a_hostile_message_is_read_in_linear_time() -> None:
    for part in ("a1b2c3d ", "revert ", "(", "#1, ", "cherry picked from ", '"Revert ', "[", "and "):
        assert says(f"Revert {part * 20_000}").reverted is not None
        assert says(f"T\n\n{part * 20_000}").sources is not None
        assert says(f"T\n\n{part * 20_000}").reverted_pulls is not None
        assert says(f"T\n\n{part * 20_000}").causes is not None
        assert says(part * 20_000).takes_back in {True, False}
        assert says(part * 20_000).change_title is not None
