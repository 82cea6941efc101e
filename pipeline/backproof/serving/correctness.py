"""Are the outputs under load the outputs? A fix can turn a crash into wrong numbers, which nobody sees (post-mortem 6.4).

Greedy decoding gives the same tokens again, but for rounding: another batch size adds in another order, and where two
tokens are as likely the other one can win. So the likeliest tokens of the undisturbed output decide: a change between
near equals is a tie, a change to a token that was not in question is corruption.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from backproof.records.serving import Output

Sameness = Literal["same", "tie", "differs", "corrupt"]

TIE: Final = 0.5
"""Difference of log-probabilities below which rounding may turn the order. float16 logits of about 20 are 0.016 apart;
the sum over layers of a w8a8 model moves them by some tenths."""
_RUN: Final = 16
_REPEATED: Final = re.compile(r"(.{1,8}?)\1{23,}", re.DOTALL)
_REPLACEMENT: Final = "\ufffd"


def degenerate(output: Output) -> str:
    """Why an output is no text: NaN, one token again and again, nothing at all. Empty when it is text."""
    if any(value is None for position in output.likely for value in position.values()):
        return "a log-probability is NaN"
    if not output.text.strip() and output.finish == "length":
        return "nothing but blanks up to the length limit"
    if (run := _longest_run(output.tokens)) >= _RUN:
        return f"one token {run} times in a row"
    # NaN logits make argmax 0, which many vocabularies print as "!".
    if found := _REPEATED.search(output.text):
        return f"{found[1]!r} again and again"
    if output.text.count(_REPLACEMENT) > max(3, len(output.text) // 4):
        return "mostly bytes that are no text"
    return ""


def _longest_run(tokens: tuple[str, ...]) -> int:
    longest = run = 0
    for index, token in enumerate(tokens):
        run = run + 1 if index and token == tokens[index - 1] else 1
        longest = max(longest, run)
    return longest


def compare(alone: Output, loaded: Output, *, exact: bool) -> tuple[Sameness, str]:
    """How an output compares with the undisturbed one, and where they part."""
    if alone.text == loaded.text:
        return "same", ""
    where = _parting(alone, loaded)
    said = (
        f"parts at character {_common(alone.text, loaded.text)}: {_shown(alone, where)} became {_shown(loaded, where)}"
    )
    if exact:
        return "corrupt", f"{said}; the plan says that the service is exact"
    gap = _gap(alone, loaded, where)
    if gap is None:
        return "differs", f"{said}; the service tells no likelihoods, so rounding cannot be ruled out"
    if gap <= TIE:
        return "tie", f"{said}; they were {gap:.2f} apart"
    return (
        "corrupt",
        f"{said}; that token was {'not among the likeliest' if gap == float('inf') else f'{gap:.2f} behind'}",
    )


def _parting(alone: Output, loaded: Output) -> int:
    pairs = zip(alone.tokens, loaded.tokens, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(alone.tokens), len(loaded.tokens)))


def _gap(alone: Output, loaded: Output, where: int) -> float | None:
    """How much likelier the undisturbed token was than the one that came."""
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


def _common(one: str, other: str) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _shown(output: Output, where: int) -> str:
    if where < len(output.tokens):
        return repr(output.tokens[where][:40])
    return "the end" if output.tokens else repr(output.text[:40])
