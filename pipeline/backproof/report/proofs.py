"""Proofs of many backports beside each other: a table in Markdown, in HTML, and as one record a line."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from backproof import __version__
from backproof.core.redaction import redact, redact_for_public
from backproof.report.render import make_html_environment, make_markdown_environment, mask_with

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.records.proving import ProofRecord


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
