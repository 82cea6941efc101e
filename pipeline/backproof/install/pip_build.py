"""Has the target's own pip build a source tree into a folder aside; nothing of the target changes by it."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from backproof.adapters import proc

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_SWITCHES = ("--no-deps", "--no-build-isolation", "--no-index", "--no-compile", "--no-warn-script-location")
_SCRIPTS = "bin"


def build_tree(
    python: Path, tree: Path, into: Path, *, env: Mapping[str, str], log: Path, timeout: float = 3600
) -> str:
    """Build the tree and put what site-packages would get into a folder; returns the command.

    Raises:
        HostError: the build failed; the log holds all that it said.
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
    """What site-packages would get; the scripts of the distribution stay the installed ones."""
    found = (path for path in built.rglob("*") if path.is_file() and path.suffix != ".pyc")
    names = {item.relative_to(built).as_posix(): item for item in found}
    return {name: path for name, path in sorted(names.items()) if not name.startswith(f"{_SCRIPTS}/")}


def _build_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """No settings of the user's pip: a `target` or an index of theirs would send the build elsewhere."""
    theirs: dict[str, str | None] = {name: None for name in os.environ if name.startswith("PIP_")}
    ours = {"PIP_CONFIG_FILE": os.devnull, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": None, "PYTHONHOME": None}
    return proc.build_environment({**theirs, **ours, **extra})
