"""Claim 3: the changed lines are executed by the checks."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from backproof.core.model import Evidence, Finding, Outcome, Record
from backproof.core.plural import format_all, format_count, is_or_are
from backproof.records.proof import Claim
from backproof.verdict.claims.lines import changed_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from backproof.devices.check_result import CheckResult, Launch

Way = Literal["executed", "launched", "not reached"]


class LineReach(Record):
    """One changed line of code, and how it was shown to be reached."""

    path: str
    line: int
    way: Way


class ReachRecord(Record):
    """verify/reached.json."""

    checks: tuple[str, ...]
    lines: tuple[LineReach, ...]
    without_code: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """One Python file of the patch: its path in the repository, where it is installed, both versions."""

    path: str
    installed: str
    before: bytes | None
    after: bytes


def compute_reach(
    subjects: Iterable[Subject], results: Sequence[CheckResult], *, checks: Sequence[str], same_python: bool
) -> ReachRecord:
    """How each changed line of code was reached.

    Args:
        subjects: the Python files of the patch.
        results: what the checks executed and launched, together.
        checks: their ids.
        same_python: the target's Python reports lines as ours does; otherwise a line of the same statement counts.
    """
    lines: list[LineReach] = []
    without_code, unreadable = [], []
    for subject in subjects:
        try:
            changed = changed_lines(subject.before, subject.after)
        except (SyntaxError, ValueError) as error:
            unreadable.append(f"{subject.path}: {error}")
            continue
        if not changed.executable:
            without_code.append(subject.path)
        for line in sorted(changed.executable):
            around = frozenset({line}) if same_python else changed.statement[line]
            lines.append(LineReach(path=subject.path, line=line, way=_find_way(subject, line, around, results)))
    return ReachRecord(
        checks=tuple(checks), lines=tuple(lines), without_code=tuple(without_code), unreadable=tuple(unreadable)
    )


def _find_way(subject: Subject, line: int, around: frozenset[int], results: Sequence[CheckResult]) -> Way:
    if any(around & set(result.reached.get(subject.installed, ())) for result in results):
        return "executed"
    launched = any(_is_launched(subject, line, launch) for result in results for launch in result.launches)
    return "launched" if launched else "not reached"


def _is_launched(subject: Subject, line: int, launch: Launch) -> bool:
    """Coverage cannot see into a compiled kernel; the hash of the source that was compiled stands for its lines."""
    if launch.file != subject.installed or not launch.first_line <= line <= launch.last_line or not launch.count:
        return False
    text = b"\n".join(subject.after.split(b"\n")[launch.first_line - 1 : launch.last_line]) + b"\n"
    return hashlib.sha256(text).hexdigest() == launch.source_sha256


_UNREACHED = "changed, and not reached by the checks: add one that runs it, or name it in verify.reach"


def judge_reached(record: ReachRecord, *, evidence: tuple[Evidence, ...]) -> Claim:
    """A line that no check reached is not proved, and not refuted: each is named. Nothing to reach is no pass."""
    missed = [f"{line.path}:{line.line}" for line in record.lines if line.way == "not reached"]
    findings: list[tuple[Literal["note", "warning", "fail"], str, str]] = [
        *(("warning", _UNREACHED, where) for where in missed),
        *(("warning", f"cannot be read by our Python: {item}", "") for item in record.unreadable),
        *(("note", "the patch leaves no changed line with code there", where) for where in record.without_code),
    ]
    outcome, sentence = _judge_lines(record, missed)
    return Claim(
        name="reached",
        sentence=sentence,
        outcome=outcome,
        findings=tuple(Finding(severity=severity, text=text, where=where) for severity, text, where in findings),
        evidence=evidence,
    )


def _judge_lines(record: ReachRecord, missed: Sequence[str]) -> tuple[Outcome, str]:
    total, checks = len(record.lines), ", ".join(record.checks)
    if missed:
        listed = ", ".join(missed[:8]) + (f" and {len(missed) - 8} more" if len(missed) > 8 else "")
        counted = f"{len(missed)} of {format_count(total, 'changed line')} of code {is_or_are(len(missed))}"
        return Outcome.INCONCLUSIVE, f"{counted} not reached by {checks}: {listed}"
    if record.unreadable:
        return Outcome.ERROR, f"the changed lines cannot be told: {record.unreadable[0]}"
    if not total:
        return Outcome.INCONCLUSIVE, "the patch changes no line of code that could be reached"
    ways = Counter(line.way for line in record.lines)
    return Outcome.PASS, (
        f"{format_all(total, 'changed line')} of code {is_or_are(total)} reached by {checks}: {ways['executed']} executed, "
        f"{ways['launched']} in kernels launched from the same source"
    )
