"""From a run folder to one comment upstream: what may be said, where, and nothing written unless asked."""

from backproof.adapters.github.checks import MarkKind
from backproof.adapters.github.comment import CommentPlace
from backproof.adapters.github.proposal import Proposal
from backproof.upstream.publish.post import UNSIGNED, Language, Post, prepare_check, prepare_comment, send_post
from backproof.upstream.publish.propose import TITLE, ProposalWishes, prepare_proposal
from backproof.upstream.publish.ready import Loaded, load_publishable

__all__ = [
    "TITLE",
    "UNSIGNED",
    "CommentPlace",
    "Language",
    "Loaded",
    "MarkKind",
    "Post",
    "Proposal",
    "ProposalWishes",
    "load_publishable",
    "prepare_check",
    "prepare_comment",
    "prepare_proposal",
    "send_post",
]
