"""Claim 2: all files of the patch are in the target, not some."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.core.model import Evidence, Finding, Outcome
from backproof.core.plural import format_all, format_count, is_or_are
from backproof.install.overlay.journal import NOT_A_FILE
from backproof.records.proof import Claim

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.records.proof import InstalledFile


def judge_complete(
    files: Sequence[InstalledFile],
    found: dict[str, str | None],
    *,
    stale: tuple[Finding, ...] = (),
    evidence: tuple[Evidence, ...],
) -> Claim:
    """Compare each installed file with the blob of the fixed tree.

    Args:
        files: with the SHA-256 of the release and of the fixed tree.
        found: SHA-256 of what is there now, by path in the repository (None: absent).
        stale: libraries that were not built again from sources of the patch: with one, it is not known what runs.
        evidence: where `found` is written down.
    """
    findings = tuple(_describe_missing(file, found[file.path]) for file in files if found[file.path] != file.after)
    return Claim(
        name="complete",
        sentence=_write_sentence(files, findings, stale),
        outcome=Outcome.FAIL
        if findings
        else Outcome.INCONCLUSIVE
        if stale
        else Outcome.PASS
        if files
        else Outcome.ERROR,
        findings=(*findings, *stale),
        evidence=evidence,
    )


def _write_sentence(files: Sequence[InstalledFile], findings: tuple[Finding, ...], stale: tuple[Finding, ...]) -> str:
    if not files:
        return "no file of the patch is installed: nothing can be told"
    if findings:
        lack = "lacks" if len(findings) == 1 else "lack"
        where = ", ".join(finding.where for finding in findings)
        return f"{len(findings)} of {format_count(len(files), 'file')} {lack} the patch: {where}"
    if stale:
        return f"not proved: {stale[0].text}; build it again, then verify"
    alike = "equal to its git blob" if len(files) == 1 else "each equal to its git blob"
    return f"{format_all(len(files), 'file')} of the patch {is_or_are(len(files))} installed, {alike}"


def _describe_missing(file: InstalledFile, found: str | None) -> Finding:
    if found is None:
        text = "is missing"
    elif file.after is None:
        text = "is still there; the patch deletes it"
    elif found == file.before:
        text = "is still the release's own file, without the patch"
    else:
        other = f"neither the release's nor the patch's (SHA-256 {found[:12]})"
        text = f"is {found if found == NOT_A_FILE else other}"
    return Finding(severity="fail", text=f"{file.installed} {text}", where=file.path)
