"""Builds a source tree into a separate folder with the target's own pip; nothing in the target changes."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from backproof.adapters import proc
from backproof.adapters.environment import build_environment

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_SWITCHES = ("--no-deps", "--no-build-isolation", "--no-index", "--no-compile", "--no-warn-script-location")
_SCRIPTS = "bin"


def build_tree(
    python: Path, tree: Path, into: Path, *, env: Mapping[str, str], log: Path, timeout: float = 3600
) -> str:
    """Build the tree into a folder as site-packages would have it, and return the command.

    Raises:
        HostError: the build failed; the log holds its whole output.
    """
    half = into.with_name(f"{into.name}.half")
    shutil.rmtree(half, ignore_errors=True)
    argv = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", "install", *_SWITCHES]
    done = proc.run_process(
        [*argv, "--target", str(half), str(tree)], cwd=tree, env=_build_environment(env), timeout=timeout, tee=log
    )
    done.require_success(
        "the target's pip could not build the patched tree",
        next_step=f"read {log}; give what the build needs in [install] env (a version, for example), "
        'or use mode = "overlay"',
    )
    half.rename(into)
    return done.command


def list_built_files(built: Path) -> dict[str, Path]:
    """Return the files for site-packages by name; the scripts of the distribution stay the installed ones."""
    files = (path for path in built.rglob("*") if path.is_file() and path.suffix != ".pyc")
    names = {path.relative_to(built).as_posix(): path for path in files}
    return {name: path for name, path in sorted(names.items()) if not name.startswith(f"{_SCRIPTS}/")}


def _build_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without settings of the user's pip: its `target` or index would redirect the build."""
    own: dict[str, str | None] = {
        "PIP_CONFIG_FILE": os.devnull,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": None,
        "PYTHONHOME": None,
    }
    return build_environment({**own, **extra})
