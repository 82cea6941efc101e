"""Which tests the fix itself changes or adds: a test that turns green beside them is another kind of evidence."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backproof.adapters.git import Store
    from backproof.proving.subject import LaidOut


def list_touched(store: Store, subject: LaidOut) -> frozenset[str]:
    """Return the ids of test functions, without parameters, whose text the fix changes."""
    touched: set[str] = set()
    for path in subject.tests:
        before, after = (store.objects.read_file(tree, path) for tree in (subject.release, subject.base))
        old, new = dict(_list_functions(before)), dict(_list_functions(after))
        touched |= {f"{path}::{name}" for name, text in new.items() if old.get(name) != text}
    return frozenset(touched)


def strip_parameters(test: str) -> str:
    """`tests/a.py::TestB::test_c[d]` is `tests/a.py::TestB::test_c`."""
    return test.partition("[")[0]


def _list_functions(content: bytes | None) -> Iterator[tuple[str, str]]:
    try:
        tree = ast.parse(content or b"")
    except (SyntaxError, ValueError):
        return
    yield from _walk_body(tree.body, "")


def _walk_body(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, str]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _walk_body(node.body, f"{prefix}{node.name}::")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{node.name}", ast.dump(node)
