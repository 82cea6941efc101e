"""Proofs of many backports beside each other: a table in Markdown, in HTML, and as one record a line."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from backproof import __version__
from backproof.core.level import Level
from backproof.core.plural import format_count
from backproof.core.redaction import redact, redact_for_public
from backproof.report.render import make_html_environment, make_markdown_environment, mask_with

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.records.proving import ProofRecord, ReleaseTests

LEVELS: Final = {
    Level.PICKED: "Level 0 of 4, picked: nothing was shown to run.",
    Level.LOADED: "Level 1 of 4, loaded: tests of the release execute the change. Not shown: that anything was wrong without it.",
    Level.EMULATED: "Level 2 of 4, by the fix's own tests on a CPU, with what the project puts in place of a device. Not shown on a device.",
}
"""What each level is called where the fix's own tests are the checks. They reach no higher one."""


def render_proofs(proofs: Sequence[ProofRecord], *, title: str) -> dict[str, str]:
    """Return table.md, table.html and table.jsonl by name."""
    counts = Counter(proof.outcome for proof in proofs).most_common()
    summary = ", ".join(f"{count} {outcome}" for outcome, count in counts)
    facts = {"proofs": proofs, "title": title, "summary": summary, "version": __version__}
    markdown = make_markdown_environment(mask_with(redact_for_public))
    page = make_html_environment(mask_with(redact))
    return {
        "table.md": markdown.get_template("proofs.md.j2").render(facts).lstrip(),
        "table.html": page.get_template("proofs.html.j2").render(facts),
        "table.jsonl": "".join(f"{proof.model_dump_json(by_alias=True)}\n" for proof in proofs),
    }


def render_proof(proof: ProofRecord) -> str:
    """Draft the comment of one proof, in Markdown."""
    environment = make_markdown_environment(mask_with(redact_for_public))
    landed = " --landed" if proof.landed else ""
    text = environment.get_template("proof.md.j2").render(
        proof=proof,
        headline=_write_headline(proof),
        level=LEVELS[proof.level],
        guards=f"{format_count(len(proof.guards), 'other test')} unchanged." if proof.guards else "",
        release_tests=describe_release_tests(proof.release_tests) if proof.release_tests else "",
        command=f"backproof prove {proof.what} --branch {proof.branch}{landed}",
    )
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _write_headline(proof: ProofRecord) -> str:
    if proof.proofs and proof.outcome == "proved":
        verbs = ("fails", "passes") if len(proof.proofs) == 1 else ("fail", "pass")
        return f"{format_count(len(proof.proofs), 'test')} of the fix {verbs[0]} without it and {verbs[1]} with it"
    return {"fail": "A test got worse", "error": "It could not be told"}.get(
        proof.outcome, "Not proved by its own tests"
    )


def describe_release_tests(shown: ReleaseTests) -> str:
    """Return one sentence about the release's own tests."""
    if shown.strange:
        return f"the release's own tests show nothing: {shown.strange}"
    if not shown.files:
        return "no test of the release names what the fix changes"
    verb = "reaches" if len(shown.reach) == 1 else "reach"
    worse = f"{len(shown.worse)} got worse" if shown.worse else "none got worse"
    cut = ", as far as time allowed" if shown.cut else ""
    counted = f"{format_count(shown.tests, 'test')} in {format_count(len(shown.files), 'file')}"
    return f"{format_count(len(shown.reach), 'test')} of the release {verb} the change; {worse} (of {counted}{cut})"
