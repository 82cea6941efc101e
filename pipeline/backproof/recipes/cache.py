"""The environments that were made: kept by content in the user's cache, found again, listed and pruned."""

from __future__ import annotations

import csv
import json
import re
import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from filelock import FileLock
from packaging.utils import canonicalize_name
from platformdirs import user_cache_path

from backproof.core.errors import HostError, PlanError
from backproof.recipes.build import Build, build_environment, choose_interpreter, choose_until
from backproof.recipes.find import find_recipe
from backproof.recipes.infer import infer_recipe
from backproof.rundir.ledger import digest_of, write_atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from backproof.kit.recipe import Recipe
    from backproof.recipes.release import Release

COMPLETE: Final = "environment.json"
"""Written last: an environment without it was never finished."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Environment:
    """An environment that is ready. `generated` has what a build of the release makes and its tree lacks."""

    key: str
    folder: Path
    recipe: Recipe
    origin: str
    words: dict[str, str]

    @property
    def python(self) -> Path:
        return self.folder / "env" / "bin" / "python"

    @property
    def generated(self) -> Path:
        return self.folder / "generated"


def prepare_environment(release: Release, say: Callable[[str], None]) -> Environment:
    """Return the environment of a release; it is made where there is none of this content.

    Raises:
        PlanError: the recipe cannot be read, or no Python fits.
        HostError: a step failed.
    """
    found = find_recipe(release) or infer_recipe(release)
    interpreter = choose_interpreter(found.recipe, release)
    words = _find_words(found.recipe, release)
    until = choose_until(found.recipe, release)
    recipe = found.recipe.model_dump(mode="json", exclude={"packages"})
    facts = {"recipe": recipe, "python": interpreter, "words": words, **({"until": until} if until else {})}
    key = digest_of({**facts, "manifests": release.manifests})[:16]
    folder = environments_folder() / f"{release.project}-{key}"
    environment = Environment(key=key, folder=folder, recipe=found.recipe, origin=found.origin, words=words)
    complete = folder / COMPLETE
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not complete.exists():
            say(f"environment: making it, recipe {found.origin}")
            used = _make_environment(environment, release, interpreter, until, say)
            origin = f"{found.origin}, with packages from before {used}" if used else found.origin
            write_atomic(complete, json.dumps({**facts, "origin": origin}, indent=2).encode())
    complete.touch()
    return replace(environment, origin=json.loads(complete.read_bytes())["origin"])


def environments_folder() -> Path:
    return user_cache_path("backproof") / "environments"


def _make_environment(
    environment: Environment, release: Release, interpreter: str, until: str, say: Callable[[str], None]
) -> str:
    """Make it and return the day before which its packages were there; empty where they are the newest."""
    shutil.rmtree(environment.folder, ignore_errors=True)
    tree = environment.folder / "tree"
    release.store.export_tree(release.tree, tree)
    words = {**environment.words, "python": str(environment.python), "tree": str(tree)}
    build = Build(
        recipe=environment.recipe,
        release=release,
        interpreter=interpreter,
        folder=environment.folder,
        tree=tree,
        words=words,
        until=until,
        say=say,
    )
    try:
        build_environment(build)
    except HostError as error:
        if not until:
            raise
        # An index of one's own need not say when it got a file, and an old package need not build on this Python.
        say(f"environment: not with packages from before {until}: {error.what}; once more with the newest")
        return _make_environment(environment, release, interpreter, "", say)
    for source, path in _list_generated(environment, release):
        target = environment.generated / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
    shutil.rmtree(tree)
    return until


def _find_words(recipe: Recipe, release: Release) -> dict[str, str]:
    words = {"version": release.version}
    for name, lookup in recipe.words.items():
        match = re.search(lookup.pattern, release.read_text(lookup.file), re.MULTILINE)
        if match is None:
            raise PlanError(
                f"words.{name}: {lookup.file} of {release.branch} has nothing that matches",
                why=f"the pattern is {lookup.pattern}",
                next_step=f"correct targets/{recipe.project}.toml",
            )
        words[name] = match[1]
    return words


def _list_generated(environment: Environment, release: Release) -> Iterator[tuple[Path, str]]:
    """Yield what the installed release has in its packages and the tree has not: a version file, compiled modules."""
    for record in environment.folder.glob("env/lib/python*/site-packages/*.dist-info/RECORD"):
        if canonicalize_name(record.parent.name.partition("-")[0]) != release.project:
            continue
        for row in csv.reader(record.read_text(encoding="utf-8").splitlines()):
            installed = record.parents[1] / row[0]
            if placed := _place_generated(row[0], environment.recipe, release):
                yield installed, placed


def _place_generated(path: str, recipe: Recipe, release: Release) -> str | None:
    """Return where a file would be in the tree; None for one that is there, or whose package is not the tree's."""
    if path.endswith(".pyc") or path.startswith("..") or "/" not in path:
        return None
    objects = release.store.objects
    for source in recipe.sources:
        prefix = "" if source == "." else f"{source}/"
        if objects.find_entry(release.tree, f"{prefix}{path.partition('/')[0]}"):
            return None if objects.find_entry(release.tree, prefix + path) else prefix + path
    return None
