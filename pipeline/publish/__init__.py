"""From a run folder to one comment upstream: what may be said, where, and nothing written unless asked."""

from pipeline.publish.post import Language, Prepared, prepare, publish
from pipeline.publish.ready import Loaded, load

__all__ = ["Language", "Loaded", "Prepared", "load", "prepare", "publish"]
