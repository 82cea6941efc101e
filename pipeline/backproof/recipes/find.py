"""Which recipe a target has: its branch's own, one beside the kits, one that comes with the package, or none."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from backproof.core.errors import PlanError
from backproof.kit.recipe import Recipe

if TYPE_CHECKING:
    from backproof.recipes.release import Release

FOLDER = "targets"


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundRecipe:
    """A recipe and where it comes from, for the report."""

    recipe: Recipe
    origin: str


def find_recipe(release: Release) -> FoundRecipe | None:
    """Return the recipe of a release. Its own table wins: it is read from the branch, never from the pick.

    Raises:
        PlanError: a recipe cannot be read.
    """
    if table := release.pyproject.get("tool", {}).get("backproof"):
        origin = f"[tool.backproof] of {release.branch}"
        return FoundRecipe(recipe=parse_recipe({"project": release.project, **table}, origin), origin=origin)
    for folder in _list_folders():
        path = folder / f"{release.project}.toml"
        if path.is_file():
            return FoundRecipe(recipe=read_recipe(path), origin=f"{FOLDER}/{path.name}")
    return None


def format_recipe(recipe: Recipe) -> str:
    """Write a recipe as the file that it is read from: what it leaves to the defaults is left out."""
    import tomlkit  # noqa: PLC0415 - only a proof writes one

    return tomlkit.dumps(recipe.model_dump(mode="json", exclude_defaults=True))


def read_recipe(path: Path) -> Recipe:
    try:
        return parse_recipe(tomllib.loads(path.read_text(encoding="utf-8")), str(path))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PlanError(
            f"{path}: cannot be read as TOML", why=str(error), next_step="correct the file at that line"
        ) from error


def parse_recipe(table: dict[str, Any], origin: str) -> Recipe:
    try:
        return Recipe.model_validate(table)
    except ValidationError as error:
        lines = [f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()]
        raise PlanError(
            f"{origin}: the recipe is invalid", why="\n       ".join(lines), next_step="correct it (docs/prove.md)"
        ) from error


def _list_folders() -> list[Path]:
    """Return the folders of recipes: beside the kits here or above, then the package's own."""
    here = Path.cwd()
    own = Path(str(resources.files("backproof")))
    return [*(folder / FOLDER for folder in (here, *here.parents)), own / FOLDER, own.parents[1] / FOLDER]
