"""A recipe for a target that has none: what its own files say that its tests need, the first that says anything."""

from __future__ import annotations

import ast
import shlex
from typing import TYPE_CHECKING, Any, Final

from backproof.kit.recipe import Recipe
from backproof.recipes.find import FoundRecipe

if TYPE_CHECKING:
    from backproof.recipes.release import Release

_NAMES: Final = ("test", "tests", "testing", "dev", "all")
_FILES: Final = tuple(
    pattern.format(name=name, suffix=suffix)
    for name in _NAMES
    for pattern in ("{name}-requirements.{suffix}", "requirements-{name}.{suffix}", "requirements/{name}.{suffix}")
    for suffix in ("txt", "in")
)


def infer_recipe(release: Release) -> FoundRecipe:
    """Read pyproject.toml, requirements files, tox and nox, in that order."""
    readers = {
        "dependency groups and extras of pyproject.toml": _read_pyproject,
        "requirements files": _read_files,
        "tox.ini": _read_tox,
        "noxfile.py": _read_nox,
    }
    nothing: tuple[str, dict[str, Any]] = ("nothing: the project declares no requirements of its tests", {})
    answers = ((origin, read(release)) for origin, read in readers.items())
    origin, facts = next(((origin, facts) for origin, facts in answers if facts), nothing)
    facts["requirements"] = (*facts.get("requirements", ()), "pytest")
    # The test tools of today break tests of some years ago, and a project that pins nothing does not say which it took.
    facts |= {"packages": "of the branch's time", "install": _can_be_installed(release)}
    recipe = Recipe.model_validate({"project": release.project, **facts})
    return FoundRecipe(recipe=recipe, origin=f"inferred from {origin}")


def _can_be_installed(release: Release) -> bool:
    return any(path in release.manifests for path in ("pyproject.toml", "setup.py", "setup.cfg"))


def _read_pyproject(release: Release) -> dict[str, Any]:
    groups = release.pyproject.get("dependency-groups", {})
    declared = release.pyproject.get("project", {}).get("optional-dependencies", {})
    section = "options.extras_require"
    old = release.setup_cfg.options(section) if release.setup_cfg.has_section(section) else ()
    facts = {
        "groups": tuple(name for name in _NAMES if name in groups),
        "extras": tuple(name for name in _NAMES if name in declared or name in old),
    }
    return {name: names for name, names in facts.items() if names}


def _read_files(release: Release) -> dict[str, Any]:
    files = tuple(path for path in _FILES if path in release.manifests)[:1]
    return {"files": files} if files else {}


def _read_tox(release: Release) -> dict[str, Any]:
    if not release.tox.has_section("testenv"):
        return {}
    section = release.tox["testenv"]
    words = [line.strip() for line in section.get("deps", "").splitlines()]
    facts = _sort_words([word for word in words if word and not word.startswith(("#", "."))])
    for key, name in (("extras", "extras"), ("dependency_groups", "groups")):
        if names := section.get(key, "").replace(",", " ").split():
            facts[name] = tuple(names)
    return facts


def _read_nox(release: Release) -> dict[str, Any]:
    try:
        tree = ast.parse(release.read_text("noxfile.py"))
    except SyntaxError:
        return {}
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        calls = [node for node in ast.walk(function) if isinstance(node, ast.Call) and _is_install(node)]
        words = [str(item.value) for call in calls for item in call.args if isinstance(item, ast.Constant)]
        if "test" in function.name and words:
            return _sort_words([word for word in words if not word.startswith((".", "-e"))])
    return {}


def _is_install(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "install"


def _sort_words(words: list[str]) -> dict[str, Any]:
    """Tell requirements from files of them; a line of tox that is for one environment of a matrix is left out."""
    files, requirements = [], []
    parts = [part for word in words for part in (shlex.split(word) if word.startswith("-") else [word])]
    for before, part in zip(["", *parts], parts, strict=False):
        if part.startswith("-r") and len(part) > 2:
            files.append(part[2:].strip())
        elif before == "-r":
            files.append(part)
        elif not part.startswith(("-", "{")) and ": " not in part:
            requirements.append(part)
    return {name: tuple(items) for name, items in (("files", files), ("requirements", requirements)) if items}
