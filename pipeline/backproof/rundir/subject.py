"""What a run is of: kit, repository, branch, interpreter and device, named once, when it begins.

No option lays another name over it later, and no reader takes a name that a record of the run does not carry.
"""

from __future__ import annotations

import os.path
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.core.errors import PlanError
from backproof.core.model import StageRecord, show_path
from backproof.core.plain_text import cut_text
from backproof.records.proof import InstallRecord, PickRecord, ValidateRecord
from backproof.rundir.ledger import digest_of, sha256_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from backproof.core.model import Record
    from backproof.records.proof import Run, Settings, Target
    from backproof.rundir.registry import Registry

_LONGEST = 200


def must_be_of(folder: Path, begun: Settings, now: Settings) -> None:
    """Refuse settings that name another subject than the one that the run was begun with.

    Raises:
        PlanError: they do; all that differs is named, with both values.
    """
    if not (differing := list(_list_differences(begun, now))):
        return
    old, new = (" ".join(item) for item in zip(*differing, strict=True))
    raise PlanError(
        f"{folder}: this run was begun with {old}, not with {new}",
        why="what it has shown was made from that, and would be told under another name",
        next_step="leave the option out to go on with this run, or name a new run folder with --run or --out",
    )


def hash_kit(kit: Path) -> dict[str, str]:
    """Return the SHA-256 of every file of a kit; what Python leaves beside its sources is none."""
    files = (path for path in sorted(kit.rglob("*")) if path.is_file() and "__pycache__" not in path.parts)
    return {show_path(path.relative_to(kit).as_posix()): sha256_of(path) for path in files}


def digest_subject(run: Run) -> str:
    """Return the digest that every record of the run carries. No place of a machine is in it: a run can be moved."""
    settings = run.settings
    return digest_of([run.kit, settings.branch, settings.device, run.subject.model_dump(mode="json")])


def must_be_of_kit(folder: Path, run: Run, kit: Path, name: str) -> None:
    """Refuse a kit of another id or of other content than the run's.

    Raises:
        PlanError: it is another one; the files that differ are named.
    """
    if name != run.kit:
        what = f"{folder}: this run is of kit {run.kit}, the plan is of {name}"
    elif differing := [path for path, _ in sorted(run.subject.kit.items() ^ hash_kit(kit).items())]:
        listed = ", ".join(dict.fromkeys(map(_show_value, differing[:5])))
        what = f"{folder}: this run is of kit {name} with other content than {kit} has now: {listed}"
    else:
        return
    raise PlanError(
        what,
        why="what a run has shown is told by the kit that it was made with",
        next_step="name the kit of the run as it was; for another kit, make a run in a new folder",
    )


def must_be_at_tip(folder: Path, run: Run, tip: str) -> None:
    """Refuse a branch that moved since the run began.

    Raises:
        PlanError: it did.
    """
    if tip != run.subject.tip:
        raise PlanError(
            f"{folder}: this run was begun with {run.settings.branch} at {run.subject.tip[:12]}, it is at {tip[:12]} now",
            why="what was shown on one commit says nothing of another",
            next_step="make a run in a new folder with --out",
        )


def must_be_of_target(folder: Path, run: Run, target: Target | None) -> None:
    """Refuse another release, or another build of it, than the interpreter had when the run began.

    Raises:
        PlanError: it has another one now.
    """
    if target != run.subject.target:
        raise PlanError(
            f"{folder}: this run was begun with {_name_target(run.subject.target)} in {run.settings.python}, "
            f"it has {_name_target(target)} now",
            why="what was shown of one installation says nothing of another",
            next_step="make a run in a new folder with --out",
        )


def _name_target(target: Target | None) -> str:
    return f"{target.distribution} {target.version} (RECORD {target.record[:12]})" if target else "nothing installed"


def find_contradictions(run: Run, records: Mapping[type[Record], Record], registry: Registry) -> dict[str, str]:
    """The stages whose record is of another subject than the run, each with a sentence."""
    digest = digest_subject(run)
    found = {
        registry.name_of(
            kind
        ): f"{registry.path_of(kind)} is not of the kit, branch, tip and device that run.json names"
        for kind, record in records.items()
        if isinstance(record, StageRecord) and record.subject != digest
    }
    settings, pick, validate = run.settings, records.get(PickRecord), records.get(ValidateRecord)
    named: list[tuple[type[Record], str, str, str]] = []
    if isinstance(pick, PickRecord):
        named.append((PickRecord, "branch", pick.branch, settings.branch))
    if isinstance(install := records.get(InstallRecord), InstallRecord):
        begun_with = run.subject.target.version if run.subject.target else ""
        named.append((InstallRecord, "version", install.version, begun_with))
    if isinstance(validate, ValidateRecord):
        named.append((ValidateRecord, "device", validate.device, settings.device))
    told = {
        registry.name_of(
            kind
        ): f"{registry.path_of(kind)} is of {what} {_show_value(said)}, run.json of {_show_value(begun)}"
        for kind, what, said, begun in named
        if said != begun
    }
    return {**told, **{name: sentence for name, sentence in found.items() if name not in told}}


def _list_differences(begun: Settings, now: Settings) -> Iterator[tuple[str, str]]:
    """Each option that differs, as it was and as it is."""
    for name in ("kit", "repo", "branch", "python", "device", "operator_source"):
        old, new = getattr(begun, name), getattr(now, name)
        if _same_as(name, old) != _same_as(name, new):
            option = name.replace("_", "-")
            yield f"--{option} {_show_value(old)}", f"--{option} {_show_value(new)}"
    if begun.signoff != now.signoff:
        yield _signoff_option(begun), _signoff_option(now)


def _same_as(name: str, value: str) -> str:
    """One spelling for all paths of a folder. An interpreter is told by its own name: an environment is a link."""
    path = Path(value)
    if name in {"kit", "repo"} and path.is_absolute():  # a repository may be a URL
        return os.path.realpath(path)
    return str(Path(os.path.realpath(path.parent), path.name)) if name == "python" else value


def _signoff_option(settings: Settings) -> str:
    return "--signoff" if settings.signoff else "--no-signoff"


def _show_value(text: str) -> str:
    """A name from outside: one line without control characters, and not longer than a line."""
    return cut_text(repr(text), _LONGEST)
