"""The predicate of an attestation: an in-toto test result, of what a bundle's own records carry.

The format: https://github.com/in-toto/attestation/blob/main/spec/predicates/test-result.md
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backproof.bundle.manifest import PLAN
from backproof.core.errors import NeedsReview
from backproof.core.model import Outcome
from backproof.verdict.sentences import HEADLINES

if TYPE_CHECKING:
    from backproof.bundle.check import VerifiedBundle

PREDICATE_TYPE = "https://in-toto.io/attestation/test-result/v0.1"
_RESULTS = {Outcome.PASS: "PASSED", Outcome.FAIL: "FAILED"}


def build_predicate(verified: VerifiedBundle) -> dict[str, Any]:
    """Return a function of the bundle: whoever has it can build the predicate again and compare.

    Raises:
        NeedsReview: the run did not tell, which is no result to sign.
    """
    loaded = verified.replayed.loaded
    if loaded.run.outcome not in _RESULTS:
        raise NeedsReview(
            f"{loaded.run.id}: {HEADLINES[loaded.run.outcome]}",
            why="only a run that passed or failed has a test result that could be attested",
            next_step="settle what the report names, run again, and attest that",
        )
    plan = next(entry for entry in verified.manifest.files if entry.path == PLAN)
    cases = {f"{case.check} [{case.model}] on {case.arm}": case.verdict == "as-expected" for case in loaded.cases}
    return {
        "result": _RESULTS[loaded.run.outcome],
        "configuration": [{"name": PLAN, "digest": {"sha256": plan.sha256}}],
        "passedTests": sorted(name for name, passed in cases.items() if passed),
        "failedTests": sorted(name for name, passed in cases.items() if not passed),
    }
