"""The one door to GitHub: one client, what it may ask, and the one comment that we own."""

from backproof.adapters.github.client import Client
from backproof.adapters.github.credentials import credentials
from backproof.adapters.github.failure import RefusedError

__all__ = ["Client", "RefusedError", "credentials"]
