"""Which fix-up of the kit does what a reviewer asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from backproof.core.errors import PlanError
from backproof.kit import insertion as anchored
from backproof.upstream.audit.landing import parse_statements, present

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.kit.plan import Fixup, Plan


def find_closing(plan: Plan, kit: Path, path: str, code: str) -> str:
    """The id of the fix-up that puts this code into this file; '' when none does."""
    for item in plan.fixup:
        added = _list_added(kit, item, path)
        if added and _does_request(added, code):
            return item.id
    return ""


def _list_added(kit: Path, fixup: Fixup, path: str) -> str:
    """What a fix-up adds to a file; '' when it does not touch it or cannot be read."""
    file = kit / fixup.file
    if file.suffix == ".toml":
        try:
            insertion = anchored.load_insertion(file)
        except PlanError:
            return ""
        return insertion.insert if insertion.file == path else ""
    try:
        patch = PatchSet(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, UnidiffParseError):
        return ""
    hunks = [hunk for item in patch if item.path == path for hunk in item]
    return "".join(line.value for hunk in hunks for line in hunk if line.is_added)


def _does_request(added: str, code: str) -> bool:
    """A suggestion repeats what stands around it, so one shared statement that acts is enough."""
    shared = set(parse_statements(added)) & set(parse_statements(code))
    return bool(shared) or present(added, code, python=True) or present(code, added, python=True)
