"""One archive with a run's evidence, for somebody who has neither the run folder nor this machine."""

from backproof.bundle.attestation import AttestedBundle, verify_attestation
from backproof.bundle.check import VerifiedBundle, verify_bundle
from backproof.bundle.make import WrittenBundle, make_bundle
from backproof.bundle.predicate import build_predicate

__all__ = [
    "AttestedBundle",
    "VerifiedBundle",
    "WrittenBundle",
    "build_predicate",
    "make_bundle",
    "verify_attestation",
    "verify_bundle",
]
