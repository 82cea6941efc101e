"""What the templates of the comment and the page see of a run: numbered evidence, and no line that has none."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeVar

from backproof.core.level import Level
from backproof.core.model import Arm, Evidence, Finding, Outcome, Record, StageRole
from backproof.core.plain_text import one_line
from backproof.devices import DEVICES
from backproof.records.proof import DeviceInventory, ValidateRecord, VerifyRecord
from backproof.report.arm_differences import Remark, list_remarks
from backproof.report.exhibits import Exhibits
from backproof.report.patch_diff import pair_files
from backproof.report.view import CaseRow, Part, RunView, arrange_by_arm
from backproof.rundir.loaded_run import patch_paths, record_paths

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backproof.kit.plan import OperatorModel, Plan
    from backproof.records.proof import PickedCommit
    from backproof.report.patch_diff import FileDiff
    from backproof.report.view import StageView
    from backproof.rundir.loaded_run import LoadedRun

J = TypeVar("J", CaseRow, Part)
_REFS = 12
_PARTS = 1000
_FINDINGS = 5
"""Times as many of them as of other rows: what a browser opens at once is in tests/report/test_browser.py."""
_WEIGHT = {"fail": 0, "warning": 1, "note": 2}


@dataclass(frozen=True, kw_only=True, slots=True)
class Rows:
    """The rows that are shown, and how many are not."""

    shown: tuple[Any, ...]
    more: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentView(RunView):
    """A run for one document, which shows at most `most` rows of anything."""

    plan: Plan
    numbers: dict[str, int]
    most: int = 2000

    @classmethod
    def of(cls, loaded: LoadedRun, plan: Plan, **options: int) -> Self:
        numbers = {evidence.path: number for number, evidence in enumerate(loaded.run.evidence, 1)}
        return cls(loaded=loaded, plan=plan, numbers=numbers, **options)

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
        return tuple(sorted({self.numbers[item.path] for item in evidence})[:_REFS] if self.holds(evidence) else ())

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
    def case_rows(self) -> Rows:
        """The arms of each check and model beside each other; the worst first where there are too many.

        A row is shown whole or not at all: an arm that was cut off would read as one that did not run.
        """
        return self.bound(_put_worst_first(arrange_by_arm(self.judged_cases), self.most))

    @property
    def remarks(self) -> Rows:
        cases = [judged.case for row in self.case_rows.shown for judged in row.arms if judged and judged.holds]
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
        """What the stages and their claims found, the worst first, each once."""
        rows = [
            (finding, stage.stage, stage.evidence)
            for stage in self.run.stages
            if stage.evidence
            for finding in stage.findings
        ]
        verify = self._name_stage(VerifyRecord)
        rows += [(finding, verify, claim.evidence) for claim in self.claims for finding in claim.findings]
        once: dict[Finding, tuple[Finding, str, tuple[Evidence, ...]]] = {}
        for row in rows:
            once.setdefault(row[0], row)
        return self.bound(sorted(once.values(), key=lambda row: _WEIGHT[row[0].severity]), _FINDINGS)

    @property
    def missing(self) -> Rows:
        """What this run does not establish: stages that did not pass or did not run, evidence that does not hold."""
        role_of = self.loaded.registry.role_of
        lines = [
            f"{stage.stage}: {stage.outcome}: {stage.sentence}"
            for stage in self.run.stages
            if stage.outcome not in {Outcome.PASS, Outcome.SKIP}
            or (stage.outcome is Outcome.SKIP and role_of(stage.stage) is StageRole.PROOF)
        ]
        ran = {stage.stage for stage in self.run.stages}
        lines += [f"{name}: not run" for name in self.loaded.registry.path_to(ValidateRecord) if name not in ran]
        lines += self.loaded.contradictions.values()
        lines += [
            f"evidence missing or altered, and not counted: {path}" for path in self.altered if path in self.numbers
        ]
        return self.bound(lines)

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
    def command(self) -> str:
        """The line that runs the same again; it installs Backproof first, where a reader can get this very one."""
        settings, origin = self.run.settings, self.run.origin
        named = (
            f"patches/{self.run.kit}",
            f"https://github.com/{self.plan.upstream.repo}",
            settings.branch,
            settings.device,
        )
        kit, url, branch, device = (shlex.quote(one_line(value)) for value in named)
        again = f"backproof run {kit} --repo {url} --branch {branch} --python PYTHON --device {device}"
        if self.run.subject.published:
            again = f"backproof demo {shlex.quote(one_line(self.run.kit))}"
        return f"pip install {shlex.quote(origin)} && {again}" if origin.startswith("backproof") else again

    @property
    def sources(self) -> str:
        """What a reader needs who cannot install this Backproof: its version, and its commit where that is known."""
        commit = self.run.origin.partition(" at ")[2]
        return (
            ""
            if self.run.origin.startswith("backproof")
            else f"{self.run.tool}{f' at {commit[:12]}' if commit else ''}"
        )

    @property
    def upstream_evidence(self) -> tuple[Evidence, ...]:
        return self.loaded.find_file(patch_paths(self.loaded.registry)[1])

    @property
    def inventory_evidence(self) -> tuple[Evidence, ...]:
        return self.loaded.find_file(record_paths(self.loaded.registry)[DeviceInventory])

    def _name_stage(self, record: type[Record]) -> str:
        return self.loaded.registry.name_of(record)

    def bound(self, rows: Iterable[Any], times: int = 1) -> Rows:
        """Return as many rows as this document shows, or a multiple of them."""
        everything, most = tuple(rows), self.most * times
        return Rows(shown=everything[:most], more=max(0, len(everything) - most))


_WORST_FIRST = tuple(reversed(Outcome))


def _put_worst_first(items: tuple[J, ...], limit: int) -> tuple[J, ...]:
    """Keep their order, unless there are too many: then those that did not pass come first."""
    return tuple(sorted(items, key=lambda item: _WORST_FIRST.index(item.outcome))) if len(items) > limit else items
