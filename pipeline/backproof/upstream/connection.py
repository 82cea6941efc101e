"""The way in to GitHub for a command: one client from the environment, and a pull request by its address."""

from __future__ import annotations

import os

from backproof.adapters.github import GitHubClient, read_credentials
from backproof.adapters.github.client import API
from backproof.adapters.github.pulls import parse_reference as parse_pull

__all__ = ["connect", "parse_pull"]


def connect() -> GitHubClient:
    """Open a client with the credentials of the environment; without any, what is public can be read.

    Raises:
        PlanError: the environment names an App and not all that it needs.
    """
    # Actions names it, that of an enterprise server, too.
    return GitHubClient(auth=read_credentials(), base_url=os.environ.get("GITHUB_API_URL") or API)
