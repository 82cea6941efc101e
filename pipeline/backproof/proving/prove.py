"""Proves one backport: its environment, its two trees, four runs, one record."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backproof.core.model import Arm
from backproof.core.redaction import redact
from backproof.devices.lent_packages import link_packages
from backproof.proving.judge import Runs, judge_runs
from backproof.proving.rounds import Bench, run_rounds
from backproof.proving.touched import list_touched
from backproof.proving.trees import lay_out
from backproof.records.proving import ProofRecord, ProvedArm

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from backproof.adapters.git import Store
    from backproof.core.model import Evidence
    from backproof.proving.lanes import Lanes
    from backproof.proving.rounds import ArmRun
    from backproof.proving.subject import LaidOut
    from backproof.proving.trees import ArmTree
    from backproof.recipes.cache import Environment
    from backproof.rundir.ledger import Ledger

FILE = "proof.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class Proving:
    """One backport and everything that its proof needs."""

    what: str
    store: Store
    subject: LaidOut
    lanes: Lanes
    environment: Environment
    ledger: Ledger
    say: Callable[[str], None]
    facts: Mapping[str, Any]


def prove_subject(proving: Proving) -> ProofRecord:
    """Run the fix's tests on both arms and write the record; also where there is nothing to run."""
    begun = time.monotonic()
    files, elsewhere = _sort_files(proving)
    facts = _describe_subject(proving) | {"files": files, "not_run": elsewhere}
    if reason := _explain_unprovable(proving, files, elsewhere):
        facts |= {"outcome": "not proved", "reason": reason}
    else:
        facts |= _run_arms(proving, files)
    facts["seconds"] = round(time.monotonic() - begun, 1)
    record = ProofRecord.model_validate(facts | {"next_step": _find_next_step(facts)})
    proving.ledger.write_record(FILE, record)
    return record


def _describe_subject(proving: Proving) -> dict[str, Any]:
    subject = proving.subject
    return {
        **proving.facts,
        "what": proving.what,
        "title": subject.title,
        "commits": subject.commits,
        "landed": subject.landed,
        "environment": proving.environment.key,
        "recipe": proving.environment.origin,
        "code": subject.code,
    }


def _sort_files(proving: Proving) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the files of tests to run, and those that cannot run here with the reason."""
    objects = proving.store.objects
    contents = {path: objects.read_file(proving.subject.base, path) or b"" for path in proving.subject.tests}
    files = [path for path, content in contents.items() if proving.lanes.has_tests(path, content)]
    elsewhere = {path: why for path in files if (why := proving.lanes.explain_elsewhere(path))}
    return tuple(path for path in files if path not in elsewhere), elsewhere


def _explain_unprovable(proving: Proving, files: Sequence[str], elsewhere: Mapping[str, str]) -> str:
    """Return why there is nothing to run; empty where there is."""
    subject = proving.subject
    if not subject.code:
        return f"the fix changes no code: {', '.join(subject.others[:5]) or 'only tests'}"
    compiled = proving.lanes.list_compiled(subject.code)
    if len(compiled) == len(subject.code):
        return f"the fix changes only what a build compiles: {', '.join(compiled[:5])}"
    if files:
        return ""
    if elsewhere:
        path, why = next(iter(elsewhere.items()))
        return f"the fix's tests cannot run here: {path}: {why}"
    return "the fix has no test"


def _run_arms(proving: Proving, files: tuple[str, ...]) -> dict[str, Any]:
    folder = proving.ledger.folder
    arms = {Arm.BASE: False, Arm.FIXED: True}
    trees = {
        arm: lay_out(proving.store, proving.subject, proving.environment, folder / "arms" / arm, fixed=fixed)
        for arm, fixed in arms.items()
    }
    work = proving.ledger.stage_folder("tests")
    bench = Bench(
        environment=proving.environment,
        trees=trees,
        files=files,
        work=work,
        carried=link_packages(folder),
        say=proving.say,
    )
    runs = run_rounds(bench)
    touched = list_touched(proving.store, proving.subject)
    judged = judge_runs(Runs(runs=runs, trees=trees, touched=touched))
    described = tuple(_describe_arm(proving, arm, trees[arm], runs[arm]) for arm in arms)
    return {**judged, "arms": described, "evidence": _collect_evidence(proving)}


def _describe_arm(proving: Proving, arm: Arm, tree: ArmTree, runs: Sequence[ArmRun]) -> ProvedArm:
    root = f"{tree.folder}/"
    loaded = {file.removeprefix(root): sha for run in runs for file, sha in run.loaded.items()}
    oid = proving.subject.fixed if arm is Arm.FIXED else proving.subject.base
    return ProvedArm.model_validate({"arm": arm.value, "tree": oid, "loaded": loaded})


def _collect_evidence(proving: Proving) -> tuple[Evidence, ...]:
    """Register what each process wrote as it went."""
    files = sorted(proving.ledger.stage_folder("tests").glob("*.events.jsonl"))
    claim = "what each test of the fix did in run {}"
    return tuple(
        proving.ledger.register_evidence(
            file, claim=claim.format(file.name.partition(".")[0]), command=redact("pytest")
        )
        for file in files
    )


def _find_next_step(facts: Mapping[str, Any]) -> str:
    if facts["outcome"] == "proved":
        return ""
    if facts["outcome"] == "fail":
        return "look at the tests that got worse: the backport changes what they hold"
    return "a kit can say what these tests do not: `backproof new` writes one (docs/prove.md)"
