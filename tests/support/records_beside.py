"""Records of experiments, of the target's own tests and of the doctor, and run folders that have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backproof.core.model import Arm, Outcome
from backproof.records.experiment import ExperimentRecord, ExperimentsRecord
from backproof.records.host import Deviation, DoctorRecord, Reading
from backproof.records.upstream_tests import ArmTests, Compared, OwnTest, UpstreamRecord
from stories import Folder, proved

if TYPE_CHECKING:
    from pathlib import Path


def an_experiment(**changes: Any) -> ExperimentRecord:
    """A switch of four rounds a side, unless said otherwise."""
    sides = [{"label": "without", "arm": "base", "failed": 0, "ran": 4, "by_load": {"1": (0, 4), "8": (0, 4)}}]
    sides.append({"label": "with", "arm": "base", "failed": 4, "ran": 4, "not_counted": 1, "by_load": {"8": (4, 4)}})
    runs = [
        {"side": side, "number": n, "observed": observed, "failed_at": at, "why": why}
        for n in range(1, 5)
        for side, observed, at, why in (("without", "pass", None, ""), ("with", "fault:mte", 8, "core 3 read outside"))
    ]
    facts = {"id": "mtp", "question": "Does speculation decide?", "variable": "--speculative-config", "kind": "switch"}
    facts |= {"difference": "--speculative-config: (absent) / {5}", "sentence": "the setting decides: p = 0.0286"}
    given = {"p": 0.0286, "outcome": "pass", "sides": sides, "runs": runs, "host": "h", "boot_id": "b"}
    return ExperimentRecord.model_validate({**facts, **given, "stand_in": True, **changes})


def with_experiments(folder: Folder, *found: ExperimentRecord) -> None:
    """As the command leaves them: each with a round's log of its own."""
    held = [
        each.model_copy(update={"evidence": (folder.proof(f"experiment/{each.id}/round.json", "{}", "a round"),)})
        for each in found
    ]
    whole = folder.record("experiment", ExperimentsRecord(experiments=tuple(held)))
    outcome = Outcome.PASS if all(each.outcome is Outcome.PASS for each in found) else Outcome.INCONCLUSIVE
    folder.stage("experiment", outcome, evidence=(whole, *(proof for each in held for proof in each.evidence)))


def own_tests(**changes: Any) -> UpstreamRecord:
    base = (OwnTest(test="t.py::a", outcome="failed", bad=1), OwnTest(test="t.py::b", outcome="passed"))
    lost = OwnTest(test="t.py::c", outcome="not-run", runs=0, message="the process ended with code 9")
    fixed = (OwnTest(test="t.py::a", outcome="passed"), OwnTest(test="t.py::b", outcome="passed"), lost)
    said = (
        Compared(test="t.py::a", verdict="mended", sentence="t.py::a: fails without the backport, passes with it"),
        Compared(test="t.py::b", verdict="fine", sentence="t.py::b: fine"),
        Compared(test="t.py::c", verdict="unknown", sentence="t.py::c: did not run: the process ended with code 9"),
    )
    arms = (ArmTests(arm=Arm.BASE, tests=base), ArmTests(arm=Arm.FIXED, tests=fixed))
    return UpstreamRecord.model_validate({"arms": arms, "compared": said, **changes})


def with_own_tests(folder: Folder, found: UpstreamRecord, outcome: Outcome = Outcome.PASS) -> None:
    logs = {
        each.arm: folder.proof(f"upstream-tests/{each.arm}/0.log", "x", f"tests on {each.arm}") for each in found.arms
    }
    arms = tuple(each.model_copy(update={"evidence": (logs[each.arm],)}) for each in found.arms)
    whole = folder.record("upstream-tests", found.model_copy(update={"arms": arms}))
    folder.stage("upstream-tests", outcome, evidence=(whole, *logs.values()))


def a_comparison(**changes: Any) -> DoctorRecord:
    rows = [
        ("version", "driver", "26.1.1", "26.0.RC1", "older", "read from /usr/local/Ascend/driver/version.info"),
        ("version", "firmware", "7.8", None, "not read", "could not read the file"),
        ("version", "torch", "2.10.0", "2.13.0", "newer", "read from python"),
        ("environment", "HCCL_BUFFSIZE", "400", "200", "different", ""),
    ]
    names = ("subject", "name", "expected", "found", "verdict", "note")
    deviations = tuple(Deviation.model_validate(dict(zip(names, row, strict=True))) for row in rows)
    facts = {"at": "2026-01-02T03:04:05+00:00", "host": "h", "boot_id": "b", "deviations": deviations}
    unread = (Reading(name="CANN", value=None, why="no toolkit in its usual places"),)
    return DoctorRecord.model_validate({**facts, "unread": unread, **changes})


def with_doctor(folder: Folder, found: DoctorRecord) -> None:
    folder.stage("doctor", sentence=found.sentence, evidence=(folder.record("doctor", found),))


def whole(path: Path) -> Folder:
    """A proved run with all that can stand beside it."""
    folder = proved(path)
    open_ = {"kind": "undecided", "outcome": "inconclusive", "sentence": "chance explains the difference"}
    undecided = an_experiment(id="graph", variable="--compilation-config", **open_)
    with_experiments(folder, an_experiment(), undecided)
    with_own_tests(folder, own_tests())
    with_doctor(folder, a_comparison())
    return folder
