"""What the templates of the comment and the page see of a run: numbered evidence, and no line that has none."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from backproof.core.level import Level
from backproof.core.model import Arm, Evidence, Finding, Outcome, Record
from backproof.core.plain_text import one_line
from backproof.devices import DEVICES
from backproof.records.proof import DeviceInventory, FixupRecord, ValidateRecord, VerifyRecord
from backproof.report.arm_differences import Remark, list_remarks
from backproof.report.exhibits import Exhibits
from backproof.report.patch_diff import pair_files
from backproof.report.view import CaseRow, JudgedCase, Part, RunView, arrange_by_arm
from backproof.rundir.loaded_run import patch_paths, record_paths
from backproof.rundir.subject import find_contradictions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backproof.kit.plan import OperatorModel, Plan
    from backproof.records.proof import PickedCommit
    from backproof.report.patch_diff import FileDiff
    from backproof.report.view import StageView
    from backproof.rundir.loaded_run import LoadedRun

J = TypeVar("J", JudgedCase, Part)
_REFS = 12
_PARTS = 1000
_ROWS_SHORT = 60
_ROWS_LONG = 2000
_FINDINGS_LONG = 10_000
"""As many as a browser opens at once: tests/report/test_browser.py."""
_WEIGHT = {"fail": 0, "warning": 1, "note": 2}


@dataclass(frozen=True, kw_only=True, slots=True)
class Rows:
    """The rows that are shown, and how many are not."""

    shown: tuple[Any, ...]
    more: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentView(RunView):
    """A run for one document. `short` is for a comment, where everything has its bound."""

    plan: Plan
    short: bool
    numbers: dict[str, int]
    used: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, loaded: LoadedRun, plan: Plan, *, short: bool) -> DocumentView:
        numbers = {evidence.path: number for number, evidence in enumerate(loaded.run.evidence, 1)}
        return cls(loaded=loaded, plan=plan, short=short, numbers=numbers)

    def ground(self, evidence: tuple[Evidence, ...], source: Record | str) -> tuple[int, ...]:
        """Return the numbers of what a line rests on: its own evidence, or else its source's. () when none holds.

        Args:
            evidence: the line's own.
            source: the record that the line is about, or the name of its stage.

        Raises:
            ValueError: there never was any: the line must not be written.
        """
        stage = source if isinstance(source, str) else self._name_stage(type(source))
        result = self.loaded.find_result_named(stage)
        evidence = evidence or self.loaded.find_file(f"{stage}/{stage}.json") or (result.evidence if result else ())
        if not evidence:
            raise ValueError(f"a line about {stage} has no evidence")
        numbers = sorted({self.numbers[item.path] for item in evidence})[:_REFS] if self.holds(evidence) else []
        self.used.update(numbers)
        return tuple(numbers)

    @property
    def on_device(self) -> bool:
        """Whether words of hardware may be said at all."""
        return self.run.level is not None and self.run.level >= Level.DEVICE

    @property
    def served(self) -> bool:
        """Whether the rounds under load count for a device."""
        return self.run.level == Level.SERVED

    @property
    def operator_models(self) -> tuple[OperatorModel, ...]:
        """The operator models of the kit, where the checks ran under them."""
        checks, emulator = self.loaded.validate, self.plan.emulator
        device = DEVICES.get(checks.device) if checks else None
        return emulator.model if emulator and device and device.TRAITS.operator_models else ()

    @property
    def reconstructed(self) -> tuple[PickedCommit, ...]:
        return tuple(commit for commit in self._commits if commit.reconstructed)

    @property
    def _commits(self) -> tuple[PickedCommit, ...]:
        return self.loaded.pick.commits if self.loaded.pick else ()

    @property
    def cases(self) -> Rows:
        """The arms of each check and model beside each other; the worst first where there are too many."""
        cases = tuple(judged for row in arrange_by_arm(self.judged_cases) for judged in row.arms if judged)
        return self.bound(_put_worst_first(cases, _ROWS_SHORT if self.short else _ROWS_LONG))

    @property
    def case_rows(self) -> tuple[CaseRow, ...]:
        return arrange_by_arm(self.cases.shown)

    @property
    def remarks(self) -> Rows:
        cases = [judged.case for judged in self.cases.shown if judged.holds]
        fixups = tuple(fixup.id for fixup in (self.loaded.fixup.fixups if self.loaded.fixup else ()))
        return self.bound(list_remarks(cases, fixups=fixups))

    @property
    def declared(self) -> Rows:
        """What the plan says of each limit that was met."""
        expected = {(check.id, model): entry for check in self.plan.check for model, entry in check.expect.items()}
        limits = [case for case in self.loaded.cases if case.role == "limit" and case.arm is Arm.FIXED]
        return self.bound(
            Remark(text=f"{case.check} under {case.model}: {entry.meaning}", evidence=case.evidence)
            for case in limits
            if (entry := expected.get((case.check, case.model))) and entry.meaning
        )

    @property
    def findings(self) -> Rows:
        """Warnings and worse of the stages that have no lines of their own here; notes too where there is room."""
        landing = self.loaded.registry.path_to(FixupRecord)
        rows = [
            (finding, stage.stage, stage.evidence)
            for stage in self.run.stages
            if stage.evidence and not (self.short and stage.stage in landing)
            for finding in stage.findings
        ]
        verify = self._name_stage(VerifyRecord)
        rows += [(finding, verify, claim.evidence) for claim in self.claims for finding in claim.findings]
        once: dict[Finding, tuple[Finding, str, tuple[Evidence, ...]]] = {row[0]: row for row in reversed(rows)}
        wanted = [row for row in reversed(once.values()) if not self.short or row[0].severity != "note"]
        return self.bound(sorted(wanted, key=lambda row: _WEIGHT[row[0].severity]), _FINDINGS_LONG)

    @property
    def missing(self) -> Rows:
        """What this run does not establish: stages that did not pass or did not run, evidence that does not hold."""
        ended = [stage for stage in self.run.stages if stage.outcome is not Outcome.PASS]
        lines = [f"{stage.stage}: {stage.outcome}: {stage.sentence}" for stage in ended]
        ran = {stage.stage for stage in self.run.stages}
        lines += [f"{name}: not run" for name in self.loaded.registry.path_to(ValidateRecord) if name not in ran]
        lines += find_contradictions(self.loaded).values()
        lines += [
            f"evidence missing or altered, and not counted: {path}" for path in self.altered if path in self.numbers
        ]
        return self.bound(lines)

    @property
    def evidence(self) -> Rows:
        """Number and evidence; for a comment only what its lines refer to."""
        numbered = enumerate(self.run.evidence, 1)
        return self.bound((number, item) for number, item in numbered if not self.short or number in self.used)

    @property
    def exhibits(self) -> Exhibits:
        return Exhibits(self)

    def order_parts(self, stage: StageView) -> tuple[Part, ...]:
        """Return what is shown of a stage's parts; the table has the rest."""
        return _put_worst_first(stage.parts, _PARTS)[:_PARTS]

    @property
    def file_diffs(self) -> tuple[FileDiff, ...]:
        """The patch beside upstream's; where upstream's was not kept, what landed alone."""
        fixups = [fixup.landed or "" for fixup in (self.loaded.fixup.fixups if self.loaded.fixup else ())]
        dropped = [path for commit in self._commits for path in commit.dropped]
        return pair_files(self.loaded.upstream, self.loaded.patch, fixups=fixups, dropped=dropped)

    @property
    def commands(self) -> str:
        """How to run it again, with words in place of this machine's paths."""
        settings, upstream = self.run.settings, self.plan.upstream
        pull = f", with refs/pull/{upstream.pull}/head" if upstream.pull else ""
        tip = self.loaded.pick.base if self.loaded.pick else "the tip that was used"
        target = one_line(self.plan.target.requirement if self.plan.target else self.plan.install.distribution)
        values = (self.run.kit, settings.branch, settings.device)
        kit, branch, device = (shlex.quote(one_line(value)) for value in values)
        lines = [
            f"# REPO: {upstream.repo}{pull}, {branch} at {tip}",
            f"# PYTHON: an interpreter with {target}",
            f'backproof run patches/{kit} --repo "$REPO" --branch {branch} --python "$PYTHON" --device {device} --out RUN',
            """cd RUN && jq -r '.evidence[] | "\\(.sha256)  \\(.path)"' run.json | sha256sum --check --quiet""",
        ]
        return "\n".join(lines)

    @property
    def upstream_evidence(self) -> tuple[Evidence, ...]:
        return self.loaded.find_file(patch_paths(self.loaded.registry)[1])

    @property
    def inventory_evidence(self) -> tuple[Evidence, ...]:
        return self.loaded.find_file(record_paths(self.loaded.registry)[DeviceInventory])

    def _name_stage(self, record: type[Record]) -> str:
        return self.loaded.registry.name_of(record)

    def bound(self, rows: Iterable[Any], long: int = _ROWS_LONG) -> Rows:
        """Return as many rows as this document shows."""
        everything = tuple(rows)
        limit = _ROWS_SHORT if self.short else long
        return Rows(shown=everything[:limit], more=max(0, len(everything) - limit))


def _put_worst_first(items: tuple[J, ...], limit: int) -> tuple[J, ...]:
    """Keep their order, unless there are too many: then those that did not pass come first."""
    return tuple(sorted(items, key=lambda item: item.outcome is Outcome.PASS)) if len(items) > limit else items
