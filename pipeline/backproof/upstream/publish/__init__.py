"""From a run folder to one comment upstream: what may be said, where, and nothing written unless asked."""

from backproof.upstream.publish.post import Language, Prepared, prepare, publish
from backproof.upstream.publish.ready import Loaded, load

__all__ = ["Language", "Loaded", "Prepared", "load", "prepare", "publish"]
