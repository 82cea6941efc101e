"""Numbers with their nouns: people post these sentences under their own names."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """`1 file`, `2 files`, `3 branches`."""
    ending = "" if number == 1 else "es" if noun.endswith("ch") else "s"
    return f"{number} {noun}{ending}"


def every(number: int, noun: str) -> str:
    """`the one file`, `all 2 files`."""
    return f"the one {noun}" if number == 1 else f"all {counted(number, noun)}"


def are(number: int) -> str:
    """The verb that goes with a number."""
    return "is" if number == 1 else "are"
