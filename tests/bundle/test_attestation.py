"""What is attested is one bundle, by one repository's workflow; everything else is refused. The signature itself is a stand-in."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from backproof import bundle, cli
from backproof.adapters.sigstore import InvalidSignatureError, SignedStatement
from backproof.bundle import attestation
from backproof.core.errors import ExitCode, HostError, NeedsReview
from backproof.rundir.ledger import sha256_of
from click.testing import CliRunner
from run_kinds import failed, undecided
from stories import proved

from tests.bundle.test_bundle import loaded

WORKFLOW = "https://github.com/example/project/.github/workflows/backproof.yml@refs/heads/main"
REPOSITORY = "example/project"


@dataclass(frozen=True)
class Made:
    """A bundle, and a file that stands for its attestation."""

    file: Path
    statement: dict[str, Any]
    attestation: Path


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    file = bundle.make_bundle(loaded(proved(tmp_path / "run")), tmp_path / "run.tar.gz").file
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": file.name, "digest": {"sha256": sha256_of(file)}}],
        "predicateType": "https://in-toto.io/attestation/test-result/v0.1",
        "predicate": bundle.build_predicate(bundle.verify_bundle(file)),
    }
    written = tmp_path / "attestation.json"
    written.write_text(json.dumps(statement))

    def read(file: Path, repository: str) -> SignedStatement:
        """A stand-in for the signature: it holds for one repository."""
        if repository != REPOSITORY:
            raise InvalidSignatureError("it is of another repository")
        return SignedStatement(statement=json.loads(file.read_text()), workflow=WORKFLOW)

    monkeypatch.setattr(attestation, "read_signed", read)
    return Made(file, statement, written)


def test_an_attested_bundle_names_its_workflow(made: Made) -> None:
    attested = bundle.verify_attestation(made.file, made.attestation, REPOSITORY)
    assert (attested.workflow, attested.sha256) == (WORKFLOW, sha256_of(made.file))


def test_the_test_result_is_what_the_checks_gave(made: Made) -> None:
    predicate = made.statement["predicate"]
    assert predicate["result"] == "PASSED"
    assert "rows [raw] on fixed" in predicate["passedTests"]
    assert predicate["failedTests"] == []


def test_a_fail_is_attested_as_one(tmp_path: Path) -> None:
    file = bundle.make_bundle(loaded(failed(tmp_path / "run")), tmp_path / "run.tar.gz").file
    predicate = bundle.build_predicate(bundle.verify_bundle(file))
    assert predicate["result"] == "FAILED"
    assert predicate["failedTests"]


def test_could_not_tell_is_not_attested(tmp_path: Path) -> None:
    file = bundle.make_bundle(loaded(undecided(tmp_path / "run")), tmp_path / "run.tar.gz").file
    with pytest.raises(NeedsReview, match="attested"):
        bundle.build_predicate(bundle.verify_bundle(file))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"subject": [{"name": "run.tar.gz", "digest": {"sha256": "0" * 64}}]}, "whose SHA-256 is"),
        ({"subject": []}, "whose SHA-256 is"),
        ({"subject": "run.tar.gz"}, "whose SHA-256 is"),
        ({"predicateType": "https://slsa.dev/provenance/v1"}, "predicateType"),
        ({"predicate": {"result": "PASSED"}}, "predicate is not"),
        ({"_type": "https://in-toto.io/Statement/v0.1"}, "_type"),
    ],
)
def test_a_signature_over_something_else_is_refused(made: Made, change: dict[str, Any], why: str) -> None:
    made.attestation.write_text(json.dumps({**made.statement, **change}))
    with pytest.raises(HostError, match="does not verify") as caught:
        bundle.verify_attestation(made.file, made.attestation, REPOSITORY)
    assert why in caught.value.why


def test_another_repositorys_signature_is_refused(made: Made) -> None:
    with pytest.raises(HostError, match="does not verify"):
        bundle.verify_attestation(made.file, made.attestation, "other/project")


def test_an_attested_bundle_is_of_its_run_alone(made: Made, tmp_path: Path) -> None:
    attested = bundle.verify_attestation(made.file, made.attestation, REPOSITORY)
    attested.must_be_of(loaded(proved(tmp_path / "run")).story)
    with pytest.raises(HostError, match="other evidence"):
        attested.must_be_of(loaded(failed(tmp_path / "other")).story)


def test_the_command_says_who_signed(made: Made) -> None:
    argv = ["bundle", "--verify", str(made.file), "--attestation", str(made.attestation)]
    done = CliRunner().invoke(cli.cli, [*argv, "--signer", REPOSITORY])
    assert (done.exit_code, f"signed by {WORKFLOW}" in done.output) == (0, True)
    assert "not signed" in CliRunner().invoke(cli.cli, argv[:3]).output
    assert CliRunner(env={"GITHUB_REPOSITORY": ""}).invoke(cli.cli, argv).exit_code == ExitCode.USAGE


def test_the_predicate_is_printed_as_it_is_signed(made: Made) -> None:
    done = CliRunner().invoke(cli.cli, ["bundle", "--verify", str(made.file), "--predicate"])
    assert json.loads(done.output) == made.statement["predicate"]


def test_without_sigstore_a_signature_cannot_be_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = bundle.make_bundle(loaded(proved(tmp_path / "run")), tmp_path / "run.tar.gz").file
    monkeypatch.setitem(sys.modules, "sigstore", None)
    with pytest.raises(HostError, match="cannot be checked") as caught:
        bundle.verify_attestation(file, file, REPOSITORY)
    assert "backproof[attest]" in caught.value.next_step


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json"}', "\0"]
)
def test_what_is_no_attestation_is_refused(tmp_path: Path, text: str) -> None:
    pytest.importorskip("sigstore", reason="of the extra attest")
    file = bundle.make_bundle(loaded(proved(tmp_path / "run")), tmp_path / "run.tar.gz").file
    (tmp_path / "attestation.json").write_text(text)
    with pytest.raises(HostError, match="does not verify"):
        bundle.verify_attestation(file, tmp_path / "attestation.json", REPOSITORY)
