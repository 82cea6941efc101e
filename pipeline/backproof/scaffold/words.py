"""Text from outside as a word of TOML, or as one line of a comment."""

from __future__ import annotations


def line(text: str) -> str:
    """One line without controls, bounded: for comments and titles."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())[:300]


def toml(value: str) -> str:
    """A TOML basic string, see https://toml.io/en/v1.0.0#string for what it must escape."""
    escaped = "".join(
        f"\\{each}" if each in '"\\' else (each if each.isprintable() else f"\\u{_scalar(each):04x}") for each in value
    )
    return f'"{escaped}"'


def _scalar(each: str) -> int:
    """A surrogate stands for a byte that was no UTF-8, and TOML has none: what is shown for it is the replacement."""
    code = min(ord(each), 0xFFFF)
    return 0xFFFD if 0xD800 <= code <= 0xDFFF else code
