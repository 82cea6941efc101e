"""A number and its noun agree, for one and for many."""

from __future__ import annotations

import pytest
from backproof.core.plural import format_all, format_count, is_or_are


@pytest.mark.parametrize(
    ("number", "noun", "text", "whole", "verb"),
    [
        (0, "file", "0 files", "all 0 files", "are"),
        (1, "file", "1 file", "the one file", "is"),
        (2, "file", "2 files", "all 2 files", "are"),
        (1, "branch", "1 branch", "the one branch", "is"),
        (3, "branch", "3 branches", "all 3 branches", "are"),
        (2, "fix-up", "2 fix-ups", "all 2 fix-ups", "are"),
    ],
)
def test_a_number_and_its_noun_agree(number: int, noun: str, text: str, whole: str, verb: str) -> None:
    assert (format_count(number, noun), format_all(number, noun), is_or_are(number)) == (text, whole, verb)
