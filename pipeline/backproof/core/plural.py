"""Numbers with their nouns, for sentences that people post under their own names."""

from __future__ import annotations


def format_count(number: int, noun: str) -> str:
    """Return `1 file`, `2 files`, `3 branches`."""
    ending = "" if number == 1 else "es" if noun.endswith("ch") else "s"
    return f"{number} {noun}{ending}"


def format_all(number: int, noun: str) -> str:
    """Return `the one file`, `all 2 files`."""
    return f"the one {noun}" if number == 1 else f"all {format_count(number, noun)}"


def differ_or_differs(count: int) -> str:
    return "differs" if count == 1 else "differ"


def is_or_are(number: int) -> str:
    """Return the verb that goes with a number."""
    return "is" if number == 1 else "are"
