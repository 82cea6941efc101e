"""What a check's result means for its arm: red before green, FAIL apart from ERROR. Pure functions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backproof.core.model import Arm, Outcome
from backproof.records.proof import Case, Verdict
from backproof.verdict.endings import classify_ending, describe_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from backproof.core.model import Evidence
    from backproof.devices.check_result import CheckResult, Loaded, TestResult
    from backproof.kit.plan import Check, Expected

_FORMS: dict[Verdict, str] = {
    "failed": "showed {observed} where it must pass",
    "error": "could not be told: {why}",
    "not-discriminating": "passes without the fix, so it proves nothing",
    "not-reproduced": "showed {observed} and not the fault {wanted}: not reproduced",
    "unexpected": "showed {observed} where the plan expects {wanted}",
    "as-expected": "{observed}, as the plan expects",
}
"""What is said of each verdict, the worst first."""
OUTCOMES: dict[Verdict, Outcome] = {
    **dict.fromkeys(_FORMS, Outcome.INCONCLUSIVE),
    "failed": Outcome.FAIL,
    "error": Outcome.ERROR,
    "as-expected": Outcome.PASS,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """Which check, under which operator model (or on which device), on which arm, and what it must show."""

    check: Check
    model: str
    arm: Arm
    expected: Expected


def case(
    subject: Subject, result: CheckResult, *, hashes: Mapping[str, str | None], evidence: Sequence[Evidence]
) -> Case:
    """Judge one result.

    Args:
        hashes: SHA-256 that each installed file of the patch has on this arm, by absolute path.
    """
    observed, why = observe(result, hashes)
    verdict = judge(subject.expected, subject.arm, observed)
    failed = [test for test in result.tests if test.outcome in {"failed", "error"}]
    return Case(
        check=subject.check.id,
        model=subject.model,
        arm=subject.arm,
        role=subject.expected.role,
        expected=subject.expected.for_arm(subject.arm),
        observed=observed,
        verdict=verdict,
        sentence=_sentence(subject, observed, verdict, why),
        steps=len(result.tests),
        steps_failed=len(failed),
        faults=dict(Counter(kind for item in failed if (kind := _kind(item)) != "fail")),
        observations=summed(result.tests),
        first=_first(failed),
        seconds=round(sum(test.seconds for test in result.tests), 3),
        evidence=tuple(evidence),
    )


def observe(result: CheckResult, hashes: Mapping[str, str | None]) -> tuple[str, str]:
    """One word for what the check showed, and why when that word is `error`.

    A test that could not be carried out is not red, and what the others showed is then not all that there is to see. And
    the code that ran must be the arm's: otherwise the result says nothing about the arm.
    """
    if result.error is not None:
        return "error", told(result.error)
    ran = [test for test in result.tests if test.outcome != "skipped"]
    if not ran:
        return "error", f"nothing ran ({len(result.tests)} skipped, pytest ended with {result.pytest_exit})"
    if (broken := next((test for test in ran if classify_ending(test) == "error"), None)) is not None:
        return "error", describe_error(broken)
    if strange := _not_this_arm(result, hashes):
        return "error", strange
    return _name_outcome(ran), ""


def _name_outcome(ran: Sequence[TestResult]) -> str:
    kinds = sorted({_kind(test) for test in ran if test.outcome != "passed"})
    if len(kinds) > 1:
        return f"mixed:{'+'.join(kinds)}"
    return next((kind if kind == "fail" else f"fault:{kind}" for kind in kinds), "pass")


def told(error: Mapping[str, Any]) -> str:
    """One line of what the check's process said of its own end: the word, and the last line of the trace."""
    lines = [line.strip() for line in str(error.get("trace", "")).splitlines() if line.strip()]
    return ": ".join([str(error.get("what", "the check could not run")), *lines[-1:]])[:500]


def _not_this_arm(result: CheckResult, hashes: Mapping[str, str | None]) -> str:
    if not any(item.file in hashes for item in result.loaded):
        return "none of the patch's files was loaded by the check"
    wrong = other_code(result.loaded, hashes)
    return f"not the code of this arm was loaded: {', '.join(wrong)}" if wrong else ""


def other_code(loaded: Iterable[Loaded], hashes: Mapping[str, str | None]) -> list[str]:
    """Files whose code, as the process took it, is not known to be the one that is wanted."""
    return [
        item.file for item in loaded if item.file in hashes and {item.sha256, item.source_sha256} != {hashes[item.file]}
    ]


def _kind(test: TestResult) -> str:
    """The first fault's kind; what follows are secondary errors."""
    return test.faults[0].kind if test.faults else "fail"


def judge(expected: Expected, arm: Arm, observed: str) -> Verdict:
    """Compare what an arm showed with what the plan says that it must show."""
    if observed == "error":
        return "error"
    wanted = expected.for_arm(arm)
    if expected.role == "proof" and arm is Arm.BASE:
        return _judge_base(wanted, observed)
    if observed == wanted:
        return "as-expected"
    return "failed" if wanted == "pass" and arm is not Arm.BASE else "unexpected"


def _judge_base(wanted: str, observed: str) -> Verdict:
    if observed == "pass":
        return "not-discriminating"
    return "as-expected" if observed == wanted else "not-reproduced"


def outcome(cases: Sequence[Case]) -> tuple[Outcome, str]:
    """The outcome of all cases together, with one sentence."""
    proofs = [entry for entry in cases if entry.role == "proof"]
    if not proofs:
        return Outcome.INCONCLUSIVE, "the plan has no proof for this device: guards alone show nothing"
    for verdict in _FORMS:
        alike = [item.sentence for item in cases if item.verdict == verdict]
        if alike and verdict != "as-expected":
            counted = f"{len(alike)} of {len(cases)} cases {verdict.replace('-', ' ')}"
            return OUTCOMES[verdict], f"{counted}: {alike[0]}"
    return Outcome.PASS, f"all {len(cases)} cases as the plan expects, {len(proofs)} of them proofs"


def _sentence(subject: Subject, observed: str, verdict: Verdict, why: str) -> str:
    form = _FORMS[verdict].format(observed=observed, wanted=subject.expected.for_arm(subject.arm), why=why)
    return f"{subject.check.id} under {subject.model} on {subject.arm}: {form}"


def _first(failed: Sequence[TestResult]) -> str:
    if not failed:
        return ""
    test = failed[0]
    return f"{test.nodeid}: {test.faults[0].text if test.faults else test.message}"[:1000]


def summed(tests: Iterable[TestResult]) -> dict[str, Any]:
    """Observations over all steps: how often each value was seen; for numbers the range."""
    words: dict[str, Counter[str]] = {}
    numbers: dict[str, list[float]] = {}
    for name, value in ((name, value) for test in tests for name, value in test.observations.items()):
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            numbers.setdefault(name, []).append(float(value))
        else:
            words.setdefault(name, Counter())[str(value).lower()] += 1
    ranges = {name: {"min": min(values), "max": max(values)} for name, values in numbers.items()}
    return {**{name: dict(counts) for name, counts in words.items()}, **ranges}
