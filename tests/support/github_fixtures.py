"""Fixtures: a stand-in for GitHub, and a client that loses no time between tries."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import contract
import pytest
import workflow_parser
from backproof.adapters.github.client import GitHubClient
from backproof.adapters.github.credentials import Token
from backproof.adapters.github.requester import Patience
from server import StandIn, start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TOKEN = "token-of-the-bot-000000"  # noqa: S105 - of the stand-in
AUTHOR = "the-bot[bot]"


@pytest.fixture(scope="session")
def _contract() -> None:
    """Fetched before a test gets a home and a cache of its own; only CI may not do without."""
    if shutil.which("npm") is None and not os.environ.get("CI"):
        pytest.skip(
            "npm is not on PATH: GitHub's published description cannot be had, so its contract is not held here"
        )
    contract.rest()
    contract.graph()


@pytest.fixture(scope="session")
def workflow_parser_ready() -> None:
    """As above: fetched while the user's own cache can be seen."""
    if shutil.which("npm") is None and not os.environ.get("CI"):
        pytest.skip(
            "npm is not on PATH: GitHub's workflow parser cannot be had, so the workflow is not held to it here"
        )
    workflow_parser.bundle()


@pytest.fixture
def hub(_contract: None) -> Iterator[StandIn]:
    stand_in = StandIn()
    server = start(stand_in)
    yield stand_in
    server.shutdown()
    server.server_close()
    assert stand_in.violations == []


@pytest.fixture
def client(hub: StandIn) -> GitHubClient:
    return connect(hub)


def connect(
    hub: StandIn, token: str | None = TOKEN, *, limit: float = 5, silence: float = 20, answer: float = 60
) -> GitHubClient:
    quick = Patience(backoff=0, pause=0, limit=limit, silence=silence, answer=answer)
    return GitHubClient(auth=Token(value=token) if token else None, base_url=hub.url, patience=quick)


@pytest.fixture
def connected() -> Callable[..., GitHubClient]:
    return connect
