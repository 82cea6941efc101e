"""Whether code that somebody asked for is in a file: exactly, or written otherwise. Pure functions.

Formatting hides a landed suggestion (another line break, other quotes), and common code fakes one (`return None` is in
every file). So three comparisons, each looser than the one before, and what counts is that there is more of it than before.
"""

from __future__ import annotations

import ast
import io
import tokenize
from textwrap import dedent
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

Landed = Literal["exactly", "after-formatting", "no"]

_CLOSERS = {")", "]", "}"}
_LARGEST = 2_000_000


def find_landed(code: str, before: str | None, after: str, *, python: bool) -> Landed:
    """Whether `after` has the code, and has it more often than `before` (None: not known, then once is enough)."""
    known = before or ""
    if _find_lines(code, after) > _find_lines(code, known):
        return "exactly"
    if _find_formatted(code, after, python=python) > _find_formatted(code, known, python=python):
        return "after-formatting"
    return "no"


def is_gone(code: str, before: str, after: str) -> Landed:
    """Whether code that was to be deleted is there less often."""
    return "exactly" if _find_lines(code, after) < _find_lines(code, before) else "no"


def is_present(code: str, text: str, *, python: bool) -> bool:
    return bool(_find_lines(code, text) or _find_formatted(code, text, python=python))


def _find_lines(code: str, text: str) -> int:
    """How often the lines stand together in the text, indentation included."""
    wanted = tuple(line.rstrip() for line in code.strip("\n").splitlines())
    return _count_runs(wanted, tuple(map(str.rstrip, text.splitlines())))


def _find_formatted(code: str, text: str, *, python: bool) -> int:
    if len(text) > _LARGEST:
        return 0
    if not python:
        return _count_runs(tuple(code.split()), tuple(text.split()))
    return _find_statements(code, text) or _count_runs(_list_tokens(code), _list_tokens(text))


def _find_statements(code: str, text: str) -> int:
    """How often these statements follow each other in one block, compared as syntax."""
    wanted = parse_statements(code)
    bodies = _list_bodies(_parse_code(text)) if wanted else ()
    return sum(_count_runs(wanted, tuple(map(ast.dump, body))) for body in bodies)


def parse_statements(code: str) -> tuple[str, ...]:
    """The code's statements as syntax, without layout, quotes and comments; () when it is a fragment."""
    return tuple(map(ast.dump, _parse_code(dedent(code)).body))


def _parse_code(code: str) -> ast.Module:
    """The syntax tree; an empty one for what cannot be parsed."""
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module(body=[], type_ignores=[])


def _list_bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            found = getattr(node, name, None)
            if isinstance(found, list) and found:
                yield found


def _list_tokens(code: str) -> tuple[str, ...]:
    """The tokens of a fragment, as far as it can be read; a comma before a closing bracket is layout."""
    found: list[str] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(dedent(code)).readline):
            if token.type == tokenize.COMMENT or not token.string.strip():
                continue
            if token.string in _CLOSERS and found and found[-1] == ",":
                found.pop()
            found.append(token.string)
    except (tokenize.TokenError, SyntaxError):
        pass
    return tuple(found)


def _count_runs(wanted: tuple[str, ...], found: tuple[str, ...]) -> int:
    if not any(wanted):
        return 0
    size = len(wanted)
    starts = (index for index in range(len(found) - size + 1) if found[index] == wanted[0])
    return sum(found[index : index + size] == wanted for index in starts)
