"""Which fix-up of the kit does what a reviewer asked for."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from backproof.core.errors import PlanError
from backproof.history.fixups import read_added_text
from backproof.upstream.audit.landing import is_present, parse_statements

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.kit.plan import Plan


def find_closing(plan: Plan, kit: Path, path: str, code: str) -> str:
    """The id of the fix-up that puts this code into this file; '' when none does."""
    for fixup in plan.fixup:
        # The audit is of the pull request: a fix-up that cannot be read closes nothing there.
        with suppress(PlanError):
            if (added := read_added_text(kit / fixup.file, path)) and _does_request(added, code):
                return fixup.id
    return ""


def _does_request(added: str, code: str) -> bool:
    """A suggestion repeats what stands around it, so one shared statement that acts is enough."""
    shared = set(parse_statements(added)) & set(parse_statements(code))
    return bool(shared) or is_present(added, code, python=True) or is_present(code, added, python=True)
