"""A run of a kit that went as its plan expects, made from the plan: no stage runs."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backproof.app.demo import choose_device
from backproof.core.model import Arm
from backproof.devices import DEVICES
from backproof.kit.loader import load_plan
from backproof.records.proof import LandedFixup
from stories import FIXED, PICKED, Folder, case

if TYPE_CHECKING:
    from backproof.kit.plan import Plan
    from backproof.records.proof import Case

MAIL = "From {sha} Mon Sep 17 00:00:00 2001\nSubject: change\n\n---\n{diff}\n"
FIRST = (
    "test_rows.py::test_all[4]: operator 'update', row 3, loads 1632 bytes of row -1 of 'state' at 1632 bytes before it"
)


def run_as_planned(kit: Path, folder: Path) -> tuple[Folder, Plan]:
    """Return the run folder and the plan of the kit."""
    plan = load_plan(kit, DEVICES)
    run = Folder(folder, choose_device(plan, kit))
    run.facts = {
        "kit": plan.id,
        "title": plan.title,
        "branch": plan.branch[0].name,
        "published": plan.target is not None,
        "distribution": plan.install.distribution,
        "version": plan.target.requirement.partition("==")[2] if plan.target else "1.0",
    }
    run.pick(commit={"wanted": plan.pick.commits[0], "dropped": ("release_notes/1.yaml",) if plan.pick.drop else ()})
    run.fixup(_write_patch(kit, plan), fixups=tuple(_land_fixups(plan)))
    run.install()
    run.verify()
    run.validate(list_cases(plan, run.device))
    return run, plan


def list_cases(plan: Plan, device: str) -> list[Case]:
    """Return the cases of each check under each model, as the plan expects them."""
    models = DEVICES[device].models(plan)
    return [
        _make_case(check.id, model, arm, getattr(expected, arm), role=expected.role)
        for arm in Arm
        for check in plan.check
        for model, expected in check.expected_under(models).items()
    ]


def _make_case(check: str, model: str, arm: Arm, observed: str, **facts: Any) -> Case:
    return case(model, arm, observed, check=check, first="" if observed == "pass" else FIRST, **facts)


def _land_fixups(plan: Plan) -> list[LandedFixup]:
    return [
        LandedFixup(id=item.id, reason=item.reason, outcome="applied", landed=FIXED, files=("pkg/rows.py",))
        for item in plan.fixup
    ]


def _write_patch(kit: Path, plan: Plan) -> str:
    mails = [MAIL.format(sha=PICKED, diff=_write_diff("-x = -1\n+x = n\n"))]
    for item in plan.fixup:
        inserted = tomllib.loads((kit / item.file).read_text())["insert"]
        mails.append(MAIL.format(sha=FIXED, diff=_write_diff(f" x = n\n+    {inserted}\n")))
    return "".join(mails)


def _write_diff(lines: str) -> str:
    return f"diff --git a/pkg/rows.py b/pkg/rows.py\n--- a/pkg/rows.py\n+++ b/pkg/rows.py\n@@ -1 +1 @@\n{lines}"
