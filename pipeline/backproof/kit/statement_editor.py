"""Statements put behind an anchor with libcst, a module of its own: importing libcst takes longer than most commands run."""

from __future__ import annotations

import ast
from dataclasses import dataclass

import libcst as cst


@dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    """The edited source, how often the anchor was met, and whether the statements stood there already."""

    source: bytes
    anchors: int
    present: bool


def insert_behind(source: bytes, *, scope: str, after: str, insert: str) -> Edit:
    """Put the statements of `insert` behind the statement `after` of a function, class or module.

    Raises:
        ValueError: the source is not Python.
    """
    try:
        module = cst.parse_module(source)
    except cst.ParserSyntaxError as error:
        raise ValueError(error.message) from error
    editor = _Editor(module, scope=scope, after=after, insert=insert)
    return Edit(source=module.visit(editor).bytes, anchors=editor.anchors, present=editor.present)


class _Editor(cst.CSTTransformer):
    """Walks to the scope and edits each statement list in it."""

    def __init__(self, module: cst.Module, *, scope: str, after: str, insert: str) -> None:
        super().__init__()
        self.module = module
        self.wanted = _dump_statement(after)
        self.lines = cst.parse_module(insert.rstrip() + "\n", config=module.config_for_parsing).body
        self.new = [ast.dump(statement) for statement in ast.parse(insert).body]
        self.scope = scope
        self.path: list[str] = []
        self.anchors = 0
        self.present = False

    def _enter(self, node: cst.FunctionDef | cst.ClassDef) -> None:
        self.path.append(node.name.value)

    def _leave(self, original_node: object, updated_node: cst.BaseStatement) -> cst.BaseStatement:  # noqa: ARG002
        self.path.pop()
        return updated_node

    visit_FunctionDef = visit_ClassDef = _enter  # noqa: N815 - libcst's names
    leave_FunctionDef = leave_ClassDef = _leave  # noqa: N815

    def leave_IndentedBlock(self, _: cst.IndentedBlock, updated: cst.IndentedBlock) -> cst.IndentedBlock:  # noqa: N802
        return updated.with_changes(body=self._edit_body(updated.body))

    def leave_Module(self, _: cst.Module, updated: cst.Module) -> cst.Module:  # noqa: N802
        return updated.with_changes(body=self._edit_body(updated.body))

    def _edit_body(self, body: object) -> list[cst.BaseStatement]:
        statements: list[cst.BaseStatement] = list(body)  # type: ignore[call-overload] # a sequence of statements in both node types
        if ".".join(self.path) != self.scope:
            return statements
        dumps = [_dump_statement(self.module.code_for_node(statement).strip("\n")) for statement in statements]
        edited: list[cst.BaseStatement] = []
        for index, statement in enumerate(statements):
            edited.append(statement)
            if dumps[index] == self.wanted:
                self.anchors += 1
                self.present = dumps[index + 1 : index + 1 + len(self.new)] == self.new
                edited.extend(self.lines)
        return edited


def _dump_statement(code: str) -> str:
    """Return one statement as syntax; nothing for code that is not one."""
    try:
        body = ast.parse(code).body
    except (SyntaxError, ValueError):
        return ""
    return ast.dump(body[0]) if len(body) == 1 else ""
