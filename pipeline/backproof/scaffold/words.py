"""Text from outside as a string of TOML."""

from __future__ import annotations


def quote_toml(value: str) -> str:
    """Return a TOML basic string that hides no character, see https://toml.io/en/v1.0.0#string."""
    return f'"{"".join(map(_escape_char, value))}"'


def _escape_char(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable():
        return char
    # TOML has no surrogates: each stands for a byte that was not UTF-8, and becomes the replacement character.
    code = 0xFFFD if 0xD800 <= ord(char) <= 0xDFFF else ord(char)
    return f"\\U{code:08x}" if code > 0xFFFF else f"\\u{code:04x}"
