"""Compiles an operator's own AscendC source against the memory model of ``ascendc/``; what was made is kept by content.

The source is the user's own copy and stays where it is; nothing of it is copied into a run folder or a result.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from backproof_target.faults import Unmodelled

if TYPE_CHECKING:
    from collections.abc import Iterable

MODEL = Path(__file__).resolve().parent.parent / "ascendc"
_COMPILERS = ("g++", "clang++")
_FLAGS = ("-std=c++17", "-O2", "-ffp-contract=off", "-fPIC", "-shared", "-w", "-fvisibility=hidden")
# Two kernels in one process would share their inline variables: one would get the other's tiling.
_OWN_VARIABLES = {"g++": ("-fno-gnu-unique",), "clang++": ()}
_PATIENCE = 300
_UNKNOWN = re.compile(
    r"error: '(\w+)' (?:is not a member of|was not declared|has not been declared|does not name)"
    r"|no (?:template|member) named '(\w+)'|use of undeclared identifier '(\w+)'|fatal error: (\S+): No such file"
)


class SourceUnusable(Unmodelled):
    """The operator's source cannot be compiled or run here: no verdict can come of it."""


@dataclass(frozen=True, kw_only=True)
class Build:
    """One source folder, and where shared objects are kept."""

    source: Path
    cache: Path

    def compile(self, driver: str, defines: Iterable[tuple[str, str]], includes: Iterable[Path] = ()) -> Path:
        """Return the shared object of ``ascendc/<driver>`` with these macros; made once for the same content.

        Raises:
            SourceUnusable: there is no compiler, or the source uses a call that the model does not have.
        """
        program, version = find_compiler()
        options = [f"-D{name}={value}" for name, value in defines]
        folders = [f"-I{folder}" for folder in (MODEL, *includes)]
        whole = "\0".join([version, *_FLAGS, driver, *options, hash_folder(self.source), hash_folder(MODEL)])
        made = self.cache / f"{hashlib.sha256(whole.encode()).hexdigest()[:32]}.so"
        if not made.exists():
            flags = (*_FLAGS, *_OWN_VARIABLES[Path(program).name])
            self._run_compiler([program, *flags, *options, *folders, str(MODEL / driver)], made)
        return made

    def _run_compiler(self, command: list[str], made: Path) -> None:
        self.cache.mkdir(parents=True, exist_ok=True)
        staged = made.with_suffix(f".{os.getpid()}")
        environment = {**os.environ, "LC_ALL": "C"}
        done = subprocess.run(  # noqa: S603 - a compiler, on the user's own source
            [*command, "-o", str(staged)],
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            env=environment,
            check=False,
        )
        if done.returncode:
            raise SourceUnusable(f"{self.source}: {_explain_errors(done.stderr)}")
        staged.replace(made)


def _explain_errors(text: str) -> str:
    """Name the calls that the model lacks; other errors as the compiler has them."""
    plain = text.translate(str.maketrans("‘’", "''"))
    names = dict.fromkeys(next(filter(None, match.groups())) for match in _UNKNOWN.finditer(plain))
    if names:
        return f"not supported by the model of the device: {', '.join(list(names)[:20])}"
    return "it does not compile: " + "; ".join(line for line in plain.splitlines() if "error" in line)[:600]


@lru_cache(maxsize=1)
def find_compiler() -> tuple[str, str]:
    """Return a C++ compiler and the first line of its version."""
    for name in _COMPILERS:
        if program := shutil.which(name):
            done = subprocess.run(  # noqa: S603 - a compiler
                [program, "--version"], capture_output=True, text=True, timeout=60, check=False
            )
            return program, done.stdout.partition("\n")[0]
    raise SourceUnusable(
        f"there is no C++ compiler ({' or '.join(_COMPILERS)}): install one, for example the package g++"
    )


@lru_cache(maxsize=8)
def hash_folder(folder: Path) -> str:
    """Return one hash over the C++ files of a folder, with their names."""
    whole = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.suffix in {".h", ".cpp", ".hpp"}):
        whole.update(f"{path.relative_to(folder)}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()


def describe_build(build: Build) -> str:
    """Return what a report says of a source: its hash and its compiler, never its text."""
    return (
        f"Device operators ran from their own source (sha256 {hash_folder(build.source)}, {find_compiler()[1]}) on a CPU: "
        "the source at hand, not the binary that a device host has installed."
    )
