"""bundle: a run's evidence for somebody else, and what they can check without us."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from backproof.commands.options import FILE, FOLDER, kit_option, require_signer, signer_option
from backproof.commands.output import print_json, print_line, print_text
from backproof.core.plural import format_count

if TYPE_CHECKING:
    from collections.abc import Callable

    from backproof import bundle


@click.command("bundle")
@click.argument("folder", metavar="[RUN]", type=FOLDER, required=False)
@click.option("--out", type=click.Path(path_type=Path), help="The archive; by default RUN.bundle.tar.gz beside it.")
@kit_option
@click.option("--verify", "file", metavar="FILE", type=FILE, help="Check this bundle, offline, instead of making one.")
@click.option("--comment", is_flag=True, help="With --verify: print only the comment, regenerated from the bundle.")
@click.option(
    "--predicate", is_flag=True, help="With --verify: print only the in-toto test result, for actions/attest."
)
@click.option("--attestation", type=FILE, help="With --verify: also check who signed; needs backproof[attest].")
@signer_option
def bundle_command(
    *,
    folder: Path | None,
    out: Path | None,
    kit: Path | None,
    file: Path | None,
    comment: bool,
    predicate: bool,
    attestation: Path | None,
    signer: str | None,
) -> None:
    """Put the evidence of RUN into one archive, redacted, with hashes and an unsigned in-toto statement.

    With --verify, check every byte and every hash of a bundle, and that it says what its records carry. The exit code is
    then about the bundle: 0 it verifies, 4 it does not. The outcome of the run is printed.
    """
    if (folder is None) == (file is None):
        raise click.UsageError("Give a run to bundle, or --verify and a bundle.")
    if file is not None:
        show = _print_comment if comment else _print_predicate if predicate else _print_verified
        _check_bundle(file, attestation, signer, show)
    elif folder is not None:
        _write_bundle(folder, out, kit)


def _write_bundle(folder: Path, out: Path | None, kit: Path | None) -> None:
    from backproof import bundle
    from backproof.stages import REGISTRY
    from backproof.upstream import publish

    place = folder.absolute()
    file = out or place.with_name(f"{place.name}.bundle.tar.gz")
    written = bundle.make_bundle(publish.load_publishable(folder, REGISTRY, kit), file)
    manifest = written.verified.manifest
    redacted = sum(entry.redacted for entry in manifest.files)
    print_line(f"{written.sha256}  {written.file}")
    print_line(
        f"{format_count(len(manifest.files), 'file')}, {redacted} of them redacted, with the hash of the original"
    )
    for path in sorted(written.verified.replayed.recorded_paths - {entry.path for entry in manifest.files}):
        print_line(f"missing: {path}, which run.json names as evidence")
    print_line("not signed: send the SHA-256 above by another way than the file")


def _check_bundle(
    file: Path, attestation: Path | None, signer: str | None, show: Callable[[bundle.VerifiedBundle, str], None]
) -> None:
    from backproof import bundle

    if attestation is None:
        show(bundle.verify_bundle(file), "")
    else:
        attested = bundle.verify_attestation(file, attestation, require_signer(signer))
        show(attested.verified, attested.workflow)


def _print_comment(verified: bundle.VerifiedBundle, _: str) -> None:
    print_text(verified.comment)


def _print_predicate(verified: bundle.VerifiedBundle, _: str) -> None:
    from backproof import bundle

    print_json(bundle.build_predicate(verified))


def _print_verified(verified: bundle.VerifiedBundle, workflow: str) -> None:
    loaded, manifest = verified.replayed.loaded, verified.manifest
    files = format_count(len(manifest.files), "file")
    signed = f"signed by {workflow}" if workflow else "not signed: this says nothing of its maker"
    print_line(f"verified: {files}, whole and as listed; {signed}")
    print_line(f"the run {loaded.run.id}: {loaded.run.sentence}")
    origin = "as the bundle has it, to the byte" if verified.same_comment else f"{manifest.tool} wrote the bundle's own"
    print_line(f"the comment, regenerated: {origin}")
    for path in sorted(loaded.altered):
        print_line(f"not established: {path} was missing or altered in the run folder already")
