"""The answers that GitHub, its limits, its policies and the proxies before it give: each is a sentence, and none is a crash."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from typing import TYPE_CHECKING, Any

import pytest
from backproof.adapters.github import GitHubClient, RefusedError
from backproof.core.errors import ExitCode

from tests.adapters.github.test_comment import AUTHOR, draft, place, post

if TYPE_CHECKING:
    from collections.abc import Callable

    from server import StandIn

GET, POST = ("GET", "/pulls/7"), ("POST", "/comments")


@pytest.fixture(autouse=True)
def _pull(hub: StandIn) -> None:
    hub.world.pull(7)


@dataclass(frozen=True)
class Row:
    """An answer to a request, and what it comes to."""

    name: str
    request: tuple[str, str]
    status: int
    body: Any
    why: str
    step: str
    headers: dict[str, str] = field(default_factory=dict)
    tries: int = 1


def said(message: str) -> dict[str, str]:
    return {"message": message}


ROWS = [
    Row(
        "SSO",
        POST,
        403,
        said("Resource protected by organization SAML enforcement."),
        "403: Resource protected",
        "Configure SSO",
        {"X-GitHub-SSO": "required; url=https://github.com/orgs/x/sso"},
    ),
    Row("SSO by its header alone", POST, 403, said("Forbidden"), "403", "Configure SSO", {"X-GitHub-SSO": "required"}),
    Row(
        "allow list",
        POST,
        403,
        said("Although you appear to have the correct authorization, the organization has an IP allow list enabled"),
        "403",
        "known addresses",
    ),
    Row(
        "archived",
        POST,
        403,
        said("Repository was archived so is read-only."),
        "403",
        "archived and takes nothing more",
    ),
    Row("blocked", POST, 403, said("User is blocked"), "403: User is blocked", "blocked there"),
    Row(
        "locked", POST, 403, said("Unable to create comment because issue is locked."), "403", "unlock the conversation"
    ),
    Row("an App's job", POST, 403, said("Resource not accessible by integration"), "403", "`pull-requests: write`"),
    Row(
        "a fine-grained token",
        POST,
        403,
        said("Resource not accessible by personal access token"),
        "403",
        "`public_repo`",
    ),
    Row("legal reasons", GET, 451, said("Repository access blocked"), "451", "legal reasons"),
    Row(
        "a page to log in",
        GET,
        200,
        "<html>Sign in</html>",
        "it is text/html",
        "check the network",
        {"Content-Type": "text/html"},
        5,
    ),
    Row(
        "a renamed repository", POST, 301, said("Moved Permanently"), "301", "renamed", {"Location": "/repositories/1"}
    ),
    Row("an hour", GET, 429, said("slow down"), "a rate limit", "wait", {"Retry-After": "3600"}),
    Row(
        "no time at all", GET, 429, said("slow down"), "a rate limit", "wait a few minutes", {"Retry-After": "garbage"}
    ),
    Row("a date", GET, 403, said("no"), "a rate limit", "wait", {"Retry-After": "Fri, 01 Jan 2100 00:00:00 GMT"}),
    Row(
        "a secondary limit",
        GET,
        403,
        said("You have exceeded a secondary rate limit"),
        "a rate limit",
        "wait a few minutes",
    ),
    Row("no object", GET, 200, [], "lacks what it must have", "run the same command again"),
    Row("another host", GET, 302, None, "another host, evil.example", "proxy", {"Location": "https://evil.example/x"}),
    Row("no TLS", GET, 302, None, "another host", "proxy", {"Location": "http://localhost:1/x"}),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_each_answer_is_a_sentence(hub: StandIn, client: GitHubClient, row: Row) -> None:
    body = row.body if isinstance(row.body, str) else "" if row.body is None else json.dumps(row.body)
    method, part = row.request
    hub.fault("answer", method, part, status=row.status, message=body, headers=row.headers, times=99)
    with pytest.raises(RefusedError) as caught:
        post(client, draft()) if row.request is POST else read_pull(client)
    assert row.why in caught.value.why
    assert row.step in caught.value.next_step
    assert caught.value.exit_code is ExitCode.ERROR
    assert (
        len([request for request in hub.requests if (request.method, part) == (method, part) and part in request.path])
        == row.tries
    )
    assert hub.world.bodies(7) == []


def read_pull(client: GitHubClient) -> int:
    from backproof.adapters.github import pulls

    return pulls.get_pull(client, "example/project", 7).number


def test_the_version_of_the_interface_is_pinned(hub: StandIn, client: GitHubClient) -> None:
    read_pull(client)
    assert hub.requests[0].headers["X-GitHub-Api-Version"] == "2022-11-28"


@pytest.mark.parametrize("kind", ["cut", "lost-reply", "502"])
def test_a_read_that_broke_is_made_again(hub: StandIn, client: GitHubClient, kind: Any) -> None:
    hub.fault(kind, *GET, times=2)
    assert read_pull(client) == 7
    assert len(hub.requests) == 3


def test_an_answer_that_drips_has_an_end(hub: StandIn, connected: Callable[..., GitHubClient]) -> None:
    hub.fault("drip", *GET, seconds=0.05, times=99)
    with pytest.raises(RefusedError, match="cannot be read") as caught:
        read_pull(connected(hub, answer=0.2))
    assert "took too long" in caught.value.why


def test_a_short_limit_is_waited_out_for_a_write_too(hub: StandIn, client: GitHubClient) -> None:
    hub.fault("answer", *POST, status=403, message='{"message": "secondary rate limit"}', headers={"Retry-After": "0"})
    assert post(client, draft()) == "created"
    assert len(hub.made("POST")) == 2


def test_limits_together_have_a_cap(hub: StandIn, connected: Callable[..., GitHubClient]) -> None:
    hub.fault("answer", *GET, status=429, message="{}", headers={"Retry-After": "1"}, times=99)
    with pytest.raises(RefusedError, match="cannot be read"):
        read_pull(connected(hub, limit=1))
    assert len(hub.requests) == 2


def test_a_date_is_a_time_to_wait(hub: StandIn, client: GitHubClient) -> None:
    hub.fault("answer", *GET, status=429, message="{}", headers={"Retry-After": formatdate(0, usegmt=True)})
    assert read_pull(client) == 7


def test_a_renamed_repository_is_read_with_the_whole_question(hub: StandIn, client: GitHubClient) -> None:
    new = f"{hub.url}/repos/example/project/contents/a.py"
    hub.fault("answer", "GET", "/repos/old/name", status=301, headers={"Location": new})
    hub.world.contents["release", "a.py"] = "x = 1\n"
    client.get_json("it", "/repos/old/name/contents/a.py", {"ref": "release"})
    assert hub.requests[-1].query == {"ref": "release"}


def test_a_write_is_led_on_where_the_status_keeps_it_one(hub: StandIn, client: GitHubClient) -> None:
    there = f"{hub.url}/repos/example/project/issues/7/comments"
    hub.fault("answer", "POST", "/repos/old", status=307, headers={"Location": there})
    body = client.write("it", "POST", "/repos/old/name/issues/7/comments", {"body": "x"})["body"]
    assert (body, hub.world.bodies(7)) == ("x", ["x"])


def test_addresses_that_lead_to_themselves_end(hub: StandIn, client: GitHubClient) -> None:
    hub.fault("answer", *GET, status=302, headers={"Location": "/repos/example/project/pulls/7"}, times=99)
    with pytest.raises(RefusedError) as caught:
        read_pull(client)
    assert "from one address to the next" in caught.value.why


def test_the_token_goes_to_no_other_host_by_a_link_either(hub: StandIn, client: GitHubClient) -> None:
    link = '<https://evil.example/page2>; rel="next"'
    hub.fault("answer", "GET", "/comments", status=200, message="[]", headers={"Link": link})
    with pytest.raises(RefusedError) as caught:
        post(client, draft())
    assert "evil.example" in caught.value.why
    assert hub.made("POST") == []


@pytest.mark.parametrize(
    ("answer", "status", "step"),
    [
        (
            {"data": None, "errors": [{"type": "FORBIDDEN", "message": "Resource not accessible by integration"}]},
            403,
            "permission",
        ),
        ({"data": {"viewer": None}, "errors": [{"type": "NOT_FOUND", "message": "no"}]}, 404, "check the name"),
        ({"data": None, "errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}, 429, "wait"),
        ({"data": {"viewer": None}}, 0, "GH_TOKEN"),
        ({"data": None, "errors": ["odd"]}, 422, "GitHub's answer"),
    ],
)
def test_errors_inside_an_answer_are_errors(
    hub: StandIn, client: GitHubClient, answer: object, status: int, step: str
) -> None:
    hub.fault("answer", "POST", "/graphql", status=200, message=json.dumps(answer))
    with pytest.raises(RefusedError) as caught:
        client.get_login()
    assert caught.value.status == status
    assert step in caught.value.next_step


def test_an_enterprise_server_has_graphql_beside_rest(hub: StandIn) -> None:
    from backproof.adapters.github.credentials import Token

    client = GitHubClient(auth=Token(value="token-of-the-bot-000000"), base_url=f"{hub.url}/api/v3")
    hub.fault("answer", "POST", "/api/graphql", status=200, message='{"data": {"viewer": {"login": "ann"}}}')
    assert client.get_login() == "ann"


def test_the_answer_to_a_post_is_believed_where_the_list_lags(hub: StandIn, client: GitHubClient) -> None:
    hub.world.lag = 99
    assert place(client, draft()).carry_out(pause=0).url.endswith("#issuecomment-1001")
    assert len(hub.made("POST")) == 1


def test_a_second_publish_after_a_lagging_list_leaves_one(hub: StandIn, client: GitHubClient) -> None:
    hub.world.lag = 3
    place(client, draft("one")).carry_out(pause=0)
    hub.world.hidden = dict.fromkeys(hub.world.hidden, 1)
    place(client, draft("two", started="2026-04-01T00:00:00+00:00")).carry_out(pause=0)
    assert [body.partition("\n")[2] for body in hub.world.bodies(7)] == ["two"]


def test_a_run_that_has_posted_finds_its_comment_however_long_the_list_lags(hub: StandIn, client: GitHubClient) -> None:
    hub.world.lag = 99
    posted = place(client, draft("one")).carry_out(pause=0).id
    again = replace(place(client, draft("two", started="2026-04-01T00:00:00+00:00")), recorded=posted)
    assert again.carry_out(pause=0).id == posted
    assert [body.partition("\n")[2] for body in hub.world.bodies(7)] == ["two"]


def test_what_a_run_folder_names_is_ours_and_of_this_conversation_or_nothing(
    hub: StandIn, client: GitHubClient
) -> None:
    hub.world.pull(8)
    elsewhere = replace(place(client, draft("one")), number=8).carry_out(pause=0).id
    for recorded in (elsewhere, hub.world.comment(7, "ann", draft("one").body)["id"], 1):
        assert replace(place(client, draft("two")), recorded=recorded).plan().action == "create"


def test_a_second_comment_goes_also_where_the_first_one_stays_as_it_is(hub: StandIn, client: GitHubClient) -> None:
    for _ in range(2):
        hub.world.comment(7, AUTHOR, draft("one").body)
    again = place(client, draft("one"))
    assert [twin.id for twin in again.plan().twins] == [1002]
    assert again.carry_out(pause=0).action == "kept"
    assert len(hub.world.bodies(7)) == 1
