"""What a check's result means for its arm: red before green, FAIL apart from ERROR. Pure functions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backproof.core.level import Level
from backproof.core.model import Arm, Outcome
from backproof.core.plural import format_count
from backproof.devices.check_result import CheckResult
from backproof.records.proof import Case, Role, Verdict
from backproof.verdict.arm_tests import compare_arms, sum_runs
from backproof.verdict.endings import classify_ending, describe_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from backproof.core.model import Evidence
    from backproof.devices.check_result import Loaded, TestResult
    from backproof.records.arm_tests import ArmTest

_FORMS: dict[Verdict, str] = {
    "failed": "showed {observed} where it must pass, as it does without the backport: {why}",
    "error": "could not be told: {why}",
    "not-discriminating": "passes without the fix, so it proves nothing",
    "not-reproduced": "showed {observed} and not the fault {wanted}: not reproduced{because}",
    "not-shown": "{observed}, as the plan expects, and yet no proof: {why}",
    "unexpected": "showed {observed} where the plan expects {wanted}{because}",
    "as-expected": "{observed}, as the plan expects",
}
"""What is said of each verdict, the worst first."""
OUTCOMES: dict[Verdict, Outcome] = {
    **dict.fromkeys(_FORMS, Outcome.INCONCLUSIVE),
    "failed": Outcome.FAIL,
    "error": Outcome.ERROR,
    "as-expected": Outcome.PASS,
}


_NOT_RUN = {"skipped", "xfailed"}
_NO_FAILURE = {"passed", *_NOT_RUN}


@dataclass(frozen=True, kw_only=True, slots=True)
class Rounds:
    """All that a check left on one arm, under one operator model or on one device.

    Args:
        wanted: what the plan says that this arm must show.
        results: one a round.
        needed: how many rounds a proof takes on base and on fixed.
        spoiled: why nothing of it counts, whatever it shows: the device went bad meanwhile.
    """

    check: str
    model: str
    arm: Arm
    role: Role
    wanted: str
    results: tuple[CheckResult, ...]
    evidence: tuple[Evidence, ...] = ()
    needed: int = 1
    spoiled: str = ""


def count_rounds(level: Level, repeat: int) -> int:
    """Return how often a proof runs on base and on fixed: a device is dear, and elsewhere once shows nothing of chance."""
    return max(repeat, 1 if level >= Level.DEVICE else 2)


def make_broken(what: str) -> CheckResult:
    """Return what stands for the result of a process that left none."""
    return CheckResult(schema=2, nonce="", error={"what": what})


def judge_check(rounds: Iterable[Rounds], hashes: Mapping[Arm, Mapping[str, str | None]]) -> tuple[Case, ...]:
    """Judge one check under one model on all of its arms: each test of another arm is compared with base's.

    Args:
        rounds: one entry an arm, base first.
        hashes: SHA-256 that each installed file of the patch has on each arm, by absolute path.
    """
    base: tuple[ArmTest, ...] = ()
    cases = []
    for entry in rounds:
        tests = sum_runs([result.tests for result in entry.results])
        cases.append(_judge_rounds(entry, tests, base, hashes.get(entry.arm, {})))
        base = tests if entry.arm is Arm.BASE else base
    return tuple(cases)


def _judge_rounds(
    rounds: Rounds, tests: tuple[ArmTest, ...], base: tuple[ArmTest, ...], hashes: Mapping[str, str | None]
) -> Case:
    observed, why = _observe(rounds, tests, hashes)
    compared = [] if rounds.arm is Arm.BASE else list(compare_arms(base, tests))
    standings = {standing: name for name, standing in reversed(compared)}
    verdict = judge(rounds.role, rounds.arm, rounds.wanted, observed, worse="worse" in standings)
    if verdict == "failed":
        why = standings["worse"]
    elif verdict == "as-expected" and (unshown := _find_unshown(rounds, observed, standings.get("not-shown"), tests)):
        verdict, why = "not-shown", unshown
    runs = [test for result in rounds.results for test in result.tests]
    return Case(
        check=rounds.check,
        model=rounds.model,
        arm=rounds.arm,
        role=rounds.role,
        expected=rounds.wanted,
        observed=observed,
        verdict=verdict,
        sentence=_write_sentence(rounds, observed, verdict, why),
        tests=tests,
        steps=len(tests),
        steps_failed=sum(test.ending not in _NO_FAILURE for test in tests),
        faults=dict(Counter(test.kind for test in tests if test.kind)),
        observations=summed(rounds.results[0].tests if rounds.results else ()),
        first=next((f"{test.test}: {test.line}"[:1000] for test in tests if test.ending not in _NO_FAILURE), ""),
        seconds=round(sum(test.seconds for test in runs), 3),
        evidence=rounds.evidence,
    )


def _find_unshown(rounds: Rounds, observed: str, name: str | None, tests: Sequence[ArmTest]) -> str:
    """Why what looks like a proof is none; empty when it is one, or was never meant as one."""
    if rounds.role != "proof":
        return ""
    if name is not None and observed == "pass":
        here = next((test.ending for test in tests if test.test == name), "missing")
        return f"{name} is red without the backport, and {here} with it"
    short = rounds.arm is not Arm.PICK and len(rounds.results) < rounds.needed
    return f"it ran {format_count(len(rounds.results), 'time')}, {rounds.needed} are needed" if short else ""


def _observe(rounds: Rounds, tests: Sequence[ArmTest], hashes: Mapping[str, str | None]) -> tuple[str, str]:
    """One word for what the check showed, and why when that word is `error` or `flaky`.

    A test that could not be carried out is not red, and what the others showed is then not all that there is to see. And
    the code that ran must be the arm's: otherwise the result says nothing about the arm.
    """
    if rounds.spoiled:
        return "error", rounds.spoiled
    for result in rounds.results:
        if why := _find_problem(result, hashes):
            return "error", why
    if flaky := next((test for test in tests if test.ending == "flaky"), None):
        return "flaky", f"{flaky.test} was red in {flaky.red} of {flaky.runs} runs"
    kinds = sorted({test.kind or "fail" for test in tests if test.is_red})
    if len(kinds) > 1:
        return f"mixed:{'+'.join(kinds)}", ""
    return next((kind if kind == "fail" else f"fault:{kind}" for kind in kinds), "pass"), ""


def _find_problem(result: CheckResult, hashes: Mapping[str, str | None]) -> str:
    """Why one result says nothing of its arm; empty when it does."""
    if result.error is not None:
        return told(result.error)
    ran = [test for test in result.tests if classify_ending(test) not in _NOT_RUN]
    if not ran:
        return f"nothing ran ({len(result.tests)} skipped, pytest ended with {result.pytest_exit})"
    broken = next((describe_error(test) for test in ran if classify_ending(test) == "error"), "")
    return broken or _not_this_arm(result, hashes)


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
        f"{item.file}{f' (other code in {item.replaced[0]})' if item.replaced else ''}"
        for item in loaded
        if item.file in hashes and ({item.sha256, item.source_sha256} != {hashes[item.file]} or item.replaced)
    ]


def judge(role: Role, arm: Arm, wanted: str, observed: str, *, worse: bool) -> Verdict:
    """Compare what an arm showed with what the plan says that it must show.

    Args:
        worse: something is red there that is green on base. Only that refutes a backport: what is red on both arms is
            not mended, and what base did not show is not known.
    """
    if observed == "error":
        return "error"
    if role == "proof" and arm is Arm.BASE:
        return _judge_base(wanted, observed)
    if observed == wanted:
        return "as-expected"
    return "failed" if wanted == "pass" and worse else "unexpected"


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


def _write_sentence(rounds: Rounds, observed: str, verdict: Verdict, why: str) -> str:
    form = _FORMS[verdict].format(observed=observed, wanted=rounds.wanted, why=why, because=f" ({why})" if why else "")
    return f"{rounds.check} under {rounds.model} on {rounds.arm}: {form}"


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
