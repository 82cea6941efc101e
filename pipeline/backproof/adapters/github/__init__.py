"""The boundary to GitHub: one client, its requests, and the one comment that Backproof owns.

PyGithub serves as the requester: authentication (an App's, too), retries and rate limits, errors, GraphQL. Its objects and
lists are not used: they fetch a missing attribute by a hidden request, and take an empty or strange answer for an empty
list, after which a comment would be posted twice. Answers are records instead, and GitHub's own description of its API
holds each request and each answer in tests.
"""

from backproof.adapters.github.client import GitHubClient
from backproof.adapters.github.credentials import read_credentials
from backproof.adapters.github.failure import RefusedError

__all__ = ["GitHubClient", "RefusedError", "read_credentials"]
