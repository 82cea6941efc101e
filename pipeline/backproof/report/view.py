"""What a template gets to see of a story: numbered evidence, bounded rows, nothing that has no evidence."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backproof.core.level import Level
from backproof.core.model import Arm, Evidence, Finding, Outcome, Record
from backproof.core.plain_text import one_line
from backproof.devices import DEVICES
from backproof.records.proof import DeviceInventory, FixupRecord, InstallRecord, ValidateRecord, VerifyRecord
from backproof.report.arm_differences import Remark, observed
from backproof.report.claim_tree import chain
from backproof.report.drift import doctor_place, drift
from backproof.report.hypotheses import hypotheses
from backproof.report.load_charts import charts
from backproof.report.patch_diff import sides
from backproof.report.timeline import Timeline
from backproof.rundir.loaded_run import patch_paths, record_paths
from backproof.rundir.subject import contradictions
from backproof.verdict.run_verdict import case_outcome
from backproof.verdict.sentences import HEADLINES, level_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.kit.plan import OperatorModel, Plan
    from backproof.records.proof import Case, PickedCommit, Run
    from backproof.report.claim_tree import Link
    from backproof.report.drift import Drift
    from backproof.report.hypotheses import Suspicion
    from backproof.report.load_charts import Chart
    from backproof.report.patch_diff import Side
    from backproof.rundir.loaded_run import LoadedRun

_REFS = 12
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
class Outline:
    """The view of one story. `short` is for a comment, where everything has its bound."""

    story: LoadedRun
    plan: Plan
    short: bool
    numbers: dict[str, int]
    used: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, story: LoadedRun, plan: Plan, *, short: bool) -> Outline:
        numbers = {each.path: index for index, each in enumerate(story.run.evidence, 1)}
        return cls(story=story, plan=plan, short=short, numbers=numbers)

    def ground(self, evidence: tuple[Evidence, ...], source: Record | str) -> tuple[int, ...]:
        """Return the numbers of what a line rests on: its own evidence, or else its source's. () when none holds.

        Args:
            source: the record that the line is about, or the name of its stage.

        Raises:
            ValueError: there never was any: the line must not be written.
        """
        stage = source if isinstance(source, str) else self.story.registry.name_of(type(source))
        result = self.story.result_named(stage)
        evidence = evidence or self.story.file(f"{stage}/{stage}.json") or (result.evidence if result else ())
        if not evidence:
            raise ValueError(f"a line about {stage} has no evidence")
        holds = self.story.intact(evidence)
        numbers = sorted({self.numbers[each.path] for each in evidence})[:_REFS] if holds else []
        self.used.update(numbers)
        return tuple(numbers)

    @property
    def run(self) -> Run:
        return self.story.run

    @property
    def headline(self) -> str:
        return HEADLINES[self.run.outcome]

    @property
    def on_device(self) -> bool:
        """Whether words of hardware may be said at all."""
        return self.run.level is not None and self.run.level >= Level.DEVICE

    @property
    def ladder(self) -> tuple[tuple[str, bool], ...]:
        """Each level's name, and whether it was reached."""
        return tuple(
            (name, self.run.level is not None and each <= self.run.level) for each, name in self._level_names.items()
        )

    @property
    def level_name(self) -> str:
        return "not landed" if self.run.level is None else self._level_names[Level(self.run.level)]

    @property
    def _level_names(self) -> dict[Level, str]:
        validate = self.story.validate
        return level_names(validate.device if validate else self.run.settings.device)

    @property
    def operator_models(self) -> tuple[OperatorModel, ...]:
        """The operator models of the kit, where the checks ran under them."""
        validate, emulator = self.story.validate, self.plan.emulator
        device = DEVICES.get(validate.device) if validate else None
        return emulator.model if emulator and device and device.OPERATOR_MODELS else ()

    @property
    def reconstructed(self) -> tuple[PickedCommit, ...]:
        return tuple(each for each in (self.story.pick.commits if self.story.pick else ()) if each.reconstructed)

    @property
    def cases(self) -> Rows:
        """The arms of each check and model beside each other; the worst first where there are too many."""
        place = {pair: index for index, pair in enumerate(dict.fromkeys((e.check, e.model) for e in self.story.cases))}
        cases = sorted(self.story.cases, key=lambda each: place[each.check, each.model])
        limit = _ROWS_SHORT if self.short else _ROWS_LONG
        if len(cases) > limit:
            cases.sort(key=lambda each: case_outcome(each) is Outcome.PASS)
        return Rows(shown=tuple(cases[:limit]), more=max(0, len(cases) - limit))

    @property
    def grid(self) -> tuple[tuple[str, str, tuple[Case | None, ...]], ...]:
        """Check, model, and its case on each arm."""
        by = {(each.check, each.model, each.arm): each for each in self.cases.shown}
        pairs = dict.fromkeys((each.check, each.model) for each in self.cases.shown)
        return tuple((*pair, tuple(by.get((*pair, arm)) for arm in Arm)) for pair in pairs)

    def intact(self, case: Case) -> bool:
        """Whether what the case says may be shown."""
        return not case.evidence or self.story.intact(case.evidence)

    @property
    def remarks(self) -> Rows:
        cases = [each for each in self.cases.shown if self.intact(each)]
        fixups = tuple(each.id for each in (self.story.fixup.fixups if self.story.fixup else ()))
        return self._rows(observed(cases, fixups=fixups))

    @property
    def declared(self) -> Rows:
        """What the plan says of each limit that was met."""
        cases = self.story.cases
        expected = {(check.id, model): each for check in self.plan.check for model, each in check.expect.items()}
        limits = [each for each in cases if each.role == "limit" and each.arm is Arm.FIXED]
        return self._rows(
            Remark(text=f"{each.check} under {each.model}: {found.meaning}", evidence=each.evidence)
            for each in limits
            if (found := expected.get((each.check, each.model))) and found.meaning
        )

    @property
    def findings(self) -> Rows:
        """Warnings and worse of the stages that have no lines of their own here; notes too where there is room."""
        landing = self.story.registry.path_to(FixupRecord)
        found = [
            (each, stage.stage, stage.evidence)
            for stage in self.run.stages
            if stage.evidence and not (self.short and stage.stage in landing)
            for each in stage.findings
        ]
        found += [
            (each, self._stage_of(VerifyRecord), claim.evidence)
            for claim in self.story.claims
            for each in claim.findings
        ]
        once: dict[Finding, tuple[Finding, str, tuple[Evidence, ...]]] = {each[0]: each for each in reversed(found)}
        kept = [each for each in reversed(once.values()) if not self.short or each[0].severity != "note"]
        return self._rows(sorted(kept, key=lambda each: _WEIGHT[each[0].severity]), _FINDINGS_LONG)

    @property
    def missing(self) -> Rows:
        """What this run does not establish: stages that did not pass or did not run, evidence that does not hold."""
        ended = [each for each in self.run.stages if each.outcome is not Outcome.PASS]
        said = [f"{each.stage}: {each.outcome}: {each.sentence}" for each in ended]
        ran = {each.stage for each in self.run.stages}
        said += [f"{name}: not run" for name in self.story.registry.path_to(ValidateRecord) if name not in ran]
        said += contradictions(self.story).values()
        gone = {path for path in self.numbers if path in self.story.altered}
        said += [f"evidence missing or altered, and not counted: {path}" for path in sorted(gone)]
        return self._rows(said)

    @property
    def environment(self) -> Rows:
        """Name, what was found, what the release was validated with, and where it was found."""
        validated = self.plan.baseline.versions
        found: dict[str, tuple[str, str]] = {}
        if install := self.story.install:
            found[install.distribution] = (install.version, self._stage_of(InstallRecord))
        for name, value in sorted((self.story.validate.device_facts if self.story.validate else {}).items()):
            found.setdefault(name, (value, self._stage_of(ValidateRecord)))
        return self._rows((name, value, validated.get(name, ""), stage) for name, (value, stage) in found.items())

    @property
    def evidence(self) -> Rows:
        """Number, evidence, and whether it holds; for a comment only what its lines refer to."""
        numbered = enumerate(self.run.evidence, 1)
        return self._rows(
            (number, each, each.path not in self.story.altered)
            for number, each in numbered
            if not self.short or number in self.used
        )

    @property
    def chain(self) -> tuple[Link, ...]:
        return chain(self.story)

    @property
    def sides(self) -> tuple[Side, ...]:
        """The patch beside upstream's; where upstream's was not kept, what landed alone."""
        fixups = [each.landed or "" for each in (self.story.fixup.fixups if self.story.fixup else ())]
        dropped = [path for each in (self.story.pick.commits if self.story.pick else ()) for path in each.dropped]
        return sides(self.story.upstream, self.story.patch, fixups=fixups, dropped=dropped)

    @property
    def timeline(self) -> Timeline | None:
        return Timeline.of(self.story.triage) if self.story.triage else None

    @property
    def load(self) -> tuple[Chart, ...]:
        return charts(self.story.serve) if self.story.serve else ()

    @property
    def served(self) -> bool:
        """Whether the rounds under load count for a device."""
        return self.run.level == Level.SERVED

    @property
    def drift(self) -> tuple[Drift, ...]:
        """What was found beside what the release was validated with, and the stage that found it."""
        return drift(self.story, self.plan.baseline.versions, self.environment.shown)

    @property
    def doctor_place(self) -> str:
        return doctor_place(self.story)

    @property
    def hypotheses(self) -> tuple[Suspicion, ...]:
        return hypotheses(self.story)

    @property
    def changed_tests(self) -> Rows:
        """The target's own tests that are not the same with and without the backport, or not to be relied on."""
        return self._rows(self.story.upstream_tests.changed if self.story.upstream_tests else ())

    @property
    def tests_not_run(self) -> Rows:
        return self._rows(self.story.upstream_tests.not_run if self.story.upstream_tests else ())

    @property
    def commands(self) -> str:
        """How to run it again, with words in place of this machine's paths."""
        settings, upstream = self.run.settings, self.plan.upstream
        pull = f", with refs/pull/{upstream.pull}/head" if upstream.pull else ""
        tip = self.story.pick.base if self.story.pick else "the tip that was used"
        target = self.plan.target.requirement if self.plan.target else self.plan.install.distribution
        kit, branch, device = (shlex.quote(one_line(each)) for each in (self.run.kit, settings.branch, settings.device))
        target = one_line(target)
        lines = [
            f"# REPO: {upstream.repo}{pull}, {branch} at {tip}",
            f"# PYTHON: an interpreter with {target}",
            f'backproof run patches/{kit} --repo "$REPO" --branch {branch} --python "$PYTHON" --device {device} --out RUN',
            """cd RUN && jq -r '.evidence[] | "\\(.sha256)  \\(.path)"' run.json | sha256sum --check --quiet""",
        ]
        return "\n".join(lines)

    @property
    def upstream_evidence(self) -> tuple[Evidence, ...]:
        return self.story.file(patch_paths(self.story.registry)[1])

    @property
    def inventory_evidence(self) -> tuple[Evidence, ...]:
        return self.story.file(record_paths(self.story.registry)[DeviceInventory])

    def _stage_of(self, record: type[Record]) -> str:
        return self.story.registry.name_of(record)

    def _rows(self, rows: Any, long: int = _ROWS_LONG) -> Rows:
        found: Sequence[Any] = tuple(rows)
        limit = _ROWS_SHORT if self.short else long
        return Rows(shown=tuple(found[:limit]), more=max(0, len(found) - limit))
