"""From a run folder to one comment upstream: what may be said, where, and nothing written unless asked."""

from backproof.adapters.github.comment import CommentPlace
from backproof.upstream.publish.post import Language, post_comment, prepare_comment
from backproof.upstream.publish.ready import Loaded, load_publishable

__all__ = ["CommentPlace", "Language", "Loaded", "load_publishable", "post_comment", "prepare_comment"]
