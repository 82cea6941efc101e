"""Makes the environment of a recipe: with uv, or with pip where there is none."""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from backproof.adapters import proc
from backproof.adapters.environment import put_first_on_path
from backproof.core.errors import HostError, PlanError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from backproof.kit.recipe import Recipe
    from backproof.recipes.release import Release

_PASSED: Final = re.compile(
    r"PATH|HOME|LANG|LC_\w+|TMPDIR|TERM|CC|CXX|CFLAGS|LDFLAGS|(SSL|PIP|UV|CARGO|RUSTUP)_\w+|\w*_?PROXY|REQUESTS_CA_BUNDLE",
    re.IGNORECASE,
)
"""The variables of ours that a build gets: where programs, indexes and certificates are."""
_VERSIONS: Final = (
    "SETUPTOOLS_SCM_PRETEND_VERSION",  # https://setuptools-scm.readthedocs.io/en/latest/overrides/; hatch-vcs, flit-scm
    "PBR_VERSION",  # https://docs.openstack.org/pbr/latest/user/packagers.html
    "PDM_BUILD_SCM_VERSION",  # https://backend.pdm-project.org/metadata/#dynamic-version-from-scm
    "POETRY_DYNAMIC_VERSIONING_BYPASS",  # https://github.com/mtkennerly/poetry-dynamic-versioning
    "UV_DYNAMIC_VERSIONING_BYPASS",  # https://github.com/ninoseki/uv-dynamic-versioning
)
"""What says the version to builds that ask git for it: the exported tree has no repository."""
_HOUR: Final = 3600
_UNTIL: Final = "UV_EXCLUDE_NEWER"


@dataclass(frozen=True, kw_only=True, slots=True)
class Build:
    """One environment to make. `tree` has the release's files; all output goes to `log`."""

    recipe: Recipe
    release: Release
    interpreter: str
    folder: Path
    tree: Path
    words: Mapping[str, str]
    until: str
    """The day before which the index had the packages; empty for the newest."""
    say: Callable[[str], None]

    @property
    def python(self) -> Path:
        return self.folder / "env" / "bin" / "python"

    @property
    def env(self) -> dict[str, str]:
        """The allowlisted environment of every step. A build that asks git for a version gets the release's."""
        passed = {name: value for name, value in os.environ.items() if _PASSED.fullmatch(name)}
        version = dict.fromkeys(_VERSIONS, self.release.version)
        programs = {"PATH": put_first_on_path(self.python.parent)}
        # https://docs.astral.sh/uv/reference/settings/#exclude-newer
        return {
            **passed,
            **programs,
            **version,
            **({_UNTIL: self.until} if self.until else {}),
            **{name: self.fill(text) for name, text in self.recipe.build_env.items()},
        }

    def fill(self, text: str) -> str:
        for name, value in self.words.items():
            text = text.replace(f"{{{name}}}", value)
        return text


def build_environment(build: Build) -> None:
    """Make it, step by step; each step is shown before it runs.

    Raises:
        HostError: with the step that failed and its last lines.
    """
    for number, argv in enumerate(_list_steps(build)):
        build.say(f"environment: {proc.format_command(_shorten(argv))}")
        log = build.folder / f"step-{number}.log"
        done = proc.run_process(argv, cwd=build.tree, env=build.env, timeout=_HOUR, tee=log)
        if done.code != 0:
            raise _explain_failure(build, argv, done)


def _list_steps(build: Build) -> list[list[str]]:
    uv = find_uv()
    env, python = str(build.folder / "env"), str(build.python)
    make = [uv, "venv", "--quiet", "--seed", "--python", build.interpreter, env] if uv else []
    pip = [uv, "pip", "install", "--python", python] if uv else [python, "-m", "pip", "install", "--no-input"]
    steps = [make or [build.interpreter, "-m", "venv", env]]
    if wanted := _list_requirements(build):
        steps.append([*pip, *wanted])
    if build.recipe.install:
        extras = f"[{','.join(build.recipe.extras)}]" if build.recipe.extras else ""
        steps.append([*pip, f"{build.tree}{extras}"])
    return [*steps, *([build.fill(word) for word in step] for step in build.recipe.steps)]


def _list_requirements(build: Build) -> list[str]:
    recipe = build.recipe
    files = [word for path in recipe.files for word in ("-r", str(build.tree / path))]
    groups = [word for name in recipe.groups for word in ("--group", f"{build.tree / 'pyproject.toml'}:{name}")]
    return [*files, *groups, *(build.fill(text) for text in recipe.requirements)]


def find_uv() -> str | None:
    """Return the program that comes with the package `uv`, else one on PATH."""
    beside = Path(sys.executable).with_name("uv")
    return str(beside) if beside.is_file() else shutil.which("uv")


def _shorten(argv: Sequence[str]) -> list[str]:
    return [Path(argv[0]).name, *argv[1:]]


def _explain_failure(build: Build, argv: Sequence[str], done: proc.Completed) -> HostError:
    output = (done.error_text.strip() or done.text.strip())[-1500:]
    return HostError(
        f"the environment of {build.recipe.project} cannot be made: `{proc.format_command(_shorten(argv))}` failed",
        why=f"it ended with code {done.code}: {output}",
        next_step=f"add what is missing to targets/{build.recipe.project}.toml (docs/prove.md), and run again",
    )


def choose_until(recipe: Recipe, release: Release) -> str:
    """Return the day before which the index must have had the packages; empty where that is the user's own affair."""
    newest = recipe.packages == "newest" or _UNTIL in os.environ or find_uv() is None
    return "" if newest else release.until


def choose_interpreter(recipe: Recipe, release: Release) -> str:
    """Return the Python for the environment: the recipe's, else ours where the project takes it, else another one.

    Raises:
        PlanError: none of this machine is taken.
    """
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # noqa: PLC0415 - only where one is made

    if recipe.python:
        return recipe.python
    declared = release.pyproject.get("project", {}).get("requires-python") or release.setup_cfg.get(
        "options", "python_requires", fallback=""
    )
    try:
        wanted = SpecifierSet(str(declared))
    except InvalidSpecifier:
        wanted = SpecifierSet()
    own = ".".join(map(str, sys.version_info[:3]))
    if wanted.contains(own):
        return sys.executable
    for minor in range(15, 7, -1):
        if wanted.contains(f"3.{minor}.99") and (program := shutil.which(f"python3.{minor}")):
            return program
    raise PlanError(
        f"{release.project} on {release.branch} needs Python {declared}",
        why=f"this is {own}, and no other python3.N on PATH is taken",
        next_step=f'install one, or name it with python = "3.N" in targets/{release.project}.toml',
    )
