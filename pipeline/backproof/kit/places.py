"""Where a kit is: at a path, below `patches/` by its name, or among those that come with Backproof."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.core.errors import PlanError
from backproof.kit.plan import PLAN_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator

_PATCHES = "patches"


def find_kit(name: Path | None = None) -> Path:
    """Return the folder of a kit; without a name, the first below `patches/` of this folder or one above it.

    Raises:
        PlanError: there is none of that name.
    """
    if name and (name / PLAN_FILE).is_file():
        return name.absolute()
    near = [kit for folder in _list_folders() for kit in _list_kits(folder)]
    shipped = _list_kits(_shipped_folder())
    for kit in near if name is None else [*near, *shipped]:
        if name is None or kit.name == str(name):
            return kit.absolute()
    raise PlanError(
        f"{name}: there is no such kit" if name else "there is no kit here",
        why=f"neither a folder with {PLAN_FILE}, nor the name of one in {_PATCHES}/ of {Path.cwd()} or above",
        next_step=f"name a kit by its path, or one that comes with Backproof: {', '.join(kit.name for kit in shipped)}",
    )


def _list_folders() -> Iterator[Path]:
    yield from (folder / _PATCHES for folder in (Path.cwd(), *Path.cwd().parents))


def _list_kits(folder: Path) -> list[Path]:
    return sorted(plan.parent for plan in folder.glob(f"*/{PLAN_FILE}"))


def _shipped_folder() -> Path:
    """Return `patches/` of a checkout, or its copy in the wheel."""
    packaged = Path(str(files("backproof") / "_kits"))
    return packaged if packaged.is_dir() else Path(__file__).resolve().parents[3] / _PATCHES
