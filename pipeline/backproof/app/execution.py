"""Builds a run from what the user asked for, and hands it to the runner."""

from __future__ import annotations

import shutil
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backproof import __version__, devices
from backproof.app import runner
from backproof.core.errors import PlanError
from backproof.core.plural import counted
from backproof.install import overlay
from backproof.kit import plan
from backproof.records.proof import Run, Settings
from backproof.rundir.context import Context
from backproof.rundir.ledger import Ledger, now
from backproof.stages import STAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from backproof.rundir.context import Stage

NAMES = tuple(stage.NAME for stage in STAGES)


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """What the user gave; None where the run folder already knows."""

    folder: Path
    kit: str | None = None
    repo: str | None = None
    branch: str | None = None
    python: str | None = None
    device: str | None = None
    signoff: bool | None = None


def run(request: Request, say: Callable[[str], None], *, first: str = NAMES[0], last: str = NAMES[-1]) -> Run:
    """The whole pipeline, or the part from `first` to `last`; what changed outside the run folder is undone at the end."""
    return _execute(request, say, STAGES[NAMES.index(first) : NAMES.index(last) + 1], hold=False)


def stage(request: Request, say: Callable[[str], None], name: str) -> Run:
    """One stage alone. An overlay that `install` puts in place stays until it is undone."""
    return _execute(request, say, (STAGES[NAMES.index(name)],), hold=True)


def apart(request: Request, say: Callable[[str], None], stage_apart: Stage) -> Run:
    """A stage that is not part of every run, and the report that then tells of it, too."""
    return _execute(request, say, (stage_apart, STAGES[-1]), hold=False)


def undo(request: Request, say: Callable[[str], None], *, force: bool) -> str:
    """Take a held overlay out of the target; what was there before is there again."""
    done = overlay.undo_all_of(str(Ledger(request.folder).folder), force=force)
    for site in done:
        say(f"{site}: put back")
    return f"{counted(len(done), 'target')} put back" if done else "there was nothing to put back"


def _execute(request: Request, say: Callable[[str], None], stages: Sequence[Stage], *, hold: bool) -> Run:
    with opened(request, say, hold=hold) as (ctx, current):
        return runner.execute(ctx, current, stages)


@contextmanager
def opened(request: Request, say: Callable[[str], None], *, hold: bool) -> Iterator[tuple[Context, Run]]:
    """The run folder, locked, with its plan and settings; effects are undone when the block ends."""
    ledger = Ledger(request.folder)
    settings = _settings(request, ledger.load_run())
    kit = Path(settings.kit)
    the_plan = plan.load(kit)
    devices.get(settings.device)
    with ledger.locked():
        if aside := ledger.set_aside():
            say(f"run.json was of another version or cut; it is kept as {aside.name} and the run starts afresh")
        overlay.recover_all(say)
        current = _current(ledger, the_plan, settings)
        ledger.save_run(current)
        ctx = Context(ledger=ledger, plan=the_plan, kit=kit, settings=settings, say=say, hold=hold)
        with ctx.effects:
            yield ctx, current


def _settings(request: Request, known: Run | None) -> Settings:
    old = known.settings if known else None
    kit = request.kit or (old.kit if old else None)
    if kit is None:
        raise PlanError(
            f"{request.folder}: no kit is known here",
            why="this run folder is new",
            next_step="name a kit, for example patches/19353",
        )
    the_plan = plan.load(Path(kit))
    repo = request.repo or (old.repo if old else None)
    python = request.python or (old.python if old else None)
    if repo is None or python is None:
        missing = "--repo" if repo is None else "--python"
        raise PlanError(
            f"{missing} is missing",
            why="this run folder does not know it yet",
            next_step=f"give {missing}; `backproof demo` brings its own",
        )
    return Settings(
        kit=str(Path(kit).absolute()),
        repo=str(Path(repo).absolute()) if Path(repo).exists() else repo,
        branch=request.branch or (old.branch if old else the_plan.branch[0].name),
        python=_interpreter(python),
        device=request.device or (old.device if old else "emulator"),
        signoff=request.signoff if request.signoff is not None else bool(old and old.signoff),
    )


def _interpreter(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise PlanError(
            f"{name}: no such interpreter",
            why="it is neither a program on PATH nor an executable file",
            next_step="give the target's interpreter with --python",
        )
    # Not resolved: a virtual environment is told by the path of the link, not by what the link points at.
    return str(Path(found).absolute())


def _current(ledger: Ledger, the_plan: plan.Plan, settings: Settings) -> Run:
    """The run as it is known here, under the settings of now: a command that fails at once must not unsay its outcome."""
    tool = f"backproof {__version__}"
    if known := ledger.load_run():
        facts = {"tool": tool, "kit": the_plan.id, "title": the_plan.title, "settings": settings}
        return known.model_copy(update=facts)
    return Run(
        tool=tool, id=uuid.uuid4().hex[:12], kit=the_plan.id, title=the_plan.title, settings=settings, started=now()
    )
