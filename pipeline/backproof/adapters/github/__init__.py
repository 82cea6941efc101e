"""The boundary to GitHub: one client, its requests, and the one comment that Backproof owns.

PyGithub authenticates an App. It makes no request: it takes an empty or strange answer for an empty list, after which a
comment would be posted twice, follows a renamed repository without the question's parameters, and has no end for an answer
that drips. Answers are records, and GitHub's own description of its API holds each request and each answer in tests.
"""

from backproof.adapters.github.client import GitHubClient
from backproof.adapters.github.credentials import read_credentials
from backproof.adapters.github.failure import RefusedError

__all__ = ["GitHubClient", "RefusedError", "read_credentials"]
