"""Builds a run from what the user asked for, and hands it to the runner."""

from __future__ import annotations

import shutil
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backproof import __version__, devices
from backproof.app import runner
from backproof.core.errors import PlanError
from backproof.core.plural import counted
from backproof.install import overlay
from backproof.kit import plan
from backproof.records.proof import Run, Settings
from backproof.rundir import subject
from backproof.rundir.context import Context
from backproof.rundir.ledger import Ledger, now
from backproof.stages import STAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from backproof.rundir.context import Stage

NAMES = tuple(stage.NAME for stage in STAGES)


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """What the user gave; None where the run folder already knows. A run that was begun takes no other value."""

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
    must_be_of_its_run(request)
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
    settings = _settings(request, known := ledger.load_run())
    kit = Path(settings.kit)
    the_plan = plan.load(kit)
    if known:
        subject.must_be_of_kit(ledger.folder, known, the_plan.id)
    _interpreter(settings.python)
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


def must_be_of_its_run(request: Request) -> None:
    """Refuse options that name another subject than the run in the folder has; a new folder takes any.

    Raises:
        PlanError: they do. Nothing was touched.
    """
    if known := Ledger(request.folder).load_run():
        _settings(request, known)


def _settings(request: Request, known: Run | None) -> Settings:
    if known is None:
        return _begun(request)
    subject.must_be_of(request.folder, known.settings, known.settings.model_copy(update=_given(request)))
    return known.settings


def _given(request: Request) -> dict[str, Any]:
    """What the options name, as a run keeps it."""
    kept: dict[str, Callable[[str], str]] = {"kit": _absolute, "repo": _repository, "python": _interpreter}
    given = {name: getattr(request, name) for name in ("kit", "repo", "branch", "python", "device")}
    named: dict[str, Any] = {name: kept.get(name, str)(value) for name, value in given.items() if value}
    return named if request.signoff is None else {**named, "signoff": request.signoff}


def _begun(request: Request) -> Settings:
    """The settings of a new run, with the defaults of what was not named."""
    if not request.kit:
        raise PlanError(
            f"{request.folder}: no kit is known here",
            why="this run folder is new",
            next_step="name a kit, for example patches/19353",
        )
    the_plan = plan.load(Path(request.kit))
    if not (request.repo and request.python):
        missing = "--python" if request.repo else "--repo"
        raise PlanError(
            f"{missing} is missing",
            why="this run folder does not know it yet",
            next_step=f"give {missing}; `backproof demo` brings its own",
        )
    return Settings(**{"branch": the_plan.branch[0].name, "device": "emulator", **_given(request)})


def _absolute(path: str) -> str:
    return str(Path(path).absolute())


def _repository(name: str) -> str:
    """A path or a URL."""
    return _absolute(name) if Path(name).exists() else name


def _interpreter(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise PlanError(
            f"{name}: no such interpreter",
            why="it is neither a program on PATH nor an executable file",
            next_step="give the target's interpreter with --python; a run goes on with the one that it was begun with",
        )
    # Not resolved: a virtual environment is told by the path of the link, not by what the link points at.
    return str(Path(found).absolute())


def _current(ledger: Ledger, the_plan: plan.Plan, settings: Settings) -> Run:
    """The run as it is known here: a command that fails at once must not unsay its outcome.

    It is read again: before the lock was held, another process may have begun or ended a run here.
    """
    tool = f"backproof {__version__}"
    if known := ledger.load_run():
        subject.must_be_of(ledger.folder, known.settings, settings)
        subject.must_be_of_kit(ledger.folder, known, the_plan.id)
        return known.model_copy(update={"tool": tool, "title": the_plan.title})
    return Run(
        tool=tool, id=uuid.uuid4().hex[:12], kit=the_plan.id, title=the_plan.title, settings=settings, started=now()
    )
