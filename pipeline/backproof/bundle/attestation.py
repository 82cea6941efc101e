"""Who made a bundle: an attestation that a workflow signed over it, held to the bundle's own records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.adapters.sigstore import InvalidSignatureError, read_signed
from backproof.bundle.check import verify_bundle
from backproof.bundle.predicate import PREDICATE_TYPE, build_predicate
from backproof.bundle.statement import TYPE
from backproof.core.errors import HostError
from backproof.rundir.ledger import sha256_of

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.bundle.check import VerifiedBundle
    from backproof.rundir.loaded_run import LoadedRun


@dataclass(frozen=True, kw_only=True, slots=True)
class AttestedBundle:
    """A bundle that verifies, its SHA-256, and the workflow that attested it."""

    verified: VerifiedBundle
    sha256: str
    workflow: str

    def must_be_of(self, run: LoadedRun) -> None:
        """Raise HostError unless the bundle was made of this run, with the same evidence."""
        other = self.verified.replayed.loaded
        pairs = [{(item.path, item.sha256) for item in loaded.evidence} for loaded in (other, run)]
        if other.run.id != run.run.id or pairs[0] != pairs[1]:
            raise HostError(
                f"the attestation is of the run {other.run.id}, with other evidence than {run.run.id} has here",
                why="what is signed is one bundle, and it was not made of this run folder as it is",
                next_step="name the bundle of this run, or publish without --attested: the comment then says unsigned",
            )


def verify_attestation(file: Path, attestation: Path, repository: str) -> AttestedBundle:
    """Verify a bundle, and that a workflow of a repository attested it on a runner of GitHub's.

    Args:
        file: the bundle.
        attestation: what `actions/attest` wrote, a Sigstore bundle as JSON.
        repository: owner/name.

    Raises:
        HostError: either does not verify, they do not belong together, or sigstore is not installed.
    """
    verified, sha256 = verify_bundle(file), sha256_of(file)
    try:
        signed = read_signed(attestation, repository)
    except InvalidSignatureError as error:
        raise _refuse(attestation, str(error)) from error
    statement = signed.statement
    subjects = statement.get("subject")
    digests = [item.get("digest") for item in subjects if isinstance(item, dict)] if isinstance(subjects, list) else []
    wanted = {"_type": TYPE, "predicateType": PREDICATE_TYPE, "predicate": build_predicate(verified)}
    if digests != [{"sha256": sha256}]:
        raise _refuse(attestation, f"it is not of {file.name}, whose SHA-256 is {sha256}")
    if differing := [name for name, value in wanted.items() if statement.get(name) != value]:
        raise _refuse(attestation, f"its {', '.join(differing)} is not what the records of the bundle carry")
    return AttestedBundle(verified=verified, sha256=sha256, workflow=signed.workflow)


def _refuse(attestation: Path, why: str) -> HostError:
    return HostError(
        f"{attestation}: this attestation does not verify",
        why=why,
        next_step="attest the bundle again in the workflow, or leave the attestation out: the bundle is then unsigned",
    )
