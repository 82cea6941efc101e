"""What a maintainer reads of a run in half a minute: a row per claim, what failed before, and what is asked of them."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.core.errors import ExitCode
from backproof.core.model import Arm, Outcome
from backproof.records.proof import ValidateRecord
from backproof.report.document import DocumentView
from backproof.rundir.loaded_run import patch_paths
from backproof.verdict import run_verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.core.model import Evidence, Finding
    from backproof.records.arm_tests import ArmTest
    from backproof.records.audit import ReviewRequest, ValidationClaim
    from backproof.records.proof import Case, LandedFixup
    from backproof.report.view import Fact, JudgedCase

_ROWS = 5
_SUGGESTED = 8
"""Lines of a fix-up that are read in passing; a longer one is in the page."""
_NOT_VERSIONS = frozenset({"device", "what", "host", "boot_id", "machine", "system"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """What one arm showed of a claim, over all models."""

    cases: tuple[JudgedCase, ...]

    @property
    def state(self) -> str:
        """One of none, gone, unknown, ok and red."""
        if not self.cases:
            return "none"
        if not all(judged.holds for judged in self.cases):
            return "gone"
        if any(judged.case.verdict == "error" for judged in self.cases):
            return "unknown"
        return "red" if self._red else "ok"

    @property
    def _red(self) -> list[JudgedCase]:
        return [judged for judged in self.cases if judged.case.observed != "pass"]

    @property
    def failed(self) -> int:
        return sum(judged.case.steps_failed for judged in self._red)

    @property
    def steps(self) -> int:
        return sum(judged.case.steps for judged in self.cases)

    @property
    def kind(self) -> str:
        """The fault that all of its red cases have; "fail" where they have several."""
        kinds = {judged.case.observed.removeprefix("fault:") for judged in self._red}
        return kinds.pop() if len(kinds) == 1 else "fail"


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimRow:
    """A claim and what each arm showed of it; the last row of a long table has several."""

    claims: tuple[str, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class CommentView(DocumentView):
    """A run for the comment, where everything has its bound."""

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The arms that differ: without a fix-up, pick and fixed are the same code."""
        return tuple(Arm) if self.fixups else (Arm.BASE, Arm.FIXED)

    @property
    def fixups(self) -> tuple[LandedFixup, ...]:
        return tuple(fixup for fixup in (self.loaded.fixup.fixups if self.loaded.fixup else ()) if fixup.landed)

    @property
    def claim_rows(self) -> tuple[ClaimRow, ...]:
        """At most five rows: where there are more claims, those that are not red come last and share one."""
        by_check: dict[str, list[JudgedCase]] = {}
        for judged in self.judged_cases:
            by_check.setdefault(judged.case.check, []).append(judged)
        names = list(by_check)
        if len(names) > _ROWS:
            names.sort(key=lambda name: all(judged.outcome is Outcome.PASS for judged in by_check[name]))
        alone = _ROWS if len(names) <= _ROWS else _ROWS - 1
        groups = [[name] for name in names[:alone]] + ([names[alone:]] if names[alone:] else [])
        return tuple(self._make_row(group, [case for name in group for case in by_check[name]]) for group in groups)

    def _make_row(self, names: list[str], cases: Sequence[JudgedCase]) -> ClaimRow:
        claims = {check.id: check.claim for check in self.plan.check}
        cells = (Cell(cases=tuple(judged for judged in cases if judged.case.arm is arm)) for arm in self.arms)
        return ClaimRow(claims=tuple(claims.get(name, name) for name in names), cells=tuple(cells))

    @property
    def proofs(self) -> int:
        return len(run_verdict.find_proofs(self.loaded.cases))

    @property
    def limits(self) -> int:
        return len(run_verdict.declared_limits(self.loaded.cases))

    @property
    def needs_fixups(self) -> bool:
        """Whether something that must be green is red with the picked commits alone."""
        cases = [judged.case for judged in self.judged_cases if judged.case.role == "proof"]
        fixed = {(case.check, case.model) for case in cases if case.arm is Arm.FIXED and case.observed == "pass"}
        return any(
            case.arm is Arm.PICK and case.observed != "pass" and (case.check, case.model) in fixed for case in cases
        )

    @property
    def first_red(self) -> JudgedCase | None:
        """The first proof that is red on base, whose failure says what the backport is for. An error is no such failure."""
        base = (judged for judged in self.judged_cases if judged.case.arm is Arm.BASE and judged.case.first)
        red = (judged for judged in base if not judged.case.tests or any(test.is_red for test in judged.case.tests))
        return next((judged for judged in red if judged.holds and judged.case.role == "proof"), None)

    def describe_failure(self, judged: JudgedCase) -> str:
        """Return what the first red test ended with, without its id."""
        test = self._find_failure(judged)
        return test.line if test else judged.case.first

    def _find_failure(self, judged: JudgedCase) -> ArmTest | None:
        """Return the first test that is red on base and green with the backport; else the first that is red."""
        red = [test for test in judged.case.tests if test.is_red]
        green = self._list_green(judged.case)
        return next((test for test in red if test.test in green), red[0] if red else None)

    def _list_green(self, base: Case) -> set[str]:
        same = (case for case in self.loaded.cases if (case.check, case.model) == (base.check, base.model))
        return {test.test for case in same if case.arm is Arm.FIXED for test in case.tests if test.ending == "passed"}

    @property
    def reached_and_green(self) -> bool:
        """Whether the changed lines ran, and the test whose failure is told is green with them."""
        reached = any(part.name == "reached" and part.outcome is Outcome.PASS for part in self.claims)
        red = self.first_red
        if (
            red is None
            or not reached
            or (red.case.check, red.case.model) not in run_verdict.find_proofs(self.loaded.cases)
        ):
            return False
        test = self._find_failure(red)
        return test is None or test.test in self._list_green(red.case)

    @property
    def suggestion(self) -> str:
        """The lines that the fix-ups add, where they are few and add only."""
        hunks = [line for file in self.file_diffs if file.kind == "fix-up" for line in file.landed.splitlines()]
        added = [line[1:] for line in hunks if line.startswith("+")]
        if any(line.startswith("-") for line in hunks) or len(added) > _SUGGESTED:
            return ""
        return textwrap.dedent("\n".join(added))

    @property
    def adapted(self) -> int:
        """The number of files that did not land as upstream has them."""
        return sum(file.kind in {"adapted", "added"} for file in self.file_diffs) if self.loaded.upstream else 0

    @property
    def dropped(self) -> tuple[str, ...]:
        commits = self.loaded.pick.commits if self.loaded.pick else ()
        return tuple(path for commit in commits for path in commit.dropped)

    @property
    def versions(self) -> tuple[Fact, ...]:
        return tuple(fact for fact in self.environment if fact.name not in _NOT_VERSIONS)

    @property
    def next_steps(self) -> tuple[str, ...]:
        """What the stages that ended badly found, and what to do; a few lines."""
        badly = [stage for stage in self.run.stages if stage.outcome.exit_code is not ExitCode.PASS]
        return tuple(finding.line for stage in badly for finding in stage.findings)[:3]

    @property
    def others_computed(self) -> bool:
        return all(other.computed for other in (self.loaded.pick.others if self.loaded.pick else ()))

    @property
    def open_requests(self) -> tuple[ReviewRequest, ...]:
        """Requests of reviewers that are marked resolved, are not in the head, and that no fix-up closes."""
        requests = self.loaded.audit.requests if self.loaded.audit else ()
        return tuple(item for item in requests if item.resolved and item.in_head == "no" and not item.closed_by)

    def may_quote(self, claim: ValidationClaim) -> bool:
        """Return whether its words may stand here: those on a device need one."""
        return self.on_device or "device" not in claim.kinds

    @property
    def warnings(self) -> tuple[tuple[Finding, str, tuple[Evidence, ...]], ...]:
        return tuple(row for row in self.findings.shown if row[0].severity != "note")

    @property
    def named_evidence(self) -> tuple[Evidence, ...]:
        """The files by which a reader knows the run again: the patch, and what the checks gave."""
        names = (*patch_paths(self.loaded.registry), self.loaded.registry.path_of(ValidateRecord))
        return tuple(item for name in names for item in self.loaded.find_file(name) if self.holds((item,)))
