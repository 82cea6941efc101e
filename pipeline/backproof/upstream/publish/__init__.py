"""From a run folder to one comment upstream: what may be said, where, and nothing written unless asked."""

from backproof.upstream.publish.post import Language, Prepared, post_comment, prepare_comment
from backproof.upstream.publish.ready import Loaded, load_publishable

__all__ = ["Language", "Loaded", "Prepared", "load_publishable", "post_comment", "prepare_comment"]
