"""The parameters of a function, read from its source."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet


@dataclass(frozen=True, kw_only=True, slots=True)
class Signature:
    """The parameters of one function, without `self`. `anything` where they cannot be told; `owner` is its class."""

    name: str
    owner: str = ""
    positional: tuple[str, ...] = ()
    positional_only: int = 0
    required: frozenset[str] = frozenset()
    keyword_only: frozenset[str] = frozenset()
    more_positional: bool = False
    more_keywords: bool = False
    anything: bool = False

    def find_refusal(self, positional: int, keywords: AbstractSet[str]) -> str:
        """Return why it does not take a call; empty when it does."""
        if self.anything:
            return ""
        if positional > len(self.positional) and not self.more_positional:
            return f"{self.name} takes {len(self.positional)} positional arguments, the call gives {positional}"
        by_name = {*self.positional[self.positional_only :], *self.keyword_only}
        if (unknown := sorted(keywords - by_name)) and not self.more_keywords:
            return f"{self.name} has no parameter {', '.join(unknown)}"
        given = {*self.positional[:positional], *keywords}
        if missing := sorted(self.required - given):
            return f"{self.name} requires {', '.join(missing)}, which the call does not give"
        return ""


def read_signatures(tree: ast.Module) -> Iterator[Signature]:
    """Yield every function, method and class of a module."""
    yield from _walk_definitions(tree, owner="")


def _walk_definitions(node: ast.AST, *, owner: str) -> Iterator[Signature]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield _read_function(child, owner=owner)
            yield from _walk_definitions(child, owner="")
        elif isinstance(child, ast.ClassDef):
            yield _read_class(child)
            yield from _walk_definitions(child, owner=child.name)
        elif not isinstance(child, ast.expr):
            yield from _walk_definitions(child, owner=owner)


def _read_function(node: ast.FunctionDef | ast.AsyncFunctionDef, *, owner: str, name: str = "") -> Signature:
    decorators = {_last_name(argument) for argument in node.decorator_list}
    # Any other decorator may change what is taken.
    if decorators - {"staticmethod", "classmethod", "abstractmethod", "override", "no_grad", "inference_mode"}:
        return Signature(name=name or node.name, owner="" if name else owner, anything=True)
    positional = [*node.args.posonlyargs, *node.args.args]
    first = 1 if owner and "staticmethod" not in decorators and positional else 0
    names = tuple(argument.arg for argument in positional[first:])
    needed = len(positional) - len(node.args.defaults) - first
    keyword_only = {
        argument.arg: default for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    }
    return Signature(
        name=name or node.name,
        owner="" if name else owner,
        positional=names,
        positional_only=max(0, len(node.args.posonlyargs) - first),
        required=frozenset({*names[: max(0, needed)], *(key for key, value in keyword_only.items() if value is None)}),
        keyword_only=frozenset(keyword_only),
        more_positional=node.args.vararg is not None,
        more_keywords=node.args.kwarg is not None,
    )


def _read_class(node: ast.ClassDef) -> Signature:
    """Read the class's own `__init__`, where it has one."""
    for child in node.body:
        if isinstance(child, ast.FunctionDef) and child.name == "__init__":
            return _read_function(child, owner=node.name, name=node.name)
    return Signature(name=node.name, anything=True)


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        return _last_name(node.func)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "?")
