"""From four runs to one record: which tests prove the fix, which guard it, which speak against it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backproof.core.model import Arm
from backproof.core.plural import format_count
from backproof.proving.classify import classify_red
from backproof.proving.touched import strip_parameters
from backproof.records.proving import Cause, NotedTest, ReachedLines, RedTest, ReleaseTests
from backproof.verdict.arm_tests import compare_arms, sum_runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from backproof.proving.rounds import ArmRun
    from backproof.proving.trees import ArmTree
    from backproof.records.arm_tests import ArmTest
    from backproof.records.proving import Affected, ProofOutcome, RedClass
    from backproof.verdict.arm_tests import Standing

_BEST_FIRST: tuple[RedClass, ...] = ("behaviour", "symbol", "import")


@dataclass(frozen=True, kw_only=True, slots=True)
class Runs:
    """The four runs with the trees that they ran on; `touched` are the tests that the fix itself changes."""

    runs: Mapping[Arm, Sequence[ArmRun]]
    trees: Mapping[Arm, ArmTree]
    touched: frozenset[str]


def judge_runs(runs: Runs) -> dict[str, Any]:
    """Return the fields of the record that the runs decide, the outcome with its reason among them."""
    base, fixed = ({test.test: test for test in _sum_arm(runs.runs[arm])} for arm in (Arm.BASE, Arm.FIXED))
    standings = dict(compare_arms(base.values(), fixed.values()))
    changed = [red for name in standings if (red := _read_red(runs, base.get(name), fixed.get(name)))]
    mended = {red.test for red in changed}
    rest = {name: standing for name, standing in standings.items() if name not in mended}
    worse = [_read_worse(runs, fixed[name]) for name in _list_of(rest, "worse")]
    facts: dict[str, Any] = {
        "changed": tuple(changed),
        "causes": _fold_causes(changed),
        "proofs": tuple(red.test for red in changed if red.counts),
        "class": next((name for name in _BEST_FIRST if any(red.red == name for red in changed)), None),
        "guards": tuple(
            name for name, standing in rest.items() if _is_guard(standing, base.get(name), fixed.get(name))
        ),
        "worse": tuple(red for red in worse if red.counts),
        "skipped": tuple(name for name in rest if fixed.get(name) and fixed[name].ending == "skipped"),
        "lines": _count_lines(runs, (red.reached for red in changed)),
    }
    for key, standing in (("still_red", "still-red"), ("flaky", "flaky"), ("errors", "error")):
        facts[key] = tuple(_note_test(name, base, fixed) for name in _list_of(rest, standing))
    facts["errors"] += tuple(
        NotedTest(test=red.test, line=f"red with the fix, of which it executes nothing: {red.line}")
        for red in worse
        if not red.counts
    )
    outcome, reason = _decide(runs, facts)
    affected = _tell_affected(changed, facts["guards"], runs.touched)
    return facts | {"outcome": outcome, "reason": reason, "affected": affected}


def judge_base(runs: Runs) -> Affected:
    """Say whether the release as it is has the fault, where there is no arm with the fix to compare it with."""
    tests = {test.test: test for test in _sum_arm(runs.runs[Arm.BASE]) if strip_parameters(test.test) in runs.touched}
    if any(test.is_red and _classify_base(runs, test)[0] == "behaviour" for test in tests.values()):
        return "yes"
    return "no" if tests and all(test.ending == "passed" for test in tests.values()) else "not known"


def _tell_affected(changed: Sequence[RedTest], guards: Iterable[str], touched: frozenset[str]) -> Affected:
    """Say whether base has the fault: a test of the fix is red there by behaviour, or all that ran of them are green."""
    if any(red.red == "behaviour" and red.touched for red in changed):
        return "yes"
    return "no" if not changed and any(strip_parameters(name) in touched for name in guards) else "not known"


def judge_release(runs: Runs, files: tuple[str, ...]) -> ReleaseTests:
    """Say what the release's own tests show: which reach the change, and whether any got worse."""
    base, fixed = ({test.test: test for test in _sum_arm(runs.runs[arm])} for arm in (Arm.BASE, Arm.FIXED))
    standings = dict(compare_arms(base.values(), fixed.values()))
    green = [name for name, standing in standings.items() if _is_guard(standing, base.get(name), fixed.get(name))]
    reached = {name: places for name in green if (places := _list_reached(runs, name))}
    return ReleaseTests(
        files=files,
        tests=len(green),
        reach=tuple(reached),
        worse=tuple(red for name in _list_of(standings, "worse") if (red := _read_worse(runs, fixed[name])).counts),
        lines=_count_lines(runs, reached.values()),
        strange=_explain_strange(runs),
        cut=any(run.lost for arm in runs.runs.values() for run in arm),
    )


def list_unreached(tree: ArmTree, all_runs: Iterable[Runs]) -> tuple[str, ...]:
    """Return the changed lines in functions that no test executed on fixed."""
    root = f"{tree.folder}/"
    reached = {
        (file, line)
        for runs in all_runs
        for run in runs.runs[Arm.FIXED]
        for files in run.reached.values()
        for file, lines in files.items()
        for line in lines
    }
    inner = (
        (file, line) for file, lines in tree.lines.items() for line in lines if line not in tree.at_import.get(file, ())
    )
    return tuple(f"{file.removeprefix(root)}:{line}" for file, line in inner if (file, line) not in reached)


def _sum_arm(runs: Sequence[ArmRun]) -> tuple[ArmTest, ...]:
    return sum_runs([tuple(run.tests.values()) for run in runs])


def _list_of(standings: Mapping[str, Standing], wanted: str) -> list[str]:
    return [name for name, standing in standings.items() if standing == wanted]


def _is_guard(standing: Standing, base: ArmTest | None, fixed: ArmTest | None) -> bool:
    return standing == "fine" and bool(base and fixed and base.ending == fixed.ending == "passed")


def _note_test(name: str, base: Mapping[str, ArmTest], fixed: Mapping[str, ArmTest]) -> NotedTest:
    arms = (("base", base.get(name)), ("fixed", fixed.get(name)))
    return NotedTest(test=name, line="; ".join(f"{arm}: {test.line or test.ending}" for arm, test in arms if test))


def _read_worse(runs: Runs, test: ArmTest) -> RedTest:
    """Return a test that got worse. It counts where it executes the change: else the host, or another test, made it red."""
    last = runs.runs[Arm.FIXED][-1].tests[test.test]
    red = classify_red(last, missing=False, tree=runs.trees[Arm.FIXED]) or "behaviour"
    reached = _list_reached(runs, test.test)
    facts = {"test": test.test, "class": red, "line": test.line, "reached": reached}
    touched = strip_parameters(test.test) in runs.touched
    return RedTest.model_validate({**facts, "touched": touched, "counts": _is_reached(runs, reached)})


def _read_red(runs: Runs, base: ArmTest | None, fixed: ArmTest | None) -> RedTest | None:
    """Return a test that is green on fixed in every run, and red or not there at all on base in every run."""
    if fixed is None or fixed.ending != "passed" or (base and base.ending in {"passed", "skipped", "xfailed", "flaky"}):
        return None
    red, line = ("import", _find_uncollected(runs, fixed.test)) if base is None else _classify_base(runs, base)
    if red is None or not line:
        return None
    reached = _list_reached(runs, fixed.test)
    facts = {"test": fixed.test, "class": red, "line": line, "reached": reached}
    touched = strip_parameters(fixed.test) in runs.touched
    return RedTest.model_validate(
        {**facts, "touched": touched, "counts": red == "behaviour" and _is_reached(runs, reached)}
    )


def _classify_base(runs: Runs, base: ArmTest) -> tuple[RedClass | None, str]:
    classes = {
        classify_red(run.tests[base.test], missing=bool(run.missing.get(base.test)), tree=runs.trees[Arm.BASE])
        for run in runs.runs[Arm.BASE]
    }
    names = [name for run in runs.runs[Arm.BASE] for name in run.missing.get(base.test, ())]
    # Not the sentence about the test: tests of one cause have one line.
    line = f"{names[0]} is missing" if names else runs.runs[Arm.BASE][0].tests[base.test].message
    return (classes.pop() if len(classes) == 1 else None), line


def _find_uncollected(runs: Runs, test: str) -> str:
    """Return why the module or class of a test could not be collected on base; empty where it could."""
    for node, why in runs.runs[Arm.BASE][-1].uncollected.items():
        if test.startswith((f"{node}::", f"{node}[")):
            return why
    return runs.runs[Arm.BASE][-1].lost


def _list_reached(runs: Runs, test: str) -> tuple[str, ...]:
    """Return the changed lines that a test executed: added ones with the fix, removed ones without it."""
    places = []
    for arm in (Arm.FIXED, Arm.BASE):
        root = f"{runs.trees[arm].folder}/"
        mark = "" if arm is Arm.FIXED else "-"
        for file, lines in runs.runs[arm][-1].reached.get(test, {}).items():
            places += [f"{mark}{file.removeprefix(root)}:{line}" for line in lines]
    return tuple(places)


def _is_reached(runs: Runs, reached: Sequence[str]) -> bool:
    """Tell whether a test reaches the change: its lines, or what a module does when it is loaded; or there are no lines."""
    trees = runs.trees.values()
    if reached or not any(tree.lines for tree in trees):
        return True
    return any(
        file in run.loaded for arm, tree in runs.trees.items() for run in runs.runs[arm] for file in tree.at_import
    )


def _fold_causes(changed: Iterable[RedTest]) -> tuple[Cause, ...]:
    groups = defaultdict(list)
    for red in changed:
        groups[red.red, red.line].append(red.touched)
    causes = [
        Cause.model_validate({"class": red, "line": line, "tests": len(touched), "touched": sum(touched)})
        for (red, line), touched in groups.items()
    ]
    return tuple(sorted(causes, key=lambda cause: -cause.tests))


def _count_lines(runs: Runs, places: Iterable[Sequence[str]]) -> ReachedLines:
    tree = runs.trees[Arm.FIXED]
    reached = {place for listed in places for place in listed if not place.startswith("-")}
    return ReachedLines(
        changed=sum(map(len, tree.lines.values())),
        reached=len(reached),
        at_import=sum(map(len, tree.at_import.values())),
    )


def _decide(runs: Runs, facts: Mapping[str, Any]) -> tuple[ProofOutcome, str]:
    if strange := _explain_strange(runs):
        return "error", strange
    if worse := facts["worse"]:
        return "fail", f"{format_count(len(worse), 'test')} got worse, first {worse[0].test}: {worse[0].line}"
    if facts["proofs"]:
        return "proved", ""
    if facts["changed"]:
        return "not proved", _explain_changed(facts["changed"])
    lost = next((run.lost for arm in runs.runs.values() for run in arm if run.lost), "")
    if lost or not facts["guards"]:
        return "error", lost or _explain_nothing(runs, facts)
    return "not proved", f"the fix's tests are green on base, too: {format_count(len(facts['guards']), 'test')}"


def _explain_changed(changed: Sequence[RedTest]) -> str:
    first = changed[0]
    if first.red == "behaviour":
        return f"{first.test} turns green, but never executes a line that the fix changes"
    what = "a name that is missing on base" if first.red == "symbol" else "modules that cannot be imported on base"
    verb = "turns" if len(changed) == 1 else "turn"
    return f"{format_count(len(changed), 'test')} {verb} green only by {what}: {first.line}"


def _explain_nothing(runs: Runs, facts: Mapping[str, Any]) -> str:
    problems = [note.line for note in (*facts["errors"], *facts["still_red"])]
    uncollected = list(runs.runs[Arm.FIXED][-1].uncollected.values())
    return f"no test of the fix passes with it: {(uncollected or problems or ['none was collected'])[0]}"[:1000]


def _explain_strange(runs: Runs) -> str:
    """Return why the runs say nothing of the arms: code of another place or another version was loaded."""
    for arm, tree in runs.trees.items():
        for run in runs.runs[arm]:
            if run.foreign:
                module, file = next(iter(run.foreign.items()))
                return f"on {arm} the module {module} was loaded from {file}, not from the arm's tree"
            if wrong := [file for file, sha in run.loaded.items() if tree.hashes.get(file) != sha]:
                return f"on {arm} another version of {wrong[0]} was loaded"
    return ""
