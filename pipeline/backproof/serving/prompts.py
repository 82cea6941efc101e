"""Fixed prompts for a plan that has none: short and long, prose, numbers, code and Chinese, so that lengths differ."""

from __future__ import annotations

from typing import Final

_TALE: Final = "The keeper of the lighthouse wrote down the wind, the tide and the ships that passed, every evening. "

FIXED: Final = (
    "Count from one to forty in words, separated by commas: one, two, three,",
    "The capital of France is Paris. The capital of Japan is",
    "def fibonacci(n):\n    ",
    "List the planets of the solar system in order from the sun:\n1.",
    "用一句话解释什么是反向移植：",
    f"{_TALE * 12}Then one evening",
    f"{_TALE * 40}Summary of the text above:",
    "2, 4, 8, 16, 32, 64,",
)
