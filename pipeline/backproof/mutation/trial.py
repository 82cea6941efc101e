"""Runs the proofs on every mutant, the quickest proof first, until one is red by its claim."""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backproof.core.errors import TargetError
from backproof.core.plain_text import one_line
from backproof.core.redaction import redact
from backproof.devices.check_run import CheckJob, CheckTimeoutError, CompletedCheck, run_jobs
from backproof.mutation.shadow import make_shadow
from backproof.records.mutation import TriedMutant
from backproof.verdict.endings import classify_ending, describe_error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from backproof.core.time_budget import TimeBudget
    from backproof.devices.check_result import CheckResult
    from backproof.devices.check_run import CheckEnvironment, Shadow
    from backproof.devices.protocol import Session
    from backproof.kit.plan import Check
    from backproof.mutation.mutants import Mutant
    from backproof.records.mutation import Ending

_CHUNK = 8
"""Mutants that run between two looks at the budget, for each process that may run at once."""
_SLOW, _GRACE = 5, 30.0
"""A proof may take so many times as long as on the fix, and so many seconds more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Proof:
    """The tests of a check that are red without the fix and green with it, under one operator model.

    `seconds` is what the whole check took on the fix.
    """

    check: Check
    model: str
    tests: tuple[str, ...]
    operators: dict[str, Any] | None
    seconds: float

    @property
    def name(self) -> str:
        return f"{self.check.id} under {self.model}"

    def limited(self) -> Check:
        """Return the check with a time limit that fits what the fix took."""
        return self.check.model_copy(update={"timeout": min(self.check.timeout, _SLOW * self.seconds + _GRACE)})


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """Where mutants are tried, with the arm `fixed` in place there.

    Args:
        environment: the folder around its `work` is removed at the end.
        hashes: SHA-256 of each installed file of the fix, by absolute path.
        places: path of each file below site-packages, by its path in the repository.
    """

    environment: CheckEnvironment
    session: Session
    site: Path
    hashes: Mapping[str, str | None]
    places: Mapping[str, str]
    budget: TimeBudget
    say: Callable[[str], None]


@dataclass(kw_only=True, slots=True)
class _Candidate:
    """A mutant that no proof caught yet."""

    mutant: Mutant
    shadow: Shadow
    ending: Ending = "survived"
    by: str = ""
    why: str = ""
    missed: list[str] = field(default_factory=list)

    def conclude(self) -> TriedMutant:
        mutant, missed = self.mutant, self.missed and self.ending != "caught"
        return TriedMutant(
            id=mutant.id,
            path=mutant.path,
            line=mutant.line,
            operator=mutant.operator,
            before=mutant.before,
            after=mutant.after,
            sha256=hashlib.sha256(mutant.source).hexdigest(),
            ending="not-tried" if missed else self.ending,
            by=self.by,
            why=f"time ran out before {self.missed[0]}" if missed else self.why,
        )


def try_mutants(trial: Trial, mutants: Sequence[Mutant], proofs: Sequence[Proof]) -> tuple[TriedMutant, ...]:
    """Return what became of each mutant: caught by a proof, or not by any."""
    work = trial.environment.work
    candidates = [
        _Candidate(mutant=mutant, shadow=_make_shadow(trial, work.parent / "versions" / mutant.id, mutant))
        for mutant in mutants
    ]
    for number, proof in enumerate(sorted(proofs, key=lambda item: item.seconds), 1):
        alive = [item for item in candidates if item.ending != "caught"]
        trial.say(
            f"    proof {number} of {len(proofs)}, {proof.name}: {len(alive)} of {len(mutants)} are not caught yet"
        )
        size = _CHUNK * trial.environment.device.TRAITS.parallel
        for start in range(0, len(alive), size):
            _try_proof(trial, proof, alive[start : start + size])
    shutil.rmtree(work.parent)
    return tuple(item.conclude() for item in candidates)


def _make_shadow(trial: Trial, folder: Path, mutant: Mutant) -> Shadow:
    return make_shadow(folder, trial.site, trial.places[mutant.path], mutant.source)


def _try_proof(trial: Trial, proof: Proof, candidates: Sequence[_Candidate]) -> None:
    if not trial.budget.allows(0):
        for item in candidates:
            item.missed.append(proof.name)
        return
    jobs = [
        CheckJob(
            name=f"{item.mutant.id}.{proof.check.id}.{proof.model}",
            check=proof.limited(),
            operators=proof.operators,
            shadow=item.shadow,
            only=proof.tests,
            stop=True,
        )
        for item in candidates
    ]
    for item, answer in zip(candidates, run_jobs(trial.environment, jobs, trial.session), strict=True):
        ending, why = _judge_answer(trial, item, answer)
        if ending != "survived":
            item.ending, item.by, item.why = ending, proof.name, one_line(redact(why), 300)


def _judge_answer(trial: Trial, item: _Candidate, answer: CompletedCheck | TargetError) -> tuple[Ending, str]:
    """Tell a proof that is red by its claim from one that could not be carried out: that is no catch."""
    if isinstance(answer, TargetError):
        return "timeout" if isinstance(answer, CheckTimeoutError) else "error", answer.why
    result = answer.result
    if result.error is not None:
        ending: Ending = "timeout" if result.error.get("what") == "timed-out" else "error"
        return ending, ": ".join([str(result.error.get("what")), *str(result.error.get("trace", "")).splitlines()[-1:]])
    if strange := _find_other_code(trial, item, result):
        return "error", f"other code than this version was loaded: {strange}"
    endings = [(test, classify_ending(test)) for test in result.tests]
    for test, name in endings:
        if name in {"failed", "fault"}:
            return (
                "caught",
                f"{test.nodeid.rpartition('::')[2]}: {test.faults[0].text if test.faults else test.message}",
            )
    return next((("error", describe_error(test)) for test, name in endings if name == "error"), ("survived", ""))


def _find_other_code(trial: Trial, item: _Candidate, result: CheckResult) -> str:
    """Return a file of the fix that ran in another version than it must; a file that no check loads is none."""
    shadowed = str(trial.site / trial.places[item.mutant.path])
    wanted = {os.path.realpath(file): hashed for file, hashed in trial.hashes.items() if file != shadowed}
    wanted[os.path.realpath(item.shadow.file)] = hashlib.sha256(item.mutant.source).hexdigest()
    watched = {*wanted, os.path.realpath(shadowed)}
    for loaded in result.loaded:
        file = os.path.realpath(loaded.file)
        if file in watched and {loaded.sha256, loaded.source_sha256} != {wanted.get(file)}:
            return loaded.file
    return ""
