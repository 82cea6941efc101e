"""One archive with a run's evidence, for somebody who has neither the run folder nor this machine."""

from backproof.bundle.check import VerifiedBundle, verify_bundle
from backproof.bundle.make import WrittenBundle, make_bundle

__all__ = ["VerifiedBundle", "WrittenBundle", "make_bundle", "verify_bundle"]
