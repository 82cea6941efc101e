"""What a run is of: kit, repository, branch, interpreter and device, named once, when it begins.

No option lays another name over it later, and no reader takes a name that a record of the run does not carry.
"""

from __future__ import annotations

import os.path
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.core.errors import PlanError
from backproof.core.plain_text import cut_text
from backproof.records.proof import PickRecord, ValidateRecord

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from backproof.core.model import Record
    from backproof.records.proof import Run, Settings
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


def must_be_of_kit(folder: Path, run: Run, kit: str) -> None:
    """Refuse a plan of another id than the run's.

    Raises:
        PlanError: it has another.
    """
    if kit != run.kit:
        raise PlanError(
            f"{folder}: this run is of kit {run.kit}, the plan is of {kit}",
            why="what a run has shown is told by the plan that it was made with",
            next_step="name the kit of the run; for another kit, make a run in a new folder",
        )


def find_contradictions(run: Run, records: Mapping[type[Record], Record], registry: Registry) -> dict[str, str]:
    """The stages whose record names another branch or device than the run's settings do, each with a sentence."""
    settings, pick, validate = run.settings, records.get(PickRecord), records.get(ValidateRecord)
    named: list[tuple[type[Record], str, str, str]] = []
    if isinstance(pick, PickRecord):
        named.append((PickRecord, "branch", pick.branch, settings.branch))
    if isinstance(validate, ValidateRecord):
        named.append((ValidateRecord, "device", validate.device, settings.device))
    return {
        registry.name_of(
            kind
        ): f"{registry.path_of(kind)} is of {what} {_show_value(said)}, run.json of {_show_value(begun)}"
        for kind, what, said, begun in named
        if said != begun
    }


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
