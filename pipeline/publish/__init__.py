"""From a run folder to one comment upstream: what may be said, where, and nothing written unless asked."""

from pipeline.publish.post import Prepared, prepare, publish
from pipeline.publish.ready import Loaded, load

__all__ = ["Loaded", "Prepared", "load", "prepare", "publish"]
