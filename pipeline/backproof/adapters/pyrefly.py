"""The boundary to pyrefly, a type checker that reads code and runs none of it.

It is an extra (`backproof[names]`, 38 MB): without it nothing is checked, and that is said.
"""

from __future__ import annotations

import json
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from backproof.adapters.proc import run_process
from backproof.core.errors import HostError

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROOTS = ("", "src", "lib", "python")
"""Folders that hold packages, by convention."""
_KINDS: Final = {
    "missing-attribute",
    "missing-import",
    "missing-module-attribute",
    "unknown-name",
    "unexpected-keyword",
    "bad-argument-count",
    "missing-argument",
}
"""Reports of what is not there; those of types say nothing where dependencies are not installed."""
_OPTIONS = ("--preset", "default", "--output-format", "json", "--skip-interpreter-query", "--threads", "1")
_KEEP = 64 * 1024 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class LackingName:
    """A name or argument that a line uses and the code does not have."""

    path: str
    line: int
    text: str


def is_installed() -> bool:
    return _find_program().exists()


def find_lacking_names(folder: Path, paths: Sequence[str]) -> list[LackingName]:
    """Return what some files of a source tree use and the tree does not have.

    Raises:
        HostError: the checker gave no answer.
    """
    roots = [flag for root in _ROOTS if (folder / root).is_dir() for flag in ("--search-path", str(folder / root))]
    config = folder.with_name(f"{folder.name}.toml")
    config.write_bytes(b"")  # one of ours: the target's own would steer what is reported
    argv = [str(_find_program()), "check", *_OPTIONS, "--config", str(config), *roots, "--", *paths]
    done = run_process(argv, cwd=folder, keep=_KEEP)
    try:
        errors = json.loads(done.stdout)["errors"]
    except (ValueError, KeyError):
        done.require_success("names cannot be checked", next_step="report this with the version of pyrefly")
        raise HostError(
            "names cannot be checked",
            why="pyrefly gave no report",
            next_step="install the version that the extra names",
        ) from None
    return [
        LackingName(path=error["path"], line=error["line"], text=error["concise_description"])
        for error in errors
        # None is of a kind that tests at run time exclude, and that no reader of code can.
        if error["name"] in _KINDS and "NoneType" not in error["concise_description"]
    ]


def _find_program() -> Path:
    return Path(sysconfig.get_path("scripts")) / "pyrefly"
