"""Anchored insertion: put statements behind one statement of a function, or refuse.

The anchor is compared as syntax, so formatting and comments of the release do not matter; libcst keeps every other
byte of the file as it is.
"""

from __future__ import annotations

import ast
import tomllib
from typing import TYPE_CHECKING, Annotated, Literal

import libcst as cst
from pydantic import Field, ValidationError

from backproof.core.errors import NeedsReview, PlanError
from backproof.core.model import Record

if TYPE_CHECKING:
    from pathlib import Path


class Insertion(Record):
    """fixups/<id>.toml."""

    schema_: Literal[1] = Field(alias="schema")
    file: str
    scope: Annotated[str, Field(description="dotted name of the function or class; '' for the module")]
    after: Annotated[str, Field(description="the one statement behind which to insert")]
    insert: Annotated[str, Field(description="the statements to insert")]


def load(path: Path) -> Insertion:
    """Read an insertion.

    Raises:
        PlanError: with file, key and reason.
    """
    try:
        found = Insertion.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        _one_statement(found.after)
        ast.parse(found.insert)
    except ValidationError as error:
        lines = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
        raise PlanError(
            f"{path}: the fix-up is invalid", why="; ".join(lines), next_step="correct the fix-up"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, SyntaxError, ValueError, OSError) as error:
        raise PlanError(f"{path}: the fix-up is invalid", why=str(error), next_step="correct the fix-up") from error
    return found


def insert(source: bytes, insertion: Insertion) -> bytes | None:
    """The file with the statements behind the anchor; None when they stand there already.

    Raises:
        NeedsReview: the anchor is missing or met twice, or the file is not Python.
    """
    try:
        module = cst.parse_module(source)
    except cst.ParserSyntaxError as error:
        raise _refused(insertion, f"the file is not Python that can be read: {error.message}") from error
    editor = _Editor(module, insertion)
    changed = module.visit(editor)
    if editor.anchors != 1:
        met = "is not there" if editor.anchors == 0 else f"is met {editor.anchors} times"
        raise _refused(insertion, f"in {insertion.scope or 'the module'} the anchor {met}: {insertion.after}")
    return None if editor.present else changed.bytes


def _refused(insertion: Insertion, why: str) -> NeedsReview:
    return NeedsReview(
        f"{insertion.file}: the fix-up cannot be placed",
        why=why,
        next_step="look at the file on this branch and correct the fix-up's anchor, or drop the fix-up from the plan",
    )


def _one_statement(code: str) -> str:
    body = ast.parse(code).body
    if len(body) != 1:
        raise ValueError(f"after: must be one statement, it has {len(body)}")
    return ast.dump(body[0])


class _Editor(cst.CSTTransformer):
    """Walks to the scope and edits each statement list in it."""

    def __init__(self, module: cst.Module, insertion: Insertion) -> None:
        super().__init__()
        self.module = module
        self.wanted = _one_statement(insertion.after)
        self.lines = cst.parse_module(insertion.insert.rstrip() + "\n", config=module.config_for_parsing).body
        self.new = [ast.dump(each) for each in ast.parse(insertion.insert).body]
        self.scope = insertion.scope
        self.path: list[str] = []
        self.anchors = 0
        self.present = False

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:  # noqa: N802 - libcst's names
        self.path.append(node.name.value)

    def leave_FunctionDef(self, _: cst.FunctionDef, updated: cst.FunctionDef) -> cst.FunctionDef:  # noqa: N802
        self.path.pop()
        return updated

    def visit_ClassDef(self, node: cst.ClassDef) -> None:  # noqa: N802
        self.path.append(node.name.value)

    def leave_ClassDef(self, _: cst.ClassDef, updated: cst.ClassDef) -> cst.ClassDef:  # noqa: N802
        self.path.pop()
        return updated

    def leave_IndentedBlock(self, _: cst.IndentedBlock, updated: cst.IndentedBlock) -> cst.IndentedBlock:  # noqa: N802
        return updated.with_changes(body=self._edited(updated.body))

    def leave_Module(self, _: cst.Module, updated: cst.Module) -> cst.Module:  # noqa: N802
        return updated.with_changes(body=self._edited(updated.body))

    def _edited(self, body: object) -> list[cst.BaseStatement]:
        statements: list[cst.BaseStatement] = list(body)  # type: ignore[call-overload] # a sequence of statements in both node types
        if ".".join(self.path) != self.scope:
            return statements
        dumps = [self._dump(each) for each in statements]
        edited: list[cst.BaseStatement] = []
        for index, statement in enumerate(statements):
            edited.append(statement)
            if dumps[index] == self.wanted:
                self.anchors += 1
                self.present = dumps[index + 1 : index + 1 + len(self.new)] == self.new
                edited.extend(self.lines)
        return edited

    def _dump(self, statement: cst.BaseStatement) -> str:
        try:
            return _one_statement(self.module.code_for_node(statement).strip("\n"))
        except (SyntaxError, ValueError):
            return ""
