"""Builds a run from what the user asked for, and hands it to the runner."""

from __future__ import annotations

import os
import shutil
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backproof import __version__, devices
from backproof.adapters.git import Source
from backproof.adapters.git.address import take_password
from backproof.app import progress, runner
from backproof.app.origin import describe_origin
from backproof.core.errors import NeedsReview, PlanError, TargetError
from backproof.core.plural import format_count
from backproof.devices import DEVICES
from backproof.devices.operator_source import describe_source, leave_source_out
from backproof.install import overlay
from backproof.install.interpreter import probe_target, read_target
from backproof.install.overlay.journal import hash_file
from backproof.kit.loader import load_plan
from backproof.kit.plan import Service
from backproof.records.proof import Run, Settings, Subject, Target
from backproof.rundir import listing, loaded_run, subject
from backproof.rundir.context import Context, R, prepare_service
from backproof.rundir.ledger import Ledger, now
from backproof.stages import PIPELINE, REGISTRY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from backproof.kit.plan import Plan
    from backproof.records.proof import InstalledFile
    from backproof.rundir.context import Say, Stage

NAMES = tuple(stage.NAME for stage in PIPELINE)
_NEEDED = {
    "kit": "name a kit, for example patches/19353",
    "repo": "give --repo; `backproof demo` brings its own",
    "python": "give --python; `backproof demo` brings its own",
}
"""What a new run must be told, and how."""
_NAMED = ("kit", "repo", "branch", "python", "device", "operator_source")


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
    operator_source: str | None = None
    wait: float = 0
    published: bool = False
    """The repository is the published release's own files, not upstream's history."""


def name_folder(stem: str) -> Path:
    """Return the folder of a new run, below `runs/`."""
    return Path("runs") / f"{stem}-{datetime.now(UTC):%Y%m%dT%H%M%S}"


def run_pipeline(
    request: Request, say: Say, *, first: str = NAMES[0], last: str = NAMES[-1], beside: tuple[Stage, ...] = ()
) -> Run:
    """Run the whole pipeline, or the part from `first` to `last`; what changed outside the run folder is undone at the end.

    Stages on request that are given as `beside` run before the last one.
    """
    *stages, final = PIPELINE[NAMES.index(first) : NAMES.index(last) + 1]
    return _run_stages(request, say, (*stages, *beside, final), hold=False)


def run_alone(request: Request, say: Say, name: str) -> Run:
    """Run one stage of the pipeline. An overlay that it puts in place stays until it is undone."""
    return _run_stages(request, say, (PIPELINE[NAMES.index(name)],), hold=True)


def run_on_request(request: Request, say: Say, stage: Stage, options: object = None) -> Run:
    """Run a stage that is not part of every run, and the report that then tells of it, too."""
    return _run_stages(request, say, (stage, PIPELINE[-1]), hold=False, options=options)


def add_beside(folder: Path, say: Say, stage: Stage, record: type[R], options: object, *, kit: str = "") -> R:
    """Add what is no part of the proof to a finished run, and return its record.

    The run's target is not needed. Its kit is the run's own, or `kit` where the run comes from another machine.
    """
    ledger = Ledger(folder)
    with ledger.hold_lock():
        current = loaded_run.require_run(ledger)
        with _open_context(ledger, Path(kit or current.settings.kit), current, say, options=options) as ctx:
            runner.add_beside(ctx, stage)
            return ctx.require_record(record)


def undo_overlay(request: Request, say: Say, *, force: bool) -> str:
    """Take a held overlay out of the target; what was there before is there again.

    The folder is that of the run, wherever it is now, or the site-packages itself.

    Raises:
        NeedsReview: files that someone changed meanwhile, or that hold the patch and are nobody's overlay.
    """
    sites = [request.folder] if overlay.has_overlay(request.folder) else _find_sites(request)
    undone = [done for site in sites if (done := overlay.undo_overlay(site, force=force))]
    for done in undone:
        left = f"; not of the release that was patched, and left: {', '.join(done.left)}" if done.left else ""
        say(f"{done.site}: {len(done.restored)} restored, {len(done.removed)} removed{left}")
    return f"{format_count(len(undone), 'target')} put back" if undone else "there was nothing to put back"


def _find_sites(request: Request) -> list[Path]:
    """Ask the target itself: a note elsewhere is of the folder and the user that the run had then."""
    must_be_of_its_run(request)
    ledger = Ledger(request.folder)
    current = loaded_run.require_run(ledger)
    record = loaded_run.load_run(ledger, current, REGISTRY).install
    places = [*([Path(record.location)] if record else []), *_list_import_folders(Path(current.settings.python))]
    sites = overlay.list_sites_of(ledger.folder, current.id, places)
    if not sites and record and (patched := [file.installed for file in record.files if _is_patched(file)]):
        raise NeedsReview(
            f"{record.location}: {format_count(len(patched), 'file')} of the patch still there, without a journal",
            why=f"{', '.join(patched[:3])}: what was there before is known to nobody",
            next_step="reinstall the distribution into that environment",
        )
    return sites


def find_target(the_plan: Plan, settings: Settings) -> Target | None:
    """Ask the interpreter what it has. What cannot be asked now is refused where it is needed, with its reason."""
    name, service = the_plan.install.distribution, prepare_service(the_plan.verify.service, DEVICES[settings.device])
    try:
        return read_target(name, probe_target(Path(settings.python), distribution=name, service=service).facts)
    except (PlanError, TargetError):
        return None


def _list_import_folders(python: Path) -> list[Path]:
    if not python.exists():
        return []
    try:
        facts = probe_target(python, distribution="", service=Service()).facts
    except TargetError:
        return []  # an environment that is broken: what is noted of it counts
    return [Path(item.entry) for item in facts.path]


def _is_patched(file: InstalledFile) -> bool:
    return file.before != file.after and hash_file(Path(file.installed)) == file.after


def _run_stages(request: Request, say: Say, stages: Sequence[Stage], *, hold: bool, options: object = None) -> Run:
    with open_run(request, say, hold=hold, options=options) as ctx:
        progress.expect(listing.measure_earlier(ctx.ledger.folder, ctx.plan.id))
        return runner.run_stages(ctx, ctx.run, stages)


@contextmanager
def open_run(request: Request, say: Say, *, hold: bool = False, options: object = None) -> Iterator[Context]:
    """Lock the run folder and load its plan and settings; effects are undone when the block ends."""
    ledger = Ledger(request.folder)
    settings = _read_settings(request, known := ledger.load_run())
    kit = Path(settings.kit)
    the_plan = load_plan(kit, DEVICES)
    if known:
        subject.must_be_of_kit(ledger.folder, known, kit, the_plan.id)
    _locate_interpreter(settings.python)
    devices.get_device(settings.device)
    if settings.operator_source:
        say(describe_source(the_plan, settings.operator_source))
    else:
        the_plan = leave_source_out(the_plan)
    with ledger.hold_lock():
        if aside := ledger.set_aside():
            say(f"run.json was of another version or cut; it is kept as {aside.name} and the run starts afresh")
        overlay.recover_all_sites(say)
        current = runner.save_begun(ledger, _read_current(ledger, the_plan, settings, published=request.published))
        with _open_context(
            ledger, kit, current, say, loaded_plan=the_plan, hold=hold, wait=request.wait, options=options
        ) as ctx:
            yield ctx


@contextmanager
def _open_context(ledger: Ledger, kit: Path, current: Run, say: Say, **facts: Any) -> Iterator[Context]:
    ctx = Context(
        ledger=ledger,
        kit=kit,
        settings=current.settings,
        registry=REGISTRY,
        devices=DEVICES,
        run=current,
        say=say,
        **facts,
    )
    with ctx.effects:
        yield ctx


def must_be_of_its_run(request: Request) -> None:
    """Refuse options that name another subject than the run in the folder has; a new folder takes any.

    Raises:
        PlanError: they do. Nothing was touched.
    """
    if known := Ledger(request.folder).load_run():
        _read_settings(request, known)


def _read_settings(request: Request, known: Run | None) -> Settings:
    if known is None:
        return _begin_settings(request)
    subject.must_be_of(request.folder, known.settings, known.settings.model_copy(update=_read_options(request)))
    return known.settings


def _read_options(request: Request) -> dict[str, Any]:
    """What the options name, as a run keeps it."""
    kept: dict[str, Callable[[str], str]] = {
        "kit": _make_absolute,
        "repo": _locate_repository,
        "python": _locate_interpreter,
        "operator_source": _make_absolute,
    }
    given = {name: getattr(request, name) for name in _NAMED}
    named: dict[str, Any] = {name: kept.get(name, str)(value) for name, value in given.items() if value}
    return named if request.signoff is None else {**named, "signoff": request.signoff}


def _begin_settings(request: Request) -> Settings:
    """The settings of a new run, with the defaults of what was not named."""
    for name, advice in _NEEDED.items():
        if not getattr(request, name):
            raise PlanError(
                f"{request.folder}: no {name} is known here", why="this run folder is new", next_step=advice
            )
    the_plan = load_plan(Path(request.kit or ""), DEVICES)
    return Settings(**{"branch": the_plan.branch[0].name, "device": devices.DEFAULT, **_read_options(request)})


def _make_absolute(path: str) -> str:
    return str(Path(path).absolute())


def _locate_repository(name: str) -> str:
    """A path or a URL, without a password."""
    return _make_absolute(name) if Path(name).exists() else take_password(name)


def _locate_interpreter(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise PlanError(
            f"{name}: no such interpreter",
            why="it is neither a program on PATH nor an executable file",
            next_step="give the target's interpreter with --python; a run goes on with the one that it was begun with",
        )
    # Not resolved: a virtual environment is told by the path of the link, not by what the link points at.
    return str(Path(found).absolute())


def _read_current(ledger: Ledger, the_plan: Plan, settings: Settings, *, published: bool = False) -> Run:
    """The run as it is known here: a command that fails at once must not unsay its outcome.

    It is read again: before the lock was held, another process may have begun or ended a run here.
    """
    tool = f"backproof {__version__}"
    if known := ledger.load_run():
        subject.must_be_of(ledger.folder, known.settings, settings)
        subject.must_be_of_kit(ledger.folder, known, Path(settings.kit), the_plan.id)
        return known.model_copy(update={"tool": tool, "origin": describe_origin(), "title": the_plan.title})
    source = Source.open(settings.repo, pull=the_plan.upstream.pull)
    return Run(
        tool=tool,
        origin=describe_origin(),
        id=uuid.uuid4().hex[:12],
        kit=the_plan.id,
        title=the_plan.title,
        settings=settings,
        subject=Subject(
            kit=subject.hash_kit(Path(settings.kit)),
            tip=source.resolve_branch(settings.branch),
            target=find_target(the_plan, settings),
            published=published,
            image=os.environ.get("BACKPROOF_IMAGE", ""),
        ),
        started=now(),
    )
