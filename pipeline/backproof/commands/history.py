"""survey, explain, compare, redundant, reproduce: questions about picks, answered from git objects alone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from backproof.commands.options import FOLDER, CommandGroup, json_option
from backproof.commands.output import print_exact, print_json, say
from backproof.core.errors import ExitCode, PlanError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from backproof.history.picks import Picker
    from backproof.history.records import CompareRecord
    from backproof.history.repository import Repository
    from backproof.kit.plan import Plan

_repo = click.option("--repo", required=True, help="The repository: a path or a URL. It is only read.")
_drop = click.option("--drop", multiple=True, help="A gitignore-like glob that is left out; may be repeated.")
_mainline = click.option(
    "--mainline",
    type=click.IntRange(min=1),
    help="Of merge commits, the parent that is the main line; 1 for a pull request's.",
)
_main = click.option("--main", "main_branch", help="The main branch; by default main, master, trunk or develop.")


@click.group(cls=CommandGroup)
def history_group() -> None:
    """Ask a repository about a fix and its release branches."""


@history_group.command("survey")
@click.argument("what", metavar="KIT|COMMIT...", nargs=-1, required=True)
@_repo
@click.option(
    "--branches",
    "globs",
    multiple=True,
    help="A glob of branch names; by default a kit's, or what looks like a release: release*, stable*, 8.x.",
)
@_main
@_mainline
@_drop
@json_option
def survey_command(
    *,
    what: Sequence[str],
    repo: str,
    globs: tuple[str, ...],
    main_branch: str | None,
    mainline: int | None,
    drop: tuple[str, ...],
    as_json: bool,
) -> None:
    """Tell for each release branch whether it has the fix, needs it, and takes it."""
    from backproof.commands.views import history
    from backproof.history import branches
    from backproof.history.path_filter import make_path_filter
    from backproof.history.repository import open_repository
    from backproof.history.survey import survey_branches

    kit = _load_kit(what)
    if kit is not None:
        globs = globs or tuple(branch.name for branch in kit.branch)
        drop = (*kit.pick.drop, *drop)
    with open_repository(repo, say, mainline=_choose_mainline(mainline, kit)) as opened:
        record = survey_branches(
            opened.picker,
            _resolve_originals(opened, () if kit else what, kit),
            branches.match_branches(opened.source, globs or branches.RELEASES),
            main=branches.find_main(opened.source, main_branch),
            drop=make_path_filter(drop),
            series=kit is not None,
        )
    print_json(record) if as_json else history.print_survey(record)


def _choose_mainline(mainline: int | None, kit: Plan | None) -> int | None:
    return mainline or (kit.pick.mainline if kit else None)


def _load_kit(what: Sequence[str]) -> Plan | None:
    from backproof.devices import DEVICES
    from backproof.kit.loader import load_plan
    from backproof.kit.plan import PLAN_FILE

    folder = Path(what[0])
    if not (folder / PLAN_FILE).is_file():
        return None
    if len(what) > 1:
        raise PlanError(
            f"{what[1]}: more than a kit is named",
            why="a kit says itself which commits it picks",
            next_step="name one kit, or commits alone",
        )
    return load_plan(folder, DEVICES)


@history_group.command("explain")
@click.argument("commit")
@_repo
@click.option("--branch", required=True, help="The release branch (or a commit of it).")
@_main
@_mainline
@_drop
@json_option
def explain_command(
    *,
    commit: str,
    repo: str,
    branch: str,
    main_branch: str | None,
    mainline: int | None,
    drop: tuple[str, ...],
    as_json: bool,
) -> None:
    """Say why COMMIT does not land on a branch, and how to go on."""
    from backproof.commands.views import history
    from backproof.history import branches
    from backproof.history.explain import explain_pick
    from backproof.history.path_filter import make_path_filter
    from backproof.history.repository import open_repository
    from backproof.records.picks import PickOutcome

    with open_repository(repo, say, mainline=mainline) as opened:
        place = opened.find_branch(branch)
        record = explain_pick(
            opened.picker,
            fix=opened.resolve_commit(commit),
            branch=place.name,
            ref=place.ref,
            release=place.commit,
            drop=make_path_filter(drop),
            main=branches.find_main(opened.source, main_branch),
        )
    print_json(record) if as_json else history.print_explanation(record)
    codes = {
        PickOutcome.CONFLICT: ExitCode.PERSON,
        PickOutcome.MERGE_COMMIT: ExitCode.PERSON,
        PickOutcome.UNKNOWN: ExitCode.ERROR,
    }
    sys.exit(codes.get(record.outcome, ExitCode.PASS))


@history_group.command("compare")
@click.argument("backport", metavar="BACKPORT")
@click.argument("originals", metavar="[ORIGINAL]...", nargs=-1)
@_repo
@click.option("--kit", type=click.Path(path_type=Path), help="A kit that declares commits, drops and fix-ups.")
@_mainline
@_drop
@click.option("--adapted", multiple=True, help="A glob of paths that are declared to differ; may be repeated.")
@json_option
def compare_command(
    *,
    backport: str,
    originals: tuple[str, ...],
    repo: str,
    kit: Path | None,
    mainline: int | None,
    drop: tuple[str, ...],
    adapted: tuple[str, ...],
    as_json: bool,
) -> None:
    """Tell whether BACKPORT (a commit, or base..head) is the same as its originals."""
    from backproof.commands.views import history
    from backproof.devices import DEVICES
    from backproof.history.compare import Backport, compare_backport
    from backproof.history.path_filter import make_path_filter
    from backproof.history.repository import open_repository
    from backproof.kit.loader import load_plan

    kit_plan = load_plan(kit, DEVICES) if kit else None
    if not originals and kit_plan is None:
        raise PlanError(
            "compare: no original is named", why="neither a commit nor --kit", next_step="name the original commit"
        )
    with open_repository(repo, say, mainline=_choose_mainline(mainline, kit_plan)) as opened:
        picker = opened.picker
        record = compare_backport(
            picker,
            Backport.parse(picker, backport, opened.resolve_commit),
            _resolve_originals(opened, originals, kit_plan),
            drop=make_path_filter((*(kit_plan.pick.drop if kit_plan else ()), *drop)),
            adapted=make_path_filter(adapted),
            amend=_make_amend(picker, kit, kit_plan) if kit and kit_plan else None,
        )
    print_json(record) if as_json else history.print_comparison(record)
    sys.exit(_choose_exit_code(record))


def _resolve_originals(opened: Repository, names: Sequence[str], kit: Plan | None) -> list[str]:
    if names or kit is None:
        return [opened.resolve_commit(name) for name in names]
    return [opened.resolve_kit_commit(kit, name) for name in kit.pick.commits]


def _make_amend(picker: Picker, kit: Path, kit_plan: Plan) -> Callable[[str], str]:
    from backproof.history.fixups import apply_fixups

    folder = kit if kit.is_dir() else kit.parent
    return lambda tree: apply_fixups(picker.store, tree, [folder / fixup.file for fixup in kit_plan.fixup])


def _choose_exit_code(record: CompareRecord) -> ExitCode:
    if record.verdict == "mismatch":
        return ExitCode.FAIL
    return ExitCode.PERSON if record.suspects else ExitCode.PASS


@history_group.command("redundant")
@click.argument("span", metavar="BASE..HEAD")
@_repo
@_drop
@json_option
def redundant_command(*, span: str, repo: str, drop: tuple[str, ...], as_json: bool) -> None:
    """Tell which commits of a pull request together change nothing."""
    from backproof.commands.views import history
    from backproof.history.cancelling import find_cancelling
    from backproof.history.path_filter import make_path_filter
    from backproof.history.repository import open_repository

    base, dots, head = span.partition("..")
    if not (base and dots and head):
        raise PlanError(f"{span}: not a range", why="it has no '..'", next_step="write it as BASE..HEAD")
    with open_repository(repo, say) as opened:
        record = find_cancelling(
            opened.picker, opened.resolve_commit(base), opened.resolve_commit(head), drop=make_path_filter(drop)
        )
    print_json(record) if as_json else history.print_cancelling(record)


@history_group.command("reproduce")
@click.argument("folder", metavar="RUN", type=FOLDER)
def reproduce_command(*, folder: Path) -> None:
    """Print a shell script of the steps that RUN took; running it gives the same trees."""
    from backproof.history import reproduce
    from backproof.rundir import loaded_run
    from backproof.rundir.ledger import Ledger
    from backproof.stages import REGISTRY
    from backproof.verdict import run_verdict

    # Bytes: a fix-up may hold a file that is not UTF-8.
    ledger = Ledger(folder)
    loaded = run_verdict.read_evidence(ledger, loaded_run.require_run(ledger), REGISTRY)
    print_exact(reproduce.render_script(ledger, loaded))
