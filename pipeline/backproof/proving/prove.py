"""Proves one backport: its environment, its two trees, four runs, one record."""

from __future__ import annotations

import re
import shutil
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from backproof.core.model import Arm
from backproof.core.plural import format_count
from backproof.devices.lent_packages import link_packages
from backproof.proving.judge import Runs, judge_base, judge_release, judge_runs, list_unreached
from backproof.proving.release_tests import choose_files, list_functions
from backproof.proving.rounds import Bench, run_rounds
from backproof.proving.touched import list_touched
from backproof.proving.trees import lay_out
from backproof.records.proving import ProofRecord, ProvedArm, ReleaseTests

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from backproof.adapters.git import Store
    from backproof.core.model import Evidence
    from backproof.proving.lanes import Lanes
    from backproof.proving.subject import LaidOut
    from backproof.proving.trees import ArmTree
    from backproof.recipes.cache import Environment
    from backproof.rundir.ledger import Ledger

FILE = "proof.json"
RECIPE: Final = "recipe.toml"
_MISSING: Final = re.compile(r"No module named '([\w.]+)'")
_BUDGET: Final = 60.0
"""Seconds of one run of the release's own tests: what ran by then counts."""


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
    guards: bool = False
    """Run the release's own tests that reach the change also where the fix's tests prove it."""


def prove_subject(proving: Proving) -> ProofRecord:
    """Run the fix's tests on both arms and write the record; also where there is nothing to run."""
    begun = time.monotonic()
    files, elsewhere = _sort_files(proving)
    facts = _describe_subject(proving) | {"files": files, "not_run": elsewhere}
    reason = proving.subject.stopped or _explain_unprovable(proving, files, elsewhere)
    if reason:
        facts |= {"outcome": "not proved", "reason": reason}
    if proving.subject.stopped:
        facts |= _run_arms(proving, files) if files else {}
    elif proving.subject.code:
        facts |= _run_arms(proving, () if reason else files)
    facts["seconds"] = round(time.monotonic() - begun, 1)
    record = ProofRecord.model_validate(facts | {"next_step": _find_next_step(facts, proving.environment)})
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
    """Run the fix's tests; and where they prove nothing, or it was asked for, the release's own."""
    folder = proving.ledger.stage_folder("arms")
    trees = {
        arm: lay_out(proving.store, proving.subject, proving.environment, folder / arm, fixed=arm is Arm.FIXED)
        for arm in (Arm.BASE, *([] if proving.subject.stopped else [Arm.FIXED]))
    }
    try:
        return _ask_base(proving, trees, files) if proving.subject.stopped else _run_trees(proving, trees, files)
    finally:
        # They are in the object store, too, and large.
        shutil.rmtree(folder, ignore_errors=True)


def _ask_base(proving: Proving, trees: Mapping[Arm, ArmTree], files: tuple[str, ...]) -> dict[str, Any]:
    """Run the fix's tests on the release as it is: is it affected?"""
    rounds = run_rounds(_make_bench(proving, trees, files))
    runs = Runs(runs=rounds, trees=trees, touched=list_touched(proving.store, proving.subject))
    arms = (_describe_arm(proving, Arm.BASE, trees[Arm.BASE], [runs]),)
    return {"affected": judge_base(runs), "arms": arms, "evidence": _collect_evidence(proving)}


def _run_trees(proving: Proving, trees: Mapping[Arm, ArmTree], files: tuple[str, ...]) -> dict[str, Any]:
    all_runs: list[Runs] = []
    facts: dict[str, Any] = {}
    if files:
        touched = list_touched(proving.store, proving.subject)
        all_runs.append(Runs(runs=run_rounds(_make_bench(proving, trees, files)), trees=trees, touched=touched))
        facts |= judge_runs(all_runs[0])
    functions = list_functions(proving.store.objects, proving.subject, trees[Arm.FIXED].list_lines())
    if proving.guards or facts.get("outcome", "not proved") == "not proved":
        facts |= _run_release_tests(proving, trees, functions, all_runs)
    if all_runs:
        facts["arms"] = tuple(_describe_arm(proving, arm, tree, all_runs) for arm, tree in trees.items())
        ran = any(run.tests for runs in all_runs for run in runs.runs[Arm.FIXED])
        facts["unreached"] = list_unreached(trees[Arm.FIXED], all_runs) if ran else ()
    return facts | {"functions": functions, "evidence": _collect_evidence(proving)}


def _make_bench(
    proving: Proving, trees: Mapping[Arm, ArmTree], files: tuple[str, ...], *, budget: float | None = None
) -> Bench:
    return Bench(
        environment=proving.environment,
        trees=trees,
        files=files,
        work=proving.ledger.stage_folder("tests"),
        carried=link_packages(proving.ledger.folder),
        say=proving.say,
        budget=budget,
    )


def _run_release_tests(
    proving: Proving, trees: Mapping[Arm, ArmTree], functions: Sequence[str], all_runs: list[Runs]
) -> dict[str, Any]:
    """Run the release's tests that name the change, and add their runs; what gets worse there is a FAIL, too."""
    subject, objects = proving.subject, proving.store.objects
    files = choose_files(objects, subject, proving.lanes, functions, but=subject.tests)
    if not files:
        return {"release_tests": ReleaseTests()}
    proving.say(f"    {format_count(len(files), 'file')} of the release's own tests")
    bench = _make_bench(proving, trees, files, budget=_BUDGET)
    rounds = run_rounds(bench, "release-", trace_all=True)
    all_runs.append(Runs(runs=rounds, trees=trees, touched=frozenset()))
    shown = judge_release(all_runs[-1], files)
    if not shown.worse or shown.strange:
        return {"release_tests": shown}
    worse = shown.worse[0]
    reason = f"a test of the release got worse: {worse.test}: {worse.line}"
    return {"release_tests": shown, "outcome": "fail", "reason": reason}


def _describe_arm(proving: Proving, arm: Arm, tree: ArmTree, all_runs: Sequence[Runs]) -> ProvedArm:
    root = f"{tree.folder}/"
    runs = [run for both in all_runs for run in both.runs[arm]]
    loaded = {file.removeprefix(root): sha for run in runs for file, sha in run.loaded.items()}
    oid = proving.subject.fixed if arm is Arm.FIXED else proving.subject.base
    return ProvedArm.model_validate({"arm": arm.value, "tree": oid, "loaded": loaded})


def _collect_evidence(proving: Proving) -> tuple[Evidence, ...]:
    """Register what each process wrote as it went."""
    files = sorted(proving.ledger.stage_folder("tests").glob("*.events.jsonl"))
    claim = "what each test of the fix did in run {}"
    return tuple(
        proving.ledger.register_evidence(file, claim=claim.format(file.name.partition(".")[0]), command="pytest")
        for file in files
    )


def _find_next_step(facts: Mapping[str, Any], environment: Environment) -> str:
    if facts["outcome"] == "proved":
        return ""
    if facts["outcome"] == "fail":
        return "look at the tests that got worse: the backport changes what they hold"
    if facts["outcome"] == "error":
        return _advise_environment(facts["reason"], environment)
    calls = ", ".join(facts.get("functions", ())[:3])
    test = f"write a test that calls {calls}, red without the fix; or " if calls else ""
    return f"{test}a kit can say what these tests do not: `backproof new` writes one (docs/prove.md)"


def _advise_environment(reason: str, environment: Environment) -> str:
    """Say what to change where no test of the fix could say anything: the environment is the likely cause."""
    missing = _MISSING.search(reason)
    line = f"add the package that has {missing[1]} to its requirements" if missing else "correct it"
    name = f"targets/{environment.recipe.project}.toml"
    return f"look at the environment: {RECIPE} here is what it was made from; copy it to {name}, {line}, and run again"
