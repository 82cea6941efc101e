"""What to do after GitHub did not answer: only a request that may have written says that nothing is posted twice."""

from __future__ import annotations

import socket

import pytest
from backproof.adapters.github import GitHubClient
from backproof.adapters.github.failure import RefusedError
from backproof.adapters.github.requester import Patience


@pytest.fixture
def nobody() -> GitHubClient:
    """A client of an address where nothing listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    return GitHubClient(auth=None, base_url=f"http://127.0.0.1:{port}", patience=Patience(tries=1, pause=0))


def test_a_read_says_nothing_of_posts(nobody: GitHubClient) -> None:
    with pytest.raises(RefusedError) as caught:
        nobody.get_json("it cannot be read", "/repos/a/b")
    assert caught.value.next_step == "check the network, then run the same command again"
    assert caught.value.lost


def test_a_write_says_that_nothing_is_posted_twice(nobody: GitHubClient) -> None:
    with pytest.raises(RefusedError) as caught:
        nobody.write("it cannot be posted", "POST", "/repos/a/b/issues/1/comments", {"body": "x"})
    assert caught.value.next_step == "check the network, then run the same command again: nothing is posted twice"
