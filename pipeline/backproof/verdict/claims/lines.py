"""Which lines of a Python file the patch changed, and which of those can be executed."""

from __future__ import annotations

import ast
import difflib
from dataclasses import dataclass
from types import CodeType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangedLines:
    """Line numbers in the new file: all that the patch added or changed, and those of them with code."""

    changed: frozenset[int]
    executable: frozenset[int]
    in_functions: frozenset[int]
    """Those of the executable ones that run when a function is called, its head included."""
    statement: dict[int, frozenset[int]]
    """For each executable changed line: all lines of its statement (interpreters differ on which line they report)."""


def changed_lines(before: bytes | None, after: bytes) -> ChangedLines:
    """Compare two versions of a Python file.

    Raises:
        SyntaxError: our own Python cannot read the new one.
    """
    old = before.splitlines() if before else []
    matcher = difflib.SequenceMatcher(a=old, b=after.splitlines(), autojunk=False)
    changed = frozenset(
        line + 1 for kind, _, _, first, end in matcher.get_opcodes() if kind != "equal" for line in range(first, end)
    )
    tree = ast.parse(after)
    executable = changed & frozenset(_list_lines(compile(tree, "<patched>", "exec", dont_inherit=True)))
    spans = list(_list_spans(tree))
    return ChangedLines(
        changed=changed,
        executable=executable,
        in_functions=executable & frozenset(_list_function_lines(tree)),
        statement={line: _span_of(line, spans) for line in executable},
    )


def _list_lines(code: CodeType) -> Iterator[int]:
    yield from (line for _, _, line in code.co_lines() if line)
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _list_lines(const)


def _list_function_lines(tree: ast.AST) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _list_spans(tree: ast.AST) -> Iterator[range]:
    """The lines of each statement; of a compound one only its head, for its body can stay unreached."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            children = [
                item.pattern if isinstance(item, ast.match_case) else item for item in ast.iter_child_nodes(node)
            ]
            inner = [child.lineno for child in children if isinstance(child, ast.stmt | ast.pattern)]
            end = min(inner) - 1 if inner else node.end_lineno or node.lineno
            yield range(node.lineno, max(end, node.lineno) + 1)


def _span_of(line: int, spans: list[range]) -> frozenset[int]:
    around = sorted((len(span), span.start) for span in spans if line in span)
    return frozenset(range(around[0][1], sum(around[0]))) if around else frozenset({line})
