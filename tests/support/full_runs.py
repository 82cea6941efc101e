"""A run with something in every section of the comment: each sentence that a comment below level 3 can hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from backproof.core.model import Arm, Evidence, Finding, Outcome
from backproof.records.audit import AuditRecord
from backproof.records.picks import ConflictKind, ConflictRecord
from backproof.records.proof import Case, OtherCommit
from stories import SOURCE, Folder, case, level_2_cases, three

HEAD = "f" * 40
OTHERS = (
    OtherCommit(commit="e" * 40, subject="Add a note", why="adds notes/8.yaml", computed=True),
    OtherCommit(commit="9" * 40, subject="", why="it is not in the clone", computed=False),
)
FINDINGS = (
    Finding(severity="fail", text="the file is not the picked one", where="pkg/rows.py"),
    Finding(severity="warning", text="an .so is older than its source"),
    *(Finding(severity="warning", text=f"warning {number}") for number in range(60)),
)


def full(path: Path) -> Folder:
    """A run that fails, with evidence that was altered afterwards and a stage that asks for a person."""
    folder = Folder(path)
    conflict = ConflictRecord(path="pkg/rows.py", kind=ConflictKind.CONTENT)
    folder.pick(commit={"reconstructed": True}, conflicts=(conflict,), others=OTHERS)
    folder.fixup()
    folder.install()
    folder.verify(findings=FINDINGS)
    folder.validate(_cases(), Outcome.FAIL, facts={"torch": "2.13.0"})
    folder.stage("audit", evidence=(folder.record("audit", _audit()),))
    folder.stage("triage", Outcome.INCONCLUSIVE, "nothing decides", evidence=(_altered(folder),))
    return folder


def _cases() -> list[Case]:
    """The fixed arm is red, the limit's case is on no base arm, and a pair of arms shows no difference."""
    red = case("compute", Arm.FIXED, "fail", "pass", verdict="failed")
    return [*level_2_cases()[:3], *level_2_cases()[4:11], red, *three("added", "fail", "pass", "pass")[1:]]


def _altered(folder: Folder) -> Evidence:
    evidence = folder.proof("triage/log.txt", "first", "the log of base", "cat")
    (folder.path / "triage/log.txt").write_text("altered")
    return evidence


def _audit() -> AuditRecord:
    return AuditRecord.model_validate(
        {
            "repo": "example/project",
            "pull": 7,
            "title": "A small backport",
            "head": HEAD,
            "requests": (
                _request(author="ann", in_head="no", closed_by="zero-row"),
                _request(author="bob", in_head="no"),
                _request(author="eve", in_head="for-a-person", resolved=False),
            ),
            "claims": [
                {"kinds": [kind], "quote": f"the {kind} claim", "inherited": inherited}
                for kind in ("device", "ci-only")
                for inherited in (True, False)
            ],
            "cancelled": [{"commit": SOURCE, "subject": "Back and forth", "why": "a revert", "computed": True}],
            "checks": [{"name": "lint", "state": "failure"}],
            "later": [
                {"number": 8, "title": "Take it back", "url": "", "kind": "revert", "merged": True},
                {"number": 9, "title": "Go on", "url": "", "kind": "follow-up", "merged": False},
            ],
            "limits": ("no token: checks",),
        }
    )


def _request(**changes: Any) -> dict[str, Any]:
    facts = {"url": "", "path": "pkg/rows.py", "lines": "4-6", "kind": "suggestion", "resolved": True}
    return {**facts, "quote": "keep it in range", "code": "x = n", **changes}
