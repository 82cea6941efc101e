"""The release's own tests that reach what the fix changes: no proof of the fix, but evidence that nothing else broke.

Which files may reach it is told by their text: they name a changed module, or a function or class whose lines change. Whether a test
does is seen when it runs: every test is traced.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from backproof.adapters.git.objects import TREE_MODE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from backproof.adapters.git.objects import Objects
    from backproof.proving.lanes import Lanes
    from backproof.proving.subject import LaidOut

_MOST: Final = 8
"""Files of tests that are tried, those that name most of the change first."""
_SHORTEST: Final = 4
"""Letters of a name that is looked for: shorter ones stand everywhere."""
_MODULE: Final = 5
"""What a module's whole name weighs more than the name of a function."""


def list_functions(objects: Objects, subject: LaidOut, lines: Mapping[str, Iterable[int]]) -> tuple[str, ...]:
    """Return the functions and classes around changed lines, as `path::Class.function`, for whoever writes a test of them."""
    names: dict[str, None] = {}
    for path, changed in lines.items():
        spans = list(_list_spans(ast.parse(objects.read_file(subject.fixed, path) or b"")))
        for line in changed:
            around = [name for name, first, last in spans if first <= line <= last]
            names |= {f"{path}::{around[-1]}": None} if around else {}
    return tuple(names)


def _list_spans(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, int, int]]:
    """Yield name and lines of each function and class, outer ones first."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{prefix}{node.name}"
            yield name, node.lineno, node.end_lineno or node.lineno
            yield from _list_spans(node, f"{name}.")
        else:
            yield from _list_spans(node, prefix)


def choose_files(
    objects: Objects, subject: LaidOut, lanes: Lanes, functions: Iterable[str], *, but: Iterable[str]
) -> tuple[str, ...]:
    """Return the files of tests of the release that name the change, the likeliest first."""
    pattern = _compile_pattern(subject, functions)
    left_out = set(but)
    weights: dict[str, int] = {}
    for path, content in _walk_tests(objects, subject.base, lanes, left_out):
        if weight := sum(_MODULE if match[1] else 1 for match in pattern.finditer(content)):
            weights[path] = weight
    return tuple(sorted(sorted(weights), key=lambda path: -weights[path])[:_MOST])


def _compile_pattern(subject: LaidOut, functions: Iterable[str]) -> re.Pattern[bytes]:
    """Return what finds whole names of modules (its first group) and names of functions and classes."""
    modules = {_name_module(path) for path in subject.code if path.endswith(".py")}
    imports = {
        rf"from {re.escape(head)} import [^\n]*\b{re.escape(last)}"
        for head, _, last in (name.rpartition(".") for name in modules)
        if head
    }
    whole = [re.escape(name) for name in modules if "." in name] + sorted(imports)
    parts = {part for name in functions for part in name.partition("::")[2].split(".") if len(part) >= _SHORTEST}
    names = sorted(part for part in parts if not part.startswith("__"))
    return re.compile(rf"\b(?:({'|'.join(whole) or '(?!)'})|{'|'.join(names) or '(?!)'})\b".encode())


def _name_module(path: str) -> str:
    return path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _walk_tests(objects: Objects, tree: str, lanes: Lanes, but: set[str]) -> Iterator[tuple[str, bytes]]:
    for path, oid in _walk_files(objects, tree, ""):
        if path.endswith(".py") and path not in but and lanes.is_test(path) and not lanes.explain_elsewhere(path):
            content = objects.read_object(oid, "blob")
            if lanes.has_tests(path, content):
                yield path, content


def _walk_files(objects: Objects, tree: str, prefix: str) -> Iterator[tuple[str, str]]:
    for name, entry in objects.read_tree(tree).items():
        if entry.mode == TREE_MODE:
            yield from _walk_files(objects, entry.oid, f"{prefix}{name}/")
        else:
            yield f"{prefix}{name}", entry.oid
