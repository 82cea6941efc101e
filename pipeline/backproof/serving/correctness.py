"""Are the outputs under load the outputs? A fix can turn a crash into wrong numbers, which nobody sees (post-mortem 6.4).

Greedy decoding gives the same tokens again, but for rounding: another batch size adds in another order, and where two
tokens are as likely the other one can win. So the likeliest tokens of the undisturbed output decide: a change between
near equals is a tie, a change to a token that was not in question is corruption.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.records.serving import Output

Sameness = Literal["same", "tie", "differs", "corrupt"]

TIE: Final = 0.5
"""Difference of log-probabilities below which rounding may turn the order. float16 logits of about 20 are 0.016 apart;
the sum over layers of a w8a8 model moves them by some tenths."""
_RUN: Final = 16
_REPEATED: Final = re.compile(r"(.{1,8}?)\1{23,}", re.DOTALL)
_REPLACEMENT: Final = "\ufffd"


def explain_degenerate(output: Output) -> str:
    """Return why an output is no text: NaN, one token again and again, nothing at all. Empty when it is text."""
    if any(value is None for position in output.likely for value in position.values()):
        return "a log-probability is NaN"
    if not output.text.strip() and output.finish == "length":
        return "nothing but blanks up to the length limit"
    if (run := _longest_run(output.tokens)) >= _RUN:
        return f"one token {run} times in a row"
    # NaN logits make argmax 0, which many vocabularies print as "!".
    if repeated := _REPEATED.search(output.text):
        return f"{repeated[1]!r} again and again"
    if output.text.count(_REPLACEMENT) > max(3, len(output.text) // 4):
        return "mostly bytes that are no text"
    return ""


def _longest_run(tokens: tuple[str, ...]) -> int:
    longest = run = 0
    for index, token in enumerate(tokens):
        run = run + 1 if index and token == tokens[index - 1] else 1
        longest = max(longest, run)
    return longest


def compare_outputs(alone: Output, loaded: Output, *, exact: bool) -> tuple[Sameness, str]:
    """Return how an output compares with the undisturbed one, and where they part."""
    if alone.text == loaded.text:
        return "same", ""
    where = _common_length(alone.tokens, loaded.tokens)
    text = f"parts at character {_common_length(alone.text, loaded.text)}: {_show_token(alone, where)} became {_show_token(loaded, where)}"
    if exact:
        return "corrupt", f"{text}; the plan says that the service is exact"
    gap = _measure_gap(alone, loaded, where)
    if gap is None:
        return "differs", f"{text}; the service tells no likelihoods, so rounding cannot be ruled out"
    if gap <= TIE:
        return "tie", f"{text}; they were {gap:.2f} apart"
    behind = "not among the likeliest" if gap == float("inf") else f"{gap:.2f} behind"
    return "corrupt", f"{text}; that token was {behind}"


def _common_length(left: Sequence[str], right: Sequence[str]) -> int:
    pairs = enumerate(zip(left, right, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(left), len(right)))


def _measure_gap(alone: Output, loaded: Output, where: int) -> float | None:
    """Return how much likelier the undisturbed token was than the one that came."""
    if where >= min(len(alone.likely), len(alone.tokens)):
        return None
    likely = alone.likely[where]
    best = likely.get(alone.tokens[where])
    if best is None:
        return None
    others = {token: value for token, value in likely.items() if token != alone.tokens[where] and value is not None}
    if where >= len(loaded.tokens):
        # The output ended, and services name the end each in their own way: only a near equal speaks for rounding.
        nearest = best - max(others.values(), default=float("-inf"))
        return nearest if nearest <= TIE else None
    other = others.get(loaded.tokens[where])
    return float("inf") if other is None else best - other


def _show_token(output: Output, where: int) -> str:
    if where < len(output.tokens):
        return repr(output.tokens[where][:40])
    return "the end" if output.tokens else repr(output.text[:40])
