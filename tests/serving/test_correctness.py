"""Rounding or corruption: what the likeliest tokens of the undisturbed output say."""

from __future__ import annotations

import pytest
from backproof.records.serving import Output
from backproof.serving import correctness
from backproof.serving.correctness import TIE
from hypothesis import given
from hypothesis import strategies as st

ALONE = {"tide ": -0.7, "wind ": -0.9, "ship ": -4.0}


def output(*tokens: str, likely: dict[str, float | None] | None = None, finish: str = "length") -> Output:
    return Output(
        text="".join(tokens), tokens=tokens, likely=tuple(likely for _ in tokens) if likely else (), finish=finish
    )


def alone(*tokens: str) -> Output:
    return output(*tokens, likely=dict(ALONE))


@pytest.mark.parametrize(
    ("loaded", "sameness", "message"),
    [
        (output("tide ", "tide "), "same", ""),
        (output("tide ", "wind "), "tie", "0.20 apart"),
        (output("tide ", "ship "), "corrupt", "3.30 behind"),
        (output("tide ", "rock "), "corrupt", "not among the likeliest"),
        (output("tide "), "tie", "became the end"),
        (output("rock ", "tide "), "corrupt", "parts at character 0"),
    ],
)
def test_the_likeliest_tokens_decide(loaded: Output, sameness: str, message: str) -> None:
    actual, why = correctness.compare_outputs(alone("tide ", "tide "), loaded, exact=False)
    assert actual == sameness
    assert message in why


def test_an_end_that_nothing_else_was_near_to_cannot_be_judged() -> None:
    sure = output("tide ", "tide ", likely={"tide ": -0.01, "wind ": -6.0})
    assert correctness.compare_outputs(sure, output("tide "), exact=False)[0] == "differs"


@given(st.floats(0, 2 * TIE))
def test_the_line_is_the_one_that_is_documented(gap: float) -> None:
    likely: dict[str, float | None] = {"tide ": -0.5, "wind ": -0.5 - gap}
    actual, _ = correctness.compare_outputs(output("tide ", likely=likely), output("wind "), exact=False)
    assert actual == ("tie" if -0.5 - (-0.5 - gap) <= TIE else "corrupt")


def test_an_exact_service_may_not_differ_at_all() -> None:
    assert correctness.compare_outputs(alone("tide "), output("wind "), exact=True)[0] == "corrupt"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (output("a ", likely={"a ": None}), "NaN"),
        (output(*["!"] * 16), "one token 16 times"),
        (Output(text="ab" * 30, finish="length"), "again and again"),
        (Output(text="  \n ", finish="length"), "nothing but blanks"),
        (Output(text="\ufffd" * 9, finish="stop"), "no text"),
        (output(*["!"] * 15), ""),
        (Output(text="Ha, ha, ha, ha! 1, 2, 3, 4, 5, 6, 7, 8", finish="stop"), ""),
        (Output(text="", finish="stop"), ""),
    ],
)
def test_what_is_no_text(answer: Output, why: str) -> None:
    message = correctness.explain_degenerate(answer)
    assert why in message
    assert bool(message) == bool(why)
