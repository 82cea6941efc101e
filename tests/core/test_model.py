"""The words of the product: which outcome wins, what each exits with, and how a path of any bytes is shown."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from backproof.core.model import Outcome, show_path, worst_outcome

WORST_FIRST = ("fail", "person-needed", "error", "running", "inconclusive", "aborted", "skip", "pass")
EXIT = {
    "fail": 1,
    "person-needed": 3,
    "running": 4,
    "error": 4,
    "inconclusive": 4,
    "aborted": 4,
    "skip": 0,
    "pass": 0,
}


@pytest.mark.parametrize("pair", list(permutations(WORST_FIRST, 2)))
def test_the_worst_outcome_wins_in_any_order(pair: tuple[str, str]) -> None:
    assert worst_outcome(Outcome(each) for each in pair) == min(pair, key=WORST_FIRST.index)


def test_nothing_at_all_is_an_error() -> None:
    assert worst_outcome([]) is Outcome.ERROR


def test_every_outcome_has_its_exit_code() -> None:
    assert {each.value: int(each.exit_code) for each in Outcome} == EXIT


@pytest.mark.parametrize(
    ("path", "text"),
    [("pkg/a.py", "pkg/a.py"), ("目录/é.py", "目录/é.py"), ("a\udcff\udc80b", r"a\xff\x80b"), (None, None), (7, 7)],
)
def test_a_path_of_any_bytes_is_text_that_json_can_hold(path: Any, text: Any) -> None:
    assert show_path(path) == text
