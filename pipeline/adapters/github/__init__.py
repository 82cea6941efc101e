"""The one door to GitHub: one client, what it may ask, and the one comment that we own."""

from pipeline.adapters.github.client import Client
from pipeline.adapters.github.credentials import credentials
from pipeline.adapters.github.failure import RefusedError

__all__ = ["Client", "RefusedError", "credentials"]
