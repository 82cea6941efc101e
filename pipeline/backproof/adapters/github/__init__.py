"""The one door to GitHub: one client, what it may ask, and the one comment that we own."""

from backproof.adapters.github.client import GitHubClient
from backproof.adapters.github.credentials import read_credentials
from backproof.adapters.github.failure import RefusedError

__all__ = ["GitHubClient", "RefusedError", "read_credentials"]
