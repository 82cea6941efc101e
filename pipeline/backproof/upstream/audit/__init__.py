"""What a pull request was asked for and claims, beside what its code contains.

A review thread can be marked resolved with nothing changed, and a backport can carry the original's "verified on".
"""

from backproof.upstream.audit.examine import Subject, examine_pull

__all__ = ["Subject", "examine_pull"]
