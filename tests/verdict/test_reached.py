"""Claim 3: which changed lines have code, and how each was shown to be reached."""

from __future__ import annotations

import hashlib

import pytest
from backproof.core.model import Outcome
from backproof.devices.check_result import CheckResult, Launch
from backproof.verdict.claims.lines import changed_lines
from backproof.verdict.claims.reached import Subject, compute_reach, judge_reached
from hypothesis import given
from hypothesis import strategies as st

BEFORE = b'''"""doc"""
import os


def kernel(x):
    return x


def plain(n):
    # a comment
    if n:
        return 1
    return 2
'''
AFTER = b'''"""doc"""
import os


def kernel(x):
    y = x + 1
    return y


def plain(n):
    # another comment
    if n:
        value = dict(
            a=n,
            b=2,
        )
        return value
    return 2
'''
FILE = "/site/pkg/mod.py"
SUBJECT = Subject(path="pkg/mod.py", installed=FILE, before=BEFORE, after=AFTER)


def _launch(first: int = 5, last: int = 7, text: bytes = AFTER, *, file: str = FILE, count: int = 3) -> Launch:
    source = b"\n".join(text.split(b"\n")[first - 1 : last]) + b"\n"
    digest = hashlib.sha256(source).hexdigest()
    return Launch(kernel="k", file=file, first_line=first, last_line=last, source_sha256=digest, count=count)


def _seen(*lines: int, launches: tuple[Launch, ...] = ()) -> list[CheckResult]:
    seen: list[CheckResult] = []
    seen.append(CheckResult(schema=2, nonce="", reached={FILE: lines}, launches=launches))
    return seen


def _outcome(seen: list[CheckResult], *, same_python: bool = True) -> tuple[Outcome, str]:
    found = judge_reached(compute_reach([SUBJECT], seen, checks=("works",), same_python=same_python), evidence=())
    return found.outcome, found.sentence


def test_comments_and_unchanged_lines_do_not_count() -> None:
    found = changed_lines(BEFORE, AFTER)
    assert found.changed == {6, 7, 11, 13, 14, 15, 16, 17}
    assert found.executable == {6, 7, 13, 14, 15, 17}
    assert found.statement[14] == {13, 14, 15, 16}
    assert found.statement[6] == {6}


def test_all_executed_passes_and_says_how() -> None:
    outcome, sentence = _outcome(_seen(6, 7, 13, 14, 15, 17))
    assert outcome is Outcome.PASS
    assert "6 executed, 0 in kernels" in sentence


def test_a_line_that_is_not_reached_fails_and_is_named() -> None:
    outcome, sentence = _outcome(_seen(6, 7, 13, 14, 15))
    assert outcome is Outcome.INCONCLUSIVE
    assert sentence == "1 of 6 changed lines of code is not reached by works: pkg/mod.py:17"


def test_a_launch_of_the_same_source_stands_for_its_lines() -> None:
    outcome, sentence = _outcome(_seen(13, 14, 15, 17, launches=(_launch(),)))
    assert outcome is Outcome.PASS
    assert "4 executed, 2 in kernels" in sentence


@pytest.mark.parametrize(
    "launch",
    [
        _launch(text=BEFORE),
        _launch(file="/elsewhere/mod.py"),
        _launch(count=0),
        _launch(first=9, last=18),
    ],
)
def test_a_launch_of_other_source_does_not(launch: Launch) -> None:
    outcome, _ = _outcome(_seen(13, 14, 15, 17, launches=(launch,)))
    assert outcome is Outcome.INCONCLUSIVE


def test_another_python_may_report_another_line_of_the_statement() -> None:
    seen = _seen(6, 7, 13, 17)
    assert _outcome(seen)[0] is Outcome.INCONCLUSIVE
    assert _outcome(seen, same_python=False)[0] is Outcome.PASS
    assert _outcome(_seen(6, 7, 13), same_python=False)[0] is Outcome.INCONCLUSIVE


def test_lines_of_another_file_do_not_count() -> None:
    seen: list[CheckResult] = []
    seen.append(CheckResult(schema=2, nonce="", reached={"/other/mod.py": (6, 7, 13, 14, 15, 17)}))
    assert _outcome(seen)[0] is Outcome.INCONCLUSIVE


def test_two_checks_together_reach_all() -> None:
    seen = _seen(6, 7)
    seen.append(CheckResult(schema=2, nonce="", reached={FILE: (13, 14, 15, 17)}))
    assert _outcome(seen)[0] is Outcome.PASS


def test_a_new_file_has_all_its_lines_changed() -> None:
    subject = Subject(path="p.py", installed="/p.py", before=None, after=b"A = 1\n")
    found = judge_reached(compute_reach([subject], [], checks=("works",), same_python=True), evidence=())
    assert found.findings[0].where == "p.py:1"


def test_nothing_to_reach_is_no_pass() -> None:
    subject = Subject(path="p.py", installed="/p.py", before=b"A = 1\nB = 2\n", after=b"A = 1\n")
    found = judge_reached(compute_reach([subject], [], checks=("works",), same_python=True), evidence=())
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.findings[0].where == "p.py"


def test_a_file_that_our_python_cannot_read_is_an_error() -> None:
    subject = Subject(path="p.py", installed="/p.py", before=b"", after=b"def f(:\n")
    found = judge_reached(compute_reach([subject], [], checks=("works",), same_python=True), evidence=())
    assert found.outcome is Outcome.ERROR
    assert "p.py" in found.sentence


@given(
    st.lists(st.sampled_from(["a = 1", "b = 2", "", "# c", "d = 3"])), st.lists(st.sampled_from(["a = 1", "", "e = 4"]))
)
def test_an_executable_line_is_changed_and_not_blank(before: list[str], after: list[str]) -> None:
    found = changed_lines("\n".join(before).encode(), "\n".join(after).encode())
    assert found.executable <= found.changed
    assert all(after[line - 1] for line in found.executable)
