"""Anchored insertion: put statements behind one statement of a function, or refuse.

The anchor is compared as syntax, so formatting and comments of the release do not matter; libcst keeps every other
byte of the file as it is.
"""

from __future__ import annotations

import ast
import tomllib
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, ValidationError

from backproof.core.errors import NeedsReview, PlanError
from backproof.core.model import Record, describe_problems

if TYPE_CHECKING:
    from pathlib import Path


class Insertion(Record):
    """fixups/<id>.toml."""

    schema_: Literal[1] = Field(alias="schema")
    file: str
    scope: Annotated[str, Field(description="dotted name of the function or class; '' for the module")]
    after: Annotated[str, Field(description="the one statement behind which to insert")]
    insert: Annotated[str, Field(description="the statements to insert")]


def load_insertion(path: Path) -> Insertion:
    """Read an insertion.

    Raises:
        PlanError: with file, key and reason.
    """
    try:
        insertion = Insertion.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        _check_anchor(insertion.after)
        ast.parse(insertion.insert)
    except (SyntaxError, ValueError, OSError) as error:
        why = describe_problems(error) if isinstance(error, ValidationError) else str(error)
        raise PlanError(f"{path}: the fix-up is invalid", why=why, next_step="correct the fix-up") from error
    return insertion


def insert_statement(source: bytes, insertion: Insertion) -> bytes | None:
    """Return the file with the statements behind the anchor; None when they stand there already.

    Raises:
        NeedsReview: the anchor is missing or met twice, or the file is not Python.
    """
    from backproof.kit.statement_editor import insert_behind  # noqa: PLC0415 - libcst: only where a fix-up is applied

    try:
        edit = insert_behind(source, scope=insertion.scope, after=insertion.after, insert=insertion.insert)
    except ValueError as error:
        raise _refuse(insertion, f"the file is not Python that can be read: {error}") from error
    if edit.anchors != 1:
        met = "is not there" if edit.anchors == 0 else f"is met {edit.anchors} times"
        raise _refuse(insertion, f"in {insertion.scope or 'the module'} the anchor {met}: {insertion.after}")
    return None if edit.present else edit.source


def _refuse(insertion: Insertion, why: str) -> NeedsReview:
    return NeedsReview(
        f"{insertion.file}: the fix-up cannot be placed",
        why=why,
        next_step="look at the file on this branch and correct the fix-up's anchor, or drop the fix-up from the plan",
    )


def _check_anchor(code: str) -> None:
    count = len(ast.parse(code).body)
    if count != 1:
        raise ValueError(f"after: must be one statement, it has {count}")
