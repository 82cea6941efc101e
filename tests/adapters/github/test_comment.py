"""One comment, whatever happens between here and GitHub."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from backproof.adapters.github import RefusedError
from backproof.adapters.github.comment import CommentPlace
from backproof.adapters.github.marker import CommentDraft, read_marker
from backproof.core.errors import ExitCode, GitHubError, NeedsReview
from hypothesis import given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

    from backproof.adapters.github import GitHubClient
    from server import StandIn

AUTHOR = "the-bot[bot]"


def draft(text: str = "it holds", *, started: str = "2026-03-01T00:00:00+00:00", **key: str) -> CommentDraft:
    fields = {"kit": "19353", "branch": "releases/v0.30.0", "device": "ascend", **key}
    return CommentDraft(run="r1", started=started, text=text, **fields)


@pytest.fixture(autouse=True)
def _open_pull(hub: StandIn) -> None:
    hub.world.pull(7)


def place(client: GitHubClient, one: CommentDraft) -> CommentPlace:
    return CommentPlace(client=client, repo="example/project", number=7, draft=one, author=AUTHOR)


def post(client: GitHubClient, one: CommentDraft) -> str:
    return place(client, one).carry_out(pause=0).action


def test_a_second_run_edits_the_same_comment(hub: StandIn, client: GitHubClient) -> None:
    assert post(client, draft("one")) == "created"
    assert post(client, draft("two")) == "updated"
    assert [body.partition("\n")[2] for body in hub.world.bodies(7)] == ["two"]


def test_an_unchanged_text_makes_no_write(hub: StandIn, client: GitHubClient) -> None:
    post(client, draft())
    writes = len(hub.made("POST")) + len(hub.made("PATCH"))
    assert post(client, draft(started="2026-03-02T00:00:00+00:00")) == "kept"
    assert len(hub.made("POST")) + len(hub.made("PATCH")) == writes


def test_another_device_has_its_own_comment(hub: StandIn, client: GitHubClient) -> None:
    post(client, draft())
    assert post(client, draft(device="emulator")) == "created"
    assert len(hub.world.bodies(7)) == 2


def post_among_others(hub: StandIn, client: GitHubClient, *, before: int, after: int) -> None:
    """Post between other people's comments; the list is then read in pages of ten, the end of one shown again by the next."""
    for index in range(before):
        hub.world.comment(7, "ann", f"comment {index}")
    post(client, draft("one"))
    for index in range(after):
        hub.world.comment(7, "ann", f"later {index}")
    hub.page = 10
    hub.fault("twice", "PAGE", "/comments", times=99)


def test_our_comment_is_found_behind_many_pages(hub: StandIn, client: GitHubClient) -> None:
    post_among_others(hub, client, before=45, after=45)
    assert post(client, draft("two")) == "updated"
    assert len(hub.world.bodies(7)) == 91


def test_a_comment_that_two_pages_show_is_one(hub: StandIn, client: GitHubClient) -> None:
    """While others write, the last of one page is the first of the next: ours must not be taken for its own twin."""
    post_among_others(hub, client, before=9, after=5)
    assert post(client, draft("two")) == "updated"
    assert hub.made("DELETE") == []
    assert len(hub.world.bodies(7)) == 15


def test_a_stranger_with_our_marker_is_not_written_over(hub: StandIn, client: GitHubClient) -> None:
    hub.world.comment(7, "mallory", draft("forged").body)
    assert post(client, draft()) == "created"
    assert hub.world.bodies(7)[0].endswith("forged")


def test_a_comment_that_a_person_edited_stays(hub: StandIn, client: GitHubClient) -> None:
    post(client, draft("one"))
    hub.world.comments[0]["body"] += "\n\nA maintainer added this."
    with pytest.raises(NeedsReview, match="edited") as caught:
        post(client, draft("two"))
    assert caught.value.exit_code is ExitCode.PERSON
    assert "A maintainer added this." in hub.world.bodies(7)[0]


def test_githubs_line_ends_are_no_edit(hub: StandIn, client: GitHubClient) -> None:
    post(client, draft("one\ntwo\n"))
    hub.world.comments[0]["body"] = hub.world.comments[0]["body"].replace("\n", "\r\n").rstrip()
    assert post(client, draft("three")) == "updated"


def test_an_older_run_does_not_replace_a_newer_one(hub: StandIn, client: GitHubClient) -> None:
    post(client, draft("new", started="2026-03-02T00:00:00+00:00"))
    assert post(client, draft("old", started="2026-03-01T00:00:00+00:00")) == "kept"
    assert hub.world.bodies(7)[0].endswith("new")


@pytest.mark.parametrize("kind", ["lost-reply", "502-done", "truncated"])
def test_a_post_whose_reply_was_lost_is_not_repeated(hub: StandIn, client: GitHubClient, kind: Any) -> None:
    hub.fault(kind, "POST", "/comments")
    assert post(client, draft()) == "created"
    assert len(hub.world.bodies(7)) == 1
    assert len(hub.made("POST")) == 1, "the list is asked before anything else"


def test_a_post_that_did_not_land_is_made_again(hub: StandIn, client: GitHubClient) -> None:
    hub.fault("502", "POST", "/comments", times=2)
    assert post(client, draft()) == "created"
    assert len(hub.world.bodies(7)) == 1


def test_a_post_that_never_lands_is_an_error(hub: StandIn, client: GitHubClient) -> None:
    hub.fault("502", "POST", "/comments", times=99)
    with pytest.raises(GitHubError, match="cannot be posted") as caught:
        post(client, draft())
    assert caught.value.exit_code is ExitCode.ERROR
    assert hub.world.bodies(7) == []


@pytest.mark.parametrize("kind", ["lost-reply", "502", "502-done"])
def test_an_update_is_repeated_by_the_transport(hub: StandIn, client: GitHubClient, kind: Any) -> None:
    post(client, draft("one"))
    hub.fault(kind, "PATCH", "/comments", times=2)
    assert post(client, draft("two")) == "updated"
    assert len(hub.made("PATCH")) == 3
    assert [body.partition("\n")[2] for body in hub.world.bodies(7)] == ["two"]


def test_two_runs_at_once_leave_one_comment(hub: StandIn, connected: Callable[..., GitHubClient]) -> None:
    both_listed = threading.Barrier(2, timeout=10)

    def wait_after_the_first_list(method: str, path: str) -> None:
        if method == "GET" and path.endswith("/comments") and both_listed.n_waiting + len(hub.made("POST")) < 2:
            both_listed.wait()

    hub.between = wait_after_the_first_list
    texts = ["from one", "from two"]
    errors: list[BaseException] = []

    def run(text: str) -> None:
        try:
            post(connected(hub), draft(text))
        except BaseException as error:  # noqa: BLE001 - shown below
            errors.append(error)

    threads = [threading.Thread(target=run, args=(text,)) for text in texts]
    for each in threads:
        each.start()
    for each in threads:
        each.join(20)
    assert errors == []
    assert len(hub.made("POST")) == 2, "both runs saw no comment and wrote one"
    assert len(hub.world.bodies(7)) == 1
    assert hub.world.bodies(7)[0].partition("\n")[2] in texts


@pytest.mark.parametrize(
    ("status", "message", "step"),
    [
        (401, "Bad credentials", "GH_TOKEN"),
        (403, "Unable to create comment because issue is locked.", "unlock"),
        (403, "Resource not accessible by integration", "pull-requests: write"),
        (404, "Not Found", "check the name"),
        (410, "Issues are disabled for this repo", "removed"),
        (422, "Validation Failed", "by hand"),
        (429, "Too Many Requests", "wait a few minutes"),
        (403, "You have triggered an abuse detection mechanism. Slow down.", "wait a few minutes"),
    ],
)
def test_a_refusal_says_what_to_do(hub: StandIn, client: GitHubClient, status: int, message: str, step: str) -> None:
    hub.fault("refuse", "POST", "/comments", status=status, message=message, times=9)
    with pytest.raises(RefusedError) as caught:
        post(client, draft())
    assert caught.value.exit_code is ExitCode.ERROR
    assert step in caught.value.next_step
    assert message.split(".", maxsplit=1)[0] in caught.value.why
    assert len(hub.made("POST")) == 1, "a refusal is an answer: asking again would be rude"


def test_a_limit_that_is_only_words_is_a_limit(hub: StandIn, connected: Callable[..., GitHubClient]) -> None:
    hub.fault("secondary", "POST", "/comments", times=9)
    with pytest.raises(RefusedError, match="cannot be posted") as caught:
        post(connected(hub, limit=1), draft())
    assert "rate limit" in caught.value.why
    assert "wait" in caught.value.next_step


def test_the_wait_for_a_rate_limit_has_a_cap(hub: StandIn, client: GitHubClient) -> None:
    hub.fault("rate-limit", "GET", "/comments", seconds=1440, times=9)
    started = time.monotonic()
    with pytest.raises(RefusedError) as caught:
        post(client, draft())
    assert time.monotonic() - started < 30, "nobody waits 24 minutes for a comment"
    assert "wait until 20" in caught.value.next_step


@pytest.mark.parametrize(("method", "status"), [("GET", 403), ("GET", 429), ("GET", 503), ("POST", 403)])
def test_an_hour_of_retry_after_is_not_slept_out(hub: StandIn, client: GitHubClient, method: str, status: int) -> None:
    hub.fault("retry-after", method, "/comments", status=status, seconds=3600, times=9)
    with pytest.raises(RefusedError) as caught:
        post(client, draft())
    assert "rate limit" in caught.value.why
    assert "wait" in caught.value.next_step


def test_a_slow_answer_to_a_post_is_a_lost_one(hub: StandIn, connected: Callable[..., GitHubClient]) -> None:
    hub.fault("slow", "POST", "/comments", seconds=1.5)
    assert post(connected(hub, silence=1), draft()) == "created"
    time.sleep(1)  # until the slow one has landed too
    assert post(connected(hub), draft("two")) == "updated"
    assert [body.partition("\n")[2] for body in hub.world.bodies(7)] == ["two"], "the late one is gone"


@pytest.mark.parametrize("kind", ["truncated", "lost-reply", "502"])
def test_a_listing_that_breaks_writes_nothing(hub: StandIn, client: GitHubClient, kind: Any) -> None:
    hub.fault(kind, "GET", "/comments", times=99)
    with pytest.raises(RefusedError):
        post(client, draft())
    assert hub.made("POST") == []


def test_an_untouched_twin_of_a_killed_run_goes(hub: StandIn, client: GitHubClient) -> None:
    hub.world.comment(7, AUTHOR, draft("one").body)
    hub.world.comment(7, AUTHOR, draft("twin").body)
    assert post(client, draft("two")) == "updated"
    assert [body.partition("\n")[2] for body in hub.world.bodies(7)] == ["two"]


def test_the_intent_is_told_without_a_write(hub: StandIn, client: GitHubClient) -> None:
    assert place(client, draft()).plan().action == "create"
    post(client, draft())
    assert place(client, draft("else")).plan().action == "update"
    assert len(hub.made("POST")) == 1


@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=300))
def test_a_marker_survives_any_name_and_stays_hidden(kit: str, branch: str, text: str) -> None:
    kit, branch = kit.encode("utf-8", "ignore").decode() or "k", branch.encode("utf-8", "ignore").decode() or "b"
    text = text.encode("utf-8", "ignore").decode()
    one = draft(text, kit=kit, branch=branch)
    assert one.marker.count("--") == 2, "a third would end the HTML comment early"
    found = read_marker({"id": 1, "html_url": "u", "body": one.body, "user": {"login": "x"}})
    assert found is not None
    assert found.key == one.key
    assert not found.edited


def test_a_marker_inside_the_text_is_text() -> None:
    body = f"a log line\n{draft().body}"
    assert read_marker({"id": 1, "html_url": "u", "body": body, "user": {"login": "x"}}) is None
