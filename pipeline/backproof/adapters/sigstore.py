"""Signatures of GitHub's Actions, checked offline with the root that sigstore brings.

sigstore is an extra (`backproof[attest]`): without it a bundle is unsigned, and everything else works. Private repositories
sign with GitHub's own root, without a public log: sigstore cannot check those, and they are refused.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backproof.core.errors import HostError

if TYPE_CHECKING:
    from pathlib import Path

_ISSUER = "https://token.actions.githubusercontent.com"
_STATEMENT = "application/vnd.in-toto+json"
_LARGEST = 16 * 1024 * 1024


class InvalidSignatureError(Exception):
    """The signature does not hold, is of somebody else, or is over something else than a statement."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SignedStatement:
    """An in-toto statement whose signature holds, and the address of the workflow that signed it."""

    statement: dict[str, Any]
    workflow: str


def read_signed(file: Path, repository: str) -> SignedStatement:
    """Read an attestation that a workflow of a repository signed on a runner of GitHub's.

    Args:
        file: a Sigstore bundle, as `actions/attest` writes it.
        repository: owner/name.

    Raises:
        InvalidSignatureError: it does not verify.
        HostError: sigstore is not installed.
    """
    try:
        from sigstore import errors, models  # noqa: PLC0415 - of an extra, and it takes a second
        from sigstore.verify import Verifier, policy  # noqa: PLC0415
    except ImportError as error:
        raise HostError(
            f"{file}: its signature cannot be checked",
            why="sigstore is not installed",
            next_step="pip install backproof[attest], or leave the attestation out: the bundle is then unsigned",
        ) from error
    wanted = policy.AllOf(
        [
            policy.OIDCIssuerV2(_ISSUER),
            policy.OIDCSourceRepositoryURI(f"https://github.com/{repository}"),
            # A self-hosted runner may have run the code under test before.
            policy.OIDCRunnerEnvironment("github-hosted"),
        ]
    )
    try:
        signed = models.Bundle.from_json(_read_limited(file))
        kind, payload = Verifier.production(offline=True).verify_dsse(signed, wanted)
        statement = json.loads(payload)
    except (OSError, ValueError, KeyError, errors.Error) as error:
        raise InvalidSignatureError(str(error) or type(error).__name__) from error
    if kind != _STATEMENT or not isinstance(statement, dict):
        raise InvalidSignatureError(f"it is over {kind}, which is no in-toto statement")
    return SignedStatement(statement=statement, workflow=_name_workflow(signed.signing_certificate))


def _read_limited(file: Path) -> bytes:
    if not file.is_file() or file.stat().st_size > _LARGEST:
        raise ValueError(f"it is no regular file of at most {_LARGEST} bytes")
    return file.read_bytes()


def _name_workflow(certificate: Any) -> str:
    from cryptography.x509 import SubjectAlternativeName, UniformResourceIdentifier  # noqa: PLC0415 - comes with sigstore

    names = certificate.extensions.get_extension_for_class(SubjectAlternativeName).value
    return ", ".join(names.get_values_for_type(UniformResourceIdentifier))
