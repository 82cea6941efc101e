"""Over runs of every kind: a pass says no more than its tests show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from backproof.core.model import Arm, Outcome
from backproof.devices.check_result import CheckResult, Fault, Loaded, TestResult
from backproof.records.proof import ValidateRecord
from backproof.stages import REGISTRY
from backproof.verdict import run_verdict
from backproof.verdict.judge import Rounds, judge_check
from hypothesis import given, settings
from hypothesis import strategies as st
from stories import HASHES, INSTALLED, Folder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pytest

ENDINGS = ("passed", "failed", "fault", "error", "skipped", "xfailed", "missing")
FAULT = Fault(kind="silent", task=1, engine="operator", name="update", text="row 5")


def a_test(name: str, ending: str) -> TestResult:
    outcome: Any = "failed" if ending == "fault" else ending
    return TestResult(nodeid=name, outcome=outcome, faults=(FAULT,) if ending == "fault" else ())


def a_result(arm: Arm, endings: dict[str, str], *, right_code: bool) -> CheckResult:
    sha256 = str(HASHES[arm][INSTALLED]) if right_code else "f" * 64
    loaded = (Loaded(module="pkg.rows", file=INSTALLED, sha256=sha256, source_sha256=sha256),)
    tests = tuple(a_test(name, ending) for name, ending in endings.items() if ending != "missing")
    return CheckResult(schema=2, nonce="", tests=tests, loaded=loaded)


usually = st.sampled_from(["as it should"] * 6 + list(ENDINGS))
SHOULD = {Arm.BASE: {"proof": "failed", "other": "passed"}, Arm.PICK: {}, Arm.FIXED: {}}
names = ("proof", "other")


@st.composite
def all_rounds(draw: st.DrawFn) -> dict[Arm, tuple[CheckResult, ...]]:
    """Mostly what a proof looks like; anything may be otherwise."""
    told = {}
    for arm in Arm:
        count = draw(st.sampled_from([2, 2, 2, 1, 3])) if arm is not Arm.PICK else 1
        told[arm] = tuple(
            a_result(
                arm,
                {
                    name: SHOULD[arm].get(name, "passed") if (drawn := draw(usually)) == "as it should" else drawn
                    for name in names
                },
                right_code=draw(st.sampled_from([True] * 9 + [False])),
            )
            for _ in range(count)
        )
    return told


def story(folder: Folder, rounds: Mapping[Arm, tuple[CheckResult, ...]]) -> Folder:
    """The run that leaves these results."""
    entries = []
    for arm, results in rounds.items():
        evidence = []
        for number, result in enumerate(results, 1):
            path = folder.path / "validate" / (arm.value if number == 1 else f"{arm}.{number}") / "rows.raw.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(result.model_dump_json(by_alias=True))
            evidence.append(folder.ledger.register_evidence(path, claim="c", command="c"))
        wanted = "fail" if arm is Arm.BASE else "pass"
        facts: dict[str, Any] = {"check": "rows", "model": "raw", "arm": arm, "role": "proof", "wanted": wanted}
        entries.append(Rounds(**facts, results=results, evidence=tuple(evidence), needed=2))
    record = ValidateRecord(device="emulator", device_facts={}, cases=judge_check(entries, HASHES), hashes=HASHES)
    folder.pick()
    folder.fixup()
    folder.install()
    folder.verify()
    folder.stage("validate", evidence=(folder.record("validate", record),))
    return folder


def endings_of(results: tuple[CheckResult, ...]) -> list[dict[str, str]]:
    return [{test.nodeid: "fault" if test.faults else test.outcome for test in result.tests} for result in results]


@settings(max_examples=150, deadline=None)
@given(rounds=all_rounds())
def test_a_pass_is_red_on_base_and_green_on_fixed_test_by_test_and_twice(
    tmp_path_factory: pytest.TempPathFactory, rounds: dict[Arm, tuple[CheckResult, ...]]
) -> None:
    """Stated anew, from the raw results alone: nothing here asks the judge."""
    folder = story(Folder(tmp_path_factory.mktemp("run")), rounds)
    outcome = run_verdict.read_run(folder.ledger, folder.run, REGISTRY).run.outcome
    base, fixed = endings_of(rounds[Arm.BASE]), endings_of(rounds[Arm.FIXED])
    red = {name for told in base for name, ending in told.items() if ending in {"failed", "fault"}}
    proved = (
        bool(red)
        and min(len(base), len(fixed)) >= 2
        and all(told.get(name) == "failed" for told in base for name in red)
        and all(told.get(name) == "passed" for told in fixed for name in red)
        and all(result.loaded[0].sha256 == HASHES[arm][INSTALLED] for arm in Arm for result in rounds[arm])
    )
    if outcome is Outcome.PASS:
        assert proved
    broken = any(ending == "error" for arm in Arm for told in endings_of(rounds[arm]) for ending in told.values())
    if broken:
        assert outcome in {Outcome.ERROR, Outcome.FAIL}, "what is worse elsewhere stays worse"
    if outcome is Outcome.FAIL:
        green = {name for name in names if all(told.get(name) == "passed" for told in base)}
        later = [told for arm in (Arm.PICK, Arm.FIXED) for told in endings_of(rounds[arm])]
        assert any(told.get(name) in {"failed", "fault"} for told in later for name in green)


def test_what_a_proof_looks_like_passes_so_that_the_property_can_fail(tmp_path: Path) -> None:
    ends = {arm: {"proof": SHOULD[arm].get("proof", "passed"), "other": "passed"} for arm in Arm}
    rounds = {arm: (a_result(arm, ends[arm], right_code=True),) * 2 for arm in Arm}
    assert (
        run_verdict.read_run((folder := story(Folder(tmp_path), rounds)).ledger, folder.run, REGISTRY).run.outcome
        is Outcome.PASS
    )
    assert set(get_args(TestResult.model_fields["outcome"].annotation)) <= set(ENDINGS)
