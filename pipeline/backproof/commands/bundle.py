"""bundle: a run's evidence for somebody else, and what they can check without us."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from backproof.commands.options import FILE, FOLDER, kit_option
from backproof.commands.output import print_line, print_text
from backproof.core.plural import format_count

if TYPE_CHECKING:
    from backproof import bundle


@click.command("bundle")
@click.argument("folder", metavar="[RUN]", type=FOLDER, required=False)
@click.option("--out", type=click.Path(path_type=Path), help="The archive; by default RUN.bundle.tar.gz beside it.")
@kit_option
@click.option("--verify", "file", metavar="FILE", type=FILE, help="Check this bundle, offline, instead of making one.")
@click.option("--comment", is_flag=True, help="With --verify: print only the comment, regenerated from the bundle.")
def bundle_command(
    *, folder: Path | None, out: Path | None, kit: Path | None, file: Path | None, comment: bool
) -> None:
    """Put the evidence of RUN into one archive, redacted, with hashes and an unsigned in-toto statement.

    With --verify, check every byte and every hash of a bundle, and that it says what its records carry. The exit code is
    then about the bundle: 0 it verifies, 4 it does not. The outcome of the run is printed.
    """
    if (folder is None) == (file is None):
        raise click.UsageError("Give a run to bundle, or --verify and a bundle.")
    if file is not None:
        _check_bundle(file, comment=comment)
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


def _check_bundle(file: Path, *, comment: bool) -> None:
    from backproof import bundle

    verified = bundle.verify_bundle(file)
    print_text(verified.comment) if comment else _print_verified(verified)


def _print_verified(verified: bundle.VerifiedBundle) -> None:
    loaded, manifest = verified.replayed.loaded, verified.manifest
    files = format_count(len(manifest.files), "file")
    print_line(f"verified: {files}, whole and as listed; not signed: this says nothing of its maker")
    print_line(f"the run {loaded.run.id}: {loaded.run.sentence}")
    origin = "as the bundle has it, to the byte" if verified.same_comment else f"{manifest.tool} wrote the bundle's own"
    print_line(f"the comment, regenerated: {origin}")
    for path in sorted(loaded.altered):
        print_line(f"not established: {path} was missing or altered in the run folder already")
