"""bundle, verify-bundle: a run's evidence for somebody else, and what they can check without us."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from backproof.commands.output import print_line, print_text
from backproof.core.plural import counted

if TYPE_CHECKING:
    from backproof import bundle

_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command("bundle")
@click.argument("folder", metavar="RUN", type=_FOLDER)
@click.option("--out", type=click.Path(path_type=Path), help="The archive; by default RUN.bundle.tar.gz beside it.")
@click.option("--kit", type=_FOLDER, help="The kit; by default the one that the run names.")
def bundle_command(*, folder: Path, out: Path | None, kit: Path | None) -> None:
    """Put the evidence of RUN into one archive, redacted, with hashes and an unsigned in-toto statement."""
    from backproof import bundle
    from backproof.stages import REGISTRY
    from backproof.upstream import publish

    place = folder.absolute()
    made = bundle.make(publish.load(folder, REGISTRY, kit), out or place.with_name(f"{place.name}.bundle.tar.gz"))
    manifest = made.checked.manifest
    redacted = sum(each.redacted for each in manifest.files)
    print_line(f"{made.sha256}  {made.file}")
    print_line(
        f"{counted(len(manifest.files), 'file')}, {redacted} of them redacted: each with the hash of its original, too"
    )
    for each in manifest.missing:
        print_line(f"missing: {each.path}, which run.json names as evidence")
    print_line("not signed: send the SHA-256 above by another way than the file")


@click.command("verify-bundle")
@click.argument("file", type=_FILE)
@click.option("--comment", is_flag=True, help="Print only the comment, drawn up again from the bundle.")
def verify_bundle(*, file: Path, comment: bool) -> None:
    """Check FILE, a bundle, offline: every byte, every hash, and that it says what its records carry.

    The exit code is about the bundle: 0 it verifies, 4 it does not. What the run came to is printed.
    """
    from backproof import bundle

    checked = bundle.check(file)
    print_text(checked.comment) if comment else _print(checked)


def _print(checked: bundle.Checked) -> None:
    run, manifest = checked.told.story.run, checked.manifest
    print_line(
        f"verified: {counted(len(manifest.files), 'file')}, whole and as listed; not signed: this says nothing of its maker"
    )
    print_line(f"the run {run.id}: {run.sentence}")
    said = "as the bundle has it, to the byte" if checked.same_comment else f"{manifest.tool} made the bundle's own"
    print_line(f"the comment, drawn up again: {said}")
    for path in sorted(checked.told.story.altered):
        print_line(f"not established: {path} was missing or altered in the run folder already")
