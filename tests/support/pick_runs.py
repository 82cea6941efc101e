"""The stage `pick`, run over a repository with a branch `release`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.kit import plan
from backproof.records.proof import PickRecord, Settings
from backproof.rundir.ledger import Ledger
from backproof.stages import pick
from contexts import context_of
from kits import write_kit

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.rundir.context import Context
    from repositories import Repository


def run_pick(
    tmp_path: Path, repository: Repository, fix: str, *, drop: str = "/notes/", signoff: bool = False, pull: int = 7
) -> tuple[Context, PickRecord]:
    kit = write_kit(tmp_path / "kit", [fix])
    file = kit / plan.PLAN_FILE
    file.write_text(file.read_text().replace('"/notes/"', f'"{drop}"').replace("pull = 7", f"pull = {pull}"))
    repo = str(repository.folder)
    settings = Settings(kit=str(kit), repo=repo, branch="release", python="", device="emulator", signoff=signoff)
    ctx = context_of(Ledger(tmp_path / "run"), kit, settings)
    result = pick.run(ctx)
    ctx.ledger.save_run(ctx.run.model_copy(update={"stages": (result,)}))
    return ctx, ctx.require_record(PickRecord)
