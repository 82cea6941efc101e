"""Runs of every outcome, and their comments."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.core.model import Arm, Finding, Outcome
from backproof.records.picks import ConflictKind, ConflictRecord
from backproof.records.proof import DeviceInventory
from backproof.stages import REGISTRY
from backproof.verdict import run_verdict
from stories import WARNING, Folder, case, level_2_cases, proved, three

if TYPE_CHECKING:
    from backproof.rundir import loaded_run

FAULT = "fault:out-of-range"


def load_judged(folder: Folder) -> loaded_run.LoadedRun:
    found = run_verdict.read_evidence(folder.ledger, folder.run, REGISTRY)
    return replace(found, run=run_verdict.judge_run(found))


def stopped(path: Path) -> Folder:
    folder = Folder(path)
    conflict = ConflictRecord(path="pkg/rows.py", kind=ConflictKind.CONTENT)
    folder.pick(Outcome.PERSON, commit={"outcome": "conflict", "landed": None}, conflicts=(conflict,), others=())
    folder.stage("fixup", Outcome.ABORTED, "not run: it needs pick, which ended with person-needed")
    return folder


def no_device(path: Path) -> Folder:
    folder = Folder(path)
    folder.pick()
    folder.fixup()
    folder.install()
    folder.verify(findings=(WARNING,))
    error = folder.proof("validate/error.txt", "no device", "there is no device")
    finding = Finding(severity="warning", text="there is no device: none answered")
    folder.stage("validate", Outcome.ERROR, "there is no device", evidence=(error,), findings=(finding,))
    return folder


def failed(path: Path) -> Folder:
    red = case("raw", Arm.FIXED, "fail", "pass", verdict="failed")
    return proved(path, [*level_2_cases()[:2], red, *level_2_cases()[3:]], Outcome.FAIL)


def undecided(path: Path) -> Folder:
    green = case("raw", Arm.BASE, "pass", FAULT, verdict="not-discriminating")
    return proved(path, [green, *three("raw", FAULT, "pass", "pass")[1:]], Outcome.INCONCLUSIVE)


ALL = [proved, stopped, no_device, failed, undecided, Folder]


def on_device(path: Path) -> Folder:
    folder = proved(path, device="ascend")
    del folder.stages[-1]
    folder.validate(level_2_cases(), facts={"host": "h1", "boot_id": "b1"})
    inventory = INVENTORY.model_copy(update={"device": "ascend", "versions": {"firmware": "7.1"}})
    evidence = folder.ledger.register_evidence(
        folder.ledger.write_record("validate/inventory.json", inventory), claim="the device", command="inventory"
    )
    folder.stages[-1] = folder.stages[-1].model_copy(update={"evidence": (*folder.stages[-1].evidence, evidence)})
    return folder


def hostile_folder(path: Path, text: str) -> Folder:
    """A level 2 run in which every free text is hostile."""
    safe = text.encode("utf-8", "replace").decode()
    finding = Finding(severity="warning", text=safe, where=safe)
    folder = Folder(path)
    folder.pick(
        commit={"subject": safe, "author": safe, "dropped": (safe,)},
        conflicts=(ConflictRecord(path=safe, kind=ConflictKind.CONTENT),),
    )
    folder.fixup()
    folder.install()
    folder.verify(findings=(finding,))
    cases = [
        each.model_copy(update={"sentence": safe, "first": safe, "observations": {safe: safe}, "faults": {safe: 2}})
        for each in level_2_cases()
    ]
    folder.validate(cases, facts={safe: safe}, findings=(finding,))
    folder.stage("triage", Outcome.INCONCLUSIVE, safe, evidence=(folder.proof("triage/x.txt", "x", safe, safe),))
    return folder


INVENTORY = DeviceInventory(device="ascend", host="h1", boot_id="b1", driver="26.1", runtime="9.2")
