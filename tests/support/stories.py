"""Run folders made by hand, for the verdict and the reports: real files with real hashes, no stage run."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from backproof.core.model import Arm, Evidence, Finding, Outcome, Record, StageRecord
from backproof.devices import DEVICES
from backproof.devices.check_result import CheckResult, Fault, Loaded, TestResult
from backproof.kit.plan import Plan
from backproof.records.proof import (
    Case,
    Claim,
    FileChange,
    FixupRecord,
    InstalledFile,
    InstallRecord,
    LandedFixup,
    OtherCommit,
    PickedCommit,
    PickRecord,
    Run,
    Settings,
    StageResult,
    Subject,
    Target,
    ValidateRecord,
    VerifyRecord,
)
from backproof.rundir.ledger import Ledger
from backproof.rundir.subject import digest_subject
from backproof.verdict.judge import Rounds, judge_check

INSTALLED = "site-packages/pkg/rows.py"
HASHES: dict[Arm, dict[str, str | None]] = {arm: {INSTALLED: digit * 64} for arm, digit in zip(Arm, "132", strict=True)}
BASE, PICKED, FIXED = "a" * 40, "b" * 40, "c" * 40
SOURCE = "d" * 40

PLAN = {
    "schema": 1,
    "id": "small",
    "title": "A small backport",
    "upstream": {"repo": "example/project", "pull": 7},
    "pick": {"commits": [SOURCE[:7]], "drop": ["/notes/"]},
    "fixup": [{"id": "zero-row", "file": "fixups/zero-row.toml", "reason": "A review asked for it."}],
    "branch": [{"name": "release/1"}],
    "install": {"distribution": "project"},
    "emulator": {
        "operators": "operators.py",
        "model": [
            {"id": each, "model": each, "meaning": f"{each} indices"} for each in ("raw", "raw-bare", "skip", "compute")
        ],
    },
    "check": [
        {
            "id": "rows",
            "file": "checks/test_rows.py",
            "claim": "rows are right",
            "expect": {
                "raw": {"base": "fault:out-of-range", "pick": "pass", "fixed": "pass"},
                "compute": {"base": "fail", "pick": "fail", "fixed": "pass"},
                "skip": {"base": "pass", "pick": "pass", "fixed": "pass", "role": "guard"},
                "raw-bare": {
                    "base": "fault:out-of-range",
                    "pick": "fail",
                    "fixed": "fail",
                    "role": "limit",
                    "meaning": "the output of a skipped row stays uninitialised",
                },
            },
        }
    ],
    "baseline": {"versions": {"torch": "2.10.0"}},
}


def write_toml(value: dict[str, Any], prefix: str = "") -> str:
    """Enough TOML for the plan of the stories."""
    plain = {name: each for name, each in value.items() if not _is_table(each)}
    lines = [f"{json.dumps(name)} = {json.dumps(each)}" for name, each in plain.items()]
    for name, each in value.items():
        key = f"{prefix}{json.dumps(name)}"
        if isinstance(each, dict):
            lines.append(f"[{key}]\n{write_toml(each, f'{key}.')}")
        elif _is_table(each):
            lines += [f"[[{key}]]\n{write_toml(item, f'{key}.')}" for item in each]
    return "\n".join(lines)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and isinstance(value[0], dict))


KIT = {
    **dict.fromkeys(("operators.py", "checks/test_rows.py", "fixups/zero-row.toml"), hashlib.sha256().hexdigest()),
    "plan.toml": hashlib.sha256(write_toml(PLAN).encode()).hexdigest(),
}
"""The content of the kit that a story is of, and that `kit_at` writes."""


def kit_at(folder: Path) -> Path:
    for name in KIT:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    (folder / "plan.toml").write_text(write_toml(PLAN))
    return folder


def plan(**changes: Any) -> Plan:
    return Plan.model_validate({**PLAN, **changes}, context=DEVICES)


def case(model: str, arm: Arm, observed: str, expected: str = "", **changes: Any) -> Case:
    """A case as expected unless said otherwise; its evidence is filled in by the folder."""
    verdict = changes.pop("verdict", "as-expected")
    facts: dict[str, Any] = {
        "check": "rows",
        "model": model,
        "arm": arm,
        "role": "proof",
        "expected": expected or observed,
        "observed": observed,
        "verdict": verdict,
        "sentence": f"rows under {model} on {arm}: {observed}, {verdict.replace('-', ' ')}",
        "steps": 36,
        "steps_failed": 0 if observed == "pass" else 24,
        "faults": {observed.removeprefix("fault:"): 24} if observed.startswith("fault:") else {},
        "observations": {"inactive_rows": {"zero" if observed == "pass" else "nan": 24}},
        "first": "" if observed == "pass" else f"step 2: row 5 of {model}",
        "seconds": 2.5,
    }
    return Case.model_validate({**facts, **changes})


def three(model: str, base: str, pick: str, fixed: str, **changes: Any) -> list[Case]:
    return [case(model, arm, observed, **changes) for arm, observed in zip(Arm, (base, pick, fixed), strict=True)]


def level_2_cases() -> list[Case]:
    fault = "fault:out-of-range"
    return [
        *three("raw", fault, "pass", "pass"),
        *three("raw-bare", fault, "fail", "fail", role="limit"),
        *three("skip", "pass", "pass", "pass", role="guard"),
        *three("compute", "fail", "fail", "pass"),
    ]


@dataclass
class Folder:
    """A run folder under construction: each stage that is added is there with its record and its evidence."""

    path: Path
    device: str = "emulator"
    kit: dict[str, str] = field(default_factory=lambda: dict(KIT))
    stages: list[StageResult] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.path)

    @property
    def run(self) -> Run:
        named = {"kit": "small", "title": "A small backport", "branch": "release/1", **self.facts}
        settings = Settings(
            kit=f"patches/{named['kit']}",
            repo="REPO",
            branch=named["branch"],
            python="/opt/target/python",
            device=self.device,
        )
        return Run(
            tool="backproof 0.1.0",
            id="20260102-small",
            kit=named["kit"],
            title=named["title"],
            settings=settings,
            subject=Subject(kit=self.kit, tip=BASE, target=self.target, published=self.facts.get("published", False)),
            started="2026-01-02T03:04:05+00:00",
            stages=tuple(self.stages),
        )

    @property
    def target(self) -> Target:
        named = {"distribution": "project", "version": "1.0rc2"} | self.facts
        return Target(distribution=named["distribution"], version=named["version"], record="7" * 64)

    def save(self) -> Ledger:
        self.ledger.save_run(self.run)
        return self.ledger

    def stage(self, name: str, outcome: Outcome = Outcome.PASS, sentence: str = "", **more: Any) -> StageResult:
        result = StageResult(
            stage=name, outcome=outcome, sentence=sentence or f"{name} did its work", seconds=1.5, **more
        )
        self.stages.append(result)
        return result

    def proof(self, relative: str, text: str, claim: str, command: str = "git log") -> Evidence:
        return self.ledger.register_evidence(self.ledger.write_text(relative, text), claim=claim, command=command)

    def record(self, name: str, record: Record, command: str = "backproof") -> Evidence:
        if isinstance(record, StageRecord):
            record = record.model_copy(update={"subject": digest_subject(self.run)})
        return self.ledger.register_evidence(
            self.ledger.write_record(f"{name}/{name}.json", record), claim=f"what {name} did", command=command
        )

    def pick(self, outcome: Outcome = Outcome.PASS, *, commit: dict[str, Any] | None = None, **changes: Any) -> None:
        facts: dict[str, Any] = {
            "wanted": SOURCE[:7],
            "source": SOURCE,
            "landed": PICKED,
            "subject": "Keep the row index in range",
            "author": "Ann Author <ann@example.org>",
            "outcome": "clean-after-drops",
            "dropped": ("notes/7.yaml",),
        }
        record = PickRecord.model_validate(
            {
                "branch": self.facts.get("branch", "release/1"),
                "base": BASE,
                "base_tree": BASE.replace("a", "1"),
                "head": PICKED,
                "head_tree": PICKED.replace("b", "2"),
                "commits": (PickedCommit.model_validate({**facts, **(commit or {})}),),
                "changes": (FileChange(path="pkg/rows.py", before=BASE, after=PICKED),),
                "others": (
                    OtherCommit(
                        commit="e" * 40,
                        subject="Add a note",
                        why="adds notes/8.yaml; not needed: picking all 3 commits gives the same tree",
                        computed=True,
                    ),
                ),
                **changes,
            }
        )
        self.stage("pick", outcome, evidence=(self.record("pick", record, "git cherry-pick -x"),))

    def fixup(
        self, patch: str = "--- a/pkg/rows.py\n+++ b/pkg/rows.py\n@@ -1 +1 @@\n-x = -1\n+x = n\n", **changes: Any
    ) -> None:
        landed = LandedFixup(
            id="zero-row", reason="A review asked for it.", outcome="applied", landed=FIXED, files=("pkg/rows.py",)
        )
        record = FixupRecord(
            head=FIXED,
            head_tree=FIXED.replace("c", "3"),
            fixups=changes.get("fixups", (landed,)),
            changes=(FileChange(path="pkg/rows.py", before=BASE, after=FIXED),),
        )
        evidence = (
            self.record("fixup", record),
            self.proof("fixup/backport.mbox", patch, "the whole backport as landed", "git format-patch"),
        )
        self.stage("fixup", evidence=evidence, reused=True)

    def install(self) -> None:
        file = InstalledFile(path="pkg/rows.py", installed="site-packages/pkg/rows.py", before="1" * 64, after="2" * 64)
        record = InstallRecord(
            mode="overlay",
            arm=Arm.FIXED,
            distribution=self.facts.get("distribution", "project"),
            version=self.facts.get("version", "1.0rc2"),
            location="site-packages",
            editable=False,
            files=(file,),
            outside=("tests/test_rows.py",),
            differs=self.facts.get("differs", ()),
        )
        self.stage("install", evidence=(self.record("install", record),))

    def verify(self, outcome: Outcome = Outcome.PASS, **changes: Any) -> None:
        claims = tuple(
            Claim(
                name=name,
                sentence=f"{name}: 1 of 1 files",
                outcome=changes.get(name, Outcome.PASS),
                findings=changes.get("findings", ()) if name == "loaded" else (),
                evidence=(self.proof(f"verify/{name}.json", f'"{name}"', f"shows that it is {name}", "probe"),),
            )
            for name in ("loaded", "complete", "reached")
        )
        record = VerifyRecord(arm=Arm.FIXED, claims=claims)
        self.stage("verify", outcome, evidence=(self.record("verify", record),))

    def validate(self, cases: list[Case], outcome: Outcome = Outcome.PASS, **changes: Any) -> None:
        """Each case gets the raw results that it would have come from, and is then as these are judged."""
        told: dict[tuple[str, str], list[Rounds]] = {}
        for each in sorted(cases, key=lambda case: tuple(Arm).index(case.arm)):
            told.setdefault((each.check, each.model), []).append(self._leave_rounds(each, few=len(cases) > 50))
        judged = {
            (case.check, case.model, case.arm): case for rounds in told.values() for case in judge_check(rounds, HASHES)
        }
        facts = {"python": "3.11.7", "torch": "2.13.0", "triton": "3.6.0"}
        record = ValidateRecord(
            device=self.device,
            device_facts={**facts, **changes.pop("facts", {})},
            cases=tuple(judged[each.check, each.model, each.arm] for each in cases),
            hashes=HASHES,
            limits=("streams and asynchronous errors", "timing"),
        )
        self.stage("validate", outcome, evidence=(self.record("validate", record),), **changes)

    def _leave_rounds(self, told: Case, *, few: bool) -> Rounds:
        numbers = (1, 2) if told.role == "proof" and told.arm is not Arm.PICK else (1,)
        result = raw_result(told, steps=1 if few else told.steps)
        evidence = []
        for number in numbers:
            turn = told.arm.value if number == 1 else f"{told.arm}.{number}"
            path = self.path / "validate" / turn / f"{told.check}.{told.model}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(result.model_dump_json(by_alias=True))
            claim = f"{told.arm} under {told.model}"
            evidence.append(self.ledger.register_evidence(path, claim=claim, command="python run_check.py"))
        return Rounds(
            check=told.check,
            model=told.model,
            arm=told.arm,
            role=told.role,
            wanted=told.expected,
            results=(result,) * len(numbers),
            evidence=tuple(evidence),
            needed=2,
        )


def raw_result(told: Case, steps: int) -> CheckResult:
    """What a check left that showed this: its first steps are red; one that fails shows it where base is green."""
    loaded = Loaded(
        module="pkg.rows",
        file=INSTALLED,
        sha256=str(HASHES[told.arm][INSTALLED]),
        source_sha256=HASHES[told.arm][INSTALLED],
    )
    if told.observed == "error":
        return CheckResult(schema=2, nonce="", error={"what": told.first or "no module"}, loaded=(loaded,))
    count = 0 if told.observed == "pass" else max(1, steps * 2 // 3)
    red = (
        range(steps - max(1, count // 2), steps)
        if told.verdict == "failed" and told.arm is not Arm.BASE
        else range(count)
    )
    tests = tuple(
        _raw_test(told, number, is_red=number in red, seconds=told.seconds / steps) for number in range(steps)
    )
    return CheckResult(schema=2, nonce="", tests=tests, loaded=(loaded,))


def _list_seen(told: Case) -> dict[str, list[Any]]:
    """What each step saw, in the order of the steps."""
    counted = {name: counts if isinstance(counts, dict) else {counts: 1} for name, counts in told.observations.items()}
    return {name: [value for value, count in counts.items() for _ in range(count)] for name, counts in counted.items()}


def _raw_test(told: Case, number: int, *, is_red: bool, seconds: float) -> TestResult:
    kind = told.observed.removeprefix("fault:")
    text = told.first.removeprefix("step 2: ") or f"row {number} of {told.model}"
    fault = Fault(kind=kind, task=1, engine="operator", name="update", text=text)
    return TestResult(
        nodeid=f"step {number}",
        outcome="failed" if is_red else "passed",
        seconds=seconds,
        message=text if is_red else "",
        faults=(fault,) if is_red and kind != told.observed else (),
        observations={name: seen[number] for name, seen in _list_seen(told).items() if number < len(seen)},
    )


def proved(
    path: Path,
    cases: list[Case] | None = None,
    outcome: Outcome = Outcome.PASS,
    *,
    device: str = "emulator",
    kit: dict[str, str] | None = None,
    **facts: Any,
) -> Folder:
    """A run with all stages; a level 2 pass unless other cases are given."""
    folder = Folder(path, device, kit or dict(KIT), facts=facts)
    folder.pick()
    folder.fixup()
    folder.install()
    folder.verify()
    folder.validate(level_2_cases() if cases is None else cases, outcome)
    return folder


WARNING = Finding(severity="warning", text="an .so is older than its source", where="pkg/_c.so")
