"""survey, explain, compare, cancelling, reproduce: questions about picks, answered from git objects alone."""

from __future__ import annotations

import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline import plan
from pipeline.adapters.git import Source, Store
from pipeline.commands import shown
from pipeline.commands.output import print_json, say
from pipeline.errors import ExitCode, PlanError
from pipeline.history import branches, reproduce
from pipeline.history.cancelling import cancelling
from pipeline.history.compare import Backport, compare
from pipeline.history.explain import explain
from pipeline.history.fixups import amended
from pipeline.history.paths import dropper
from pipeline.history.simulate import Landing, Simulator
from pipeline.history.survey import survey
from pipeline.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pipeline.history.records import CompareRecord

_repo = click.option("--repo", required=True, help="The repository: a path or a URL. It is only read.")
_drop = click.option("--drop", multiple=True, help="A gitignore-like glob that is left out; may be repeated.")
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
_main = click.option("--main", "main_branch", help="The main branch; by default main, master, trunk or develop.")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Opened:
    source: Source
    simulator: Simulator

    def commit(self, name: str) -> str:
        """The full hash of what the user named: a commit, a branch or a tag.

        Raises:
            PlanError: it is none of these.
        """
        found = self.simulator.store.resolve(name)
        try:
            return found or self.source.branch(name)
        except PlanError as error:
            raise PlanError(
                f"{name}: no such commit, branch or tag",
                why=f"{self.source.name} does not have it (or the short hash is ambiguous); {error.why}",
                next_step="give the full hash, or fetch it into that repository",
            ) from error

    def commit_of(self, kit: plan.Plan, name: str) -> str:
        """As `commit`, for a name in a kit: where upstream's own commit is not there, a reconstruction stands for it."""
        store = self.simulator.store
        made = None if store.resolve(name) else branches.reconstructed(store, self.source, kit.upstream.pull, name)
        if made:
            say(f"{name}: a reconstruction stands for upstream's own commit")
        return made or self.commit(name)


@contextmanager
def _opened(repo: str) -> Iterator[_Opened]:
    """A store of ours for the time of one command."""
    source = Source.open(repo)
    with tempfile.TemporaryDirectory(prefix="backproof-") as folder:
        store = Store.create(Path(folder) / "store.git", source)
        with Simulator(store, say=say) as simulator:
            yield _Opened(source=source, simulator=simulator)


@click.command("survey")
@click.argument("what", metavar="KIT|COMMIT...", nargs=-1, required=True)
@_repo
@click.option("--branches", "globs", multiple=True, help="A glob of branch names; by default a kit's, or release*.")
@_main
@_drop
@_json
def survey_command(
    *,
    what: Sequence[str],
    repo: str,
    globs: tuple[str, ...],
    main_branch: str | None,
    drop: tuple[str, ...],
    as_json: bool,
) -> None:
    """Tell for each release branch whether it has the fix, needs it, and takes it."""
    kit = _kit(what)
    if kit is not None:
        globs = globs or tuple(each.name for each in kit.branch)
        drop = (*kit.pick.drop, *drop)
    with _opened(repo) as opened:
        found = survey(
            opened.simulator,
            [opened.commit_of(kit, name) for name in kit.pick.commits]
            if kit
            else [opened.commit(name) for name in what],
            branches.named(opened.source, globs or ("release*",)),
            main=branches.main_of(opened.source, main_branch),
            drop=dropper(drop),
            series=kit is not None,
        )
    print_json(found) if as_json else shown.survey(found)


def _kit(what: Sequence[str]) -> plan.Plan | None:
    folder = Path(what[0])
    if not (folder / plan.PLAN_FILE).is_file():
        return None
    if len(what) > 1:
        raise PlanError(
            f"{what[1]}: more than a kit is named",
            why="a kit says itself which commits it picks",
            next_step="name one kit, or commits alone",
        )
    return plan.load(folder)


@click.command("explain")
@click.argument("commit")
@_repo
@click.option("--branch", required=True, help="The release branch (or a commit of it).")
@_main
@_drop
@_json
def explain_command(
    *, commit: str, repo: str, branch: str, main_branch: str | None, drop: tuple[str, ...], as_json: bool
) -> None:
    """Say why COMMIT does not land on a branch, and how to go on."""
    with _opened(repo) as opened:
        found = explain(
            opened.simulator,
            fix=opened.commit(commit),
            branch=branch,
            release=_tip(opened, branch),
            drop=dropper(drop),
            main=branches.main_of(opened.source, main_branch),
        )
    print_json(found) if as_json else shown.explanation(found)
    codes = {Landing.CONFLICT: ExitCode.PERSON, Landing.MERGE_COMMIT: ExitCode.PERSON, Landing.UNKNOWN: ExitCode.ERROR}
    sys.exit(codes.get(found.outcome, ExitCode.PASS))


def _tip(opened: _Opened, name: str) -> str:
    """A branch of that name wins over a commit whose short hash it could be."""
    try:
        return opened.source.branch(name)
    except PlanError:
        found = opened.simulator.store.resolve(name)
        if found is None:
            raise
        return found


@click.command("compare")
@click.argument("backport", metavar="BACKPORT")
@click.argument("originals", metavar="[ORIGINAL]...", nargs=-1)
@_repo
@click.option("--kit", type=click.Path(path_type=Path), help="A kit that declares commits, drops and fix-ups.")
@_drop
@click.option("--adapted", multiple=True, help="A glob of paths that are declared to differ; may be repeated.")
@_json
def compare_command(
    *,
    backport: str,
    originals: tuple[str, ...],
    repo: str,
    kit: Path | None,
    drop: tuple[str, ...],
    adapted: tuple[str, ...],
    as_json: bool,
) -> None:
    """Tell whether BACKPORT (a commit, or base..head) is the same as its originals."""
    found_plan = plan.load(kit) if kit else None
    if not originals and found_plan is None:
        raise PlanError(
            "compare: no original is named", why="neither a commit nor --kit", next_step="name the original commit"
        )
    with _opened(repo) as opened:
        simulator = opened.simulator
        found = compare(
            simulator,
            Backport.parse(simulator, backport, opened.commit),
            _originals(opened, originals, found_plan),
            drop=dropper((*(found_plan.pick.drop if found_plan else ()), *drop)),
            adapted=dropper(adapted),
            amend=_amend(simulator, kit, found_plan) if kit and found_plan else None,
        )
    print_json(found) if as_json else shown.comparison(found)
    sys.exit(_compared(found))


def _originals(opened: _Opened, names: Sequence[str], kit: plan.Plan | None) -> list[str]:
    if names or kit is None:
        return [opened.commit(name) for name in names]
    return [opened.commit_of(kit, name) for name in kit.pick.commits]


def _amend(simulator: Simulator, kit: Path, found: plan.Plan) -> Callable[[str], str]:
    folder = kit if kit.is_dir() else kit.parent
    return lambda tree: amended(simulator, tree, [folder / each.file for each in found.fixup])


def _compared(found: CompareRecord) -> ExitCode:
    if found.verdict == "mismatch":
        return ExitCode.FAIL
    return ExitCode.PERSON if found.suspects else ExitCode.PASS


@click.command("cancelling")
@click.argument("span", metavar="BASE..HEAD")
@_repo
@_drop
@_json
def cancelling_command(*, span: str, repo: str, drop: tuple[str, ...], as_json: bool) -> None:
    """Tell which commits of a pull request together change nothing."""
    base, dots, head = span.partition("..")
    if not (base and dots and head):
        raise PlanError(f"{span}: not a range", why="it has no '..'", next_step="write it as BASE..HEAD")
    with _opened(repo) as opened:
        found = cancelling(opened.simulator, opened.commit(base), opened.commit(head), drop=dropper(drop))
    print_json(found) if as_json else shown.cancelling(found)


@click.command("reproduce")
@click.argument("folder", metavar="RUN", type=click.Path(path_type=Path, exists=True, file_okay=False))
def reproduce_command(*, folder: Path) -> None:
    """Print a shell script of the steps that RUN took; running it gives the same trees."""
    # Bytes: a fix-up may hold a file that is not UTF-8.
    click.echo(reproduce.script(Ledger(folder)), nl=False)


COMMANDS: tuple[click.Command, ...] = (
    survey_command,
    explain_command,
    compare_command,
    cancelling_command,
    reproduce_command,
)
