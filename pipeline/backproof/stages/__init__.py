"""The stages in their order. A new stage is a module here and one line in STAGES."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from backproof.stages import fixup, install, pick, report, triage, validate, verify

if TYPE_CHECKING:
    from backproof.rundir.context import Stage

STAGES: Final[tuple[Stage, ...]] = (pick, fixup, install, verify, validate, triage, report)
