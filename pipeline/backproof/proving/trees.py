"""The source trees of the arms on disk, each with what a build makes and the tree lacks, and the lines that differ."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.rundir.ledger import sha256_of
from backproof.verdict.claims.lines import changed_lines

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from backproof.adapters.git import Store
    from backproof.proving.subject import LaidOut
    from backproof.recipes.cache import Environment

_STOP = (
    "# A tree without a configuration of pytest has none: the search ends here, not in the clone around the proof.\n"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ArmTree:
    """One arm on disk.

    `hashes` has the changed files that are there, by absolute path. `lines` has the lines that only this arm has, by absolute file;
    `at_import` those of them that run when the module is loaded, not in a function.
    """

    folder: Path
    path: tuple[str, ...]
    packages: tuple[str, ...]
    hashes: Mapping[str, str]
    lines: Mapping[str, tuple[int, ...]]
    at_import: Mapping[str, tuple[int, ...]]

    def list_lines(self) -> dict[str, tuple[int, ...]]:
        """Return the lines by path in the tree."""
        return {file.removeprefix(f"{self.folder}/"): lines for file, lines in self.lines.items()}


def lay_out(store: Store, subject: LaidOut, environment: Environment, folder: Path, *, fixed: bool) -> ArmTree:
    """Write the tree of an arm and return what is in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    (folder.parent / "pytest.ini").write_text(_STOP, encoding="utf-8")
    store.export_tree(subject.fixed if fixed else subject.base, folder)
    folder = folder.resolve()
    if environment.generated.is_dir():
        shutil.copytree(environment.generated, folder, dirs_exist_ok=True)
    for path, text in environment.recipe.lay_over.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    roots = [folder / source for source in environment.recipe.sources if (folder / source).is_dir()]
    files = [file for file in subject.code if (folder / file).is_file()]
    lines = {str(folder / file): _list_own_lines(store, subject, file, fixed=fixed) for file in files}
    return ArmTree(
        folder=folder,
        path=tuple(map(str, roots)),
        packages=_list_packages(roots),
        hashes={str(folder / file): sha256_of(folder / file) for file in files},
        lines={file: own for file, (own, _) in lines.items() if own},
        at_import={file: outer for file, (_, outer) in lines.items() if outer},
    )


def _list_packages(path: list[Path]) -> tuple[str, ...]:
    """Return the names that an import can find at the top of the tree, tests and tools apart."""
    names = {
        child.name if child.is_dir() else child.stem
        for folder in path
        for child in folder.iterdir()
        if (child / "__init__.py").is_file() or (child.suffix == ".py" and folder.name == "src")
    }
    return tuple(sorted(names - {"tests", "test", "testing", "docs", "setup", "conftest"}))


def _list_own_lines(
    store: Store, subject: LaidOut, path: str, *, fixed: bool
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the lines of code that only this arm has, and those of them outside any function."""
    if not path.endswith(".py"):
        return (), ()
    before, after = (store.objects.read_file(tree, path) for tree in (subject.base, subject.fixed))
    own, other = (after, before) if fixed else (before, after)
    try:
        lines = changed_lines(other, own or b"")
    except (SyntaxError, ValueError):
        return (), ()
    return tuple(sorted(lines.executable)), tuple(sorted(lines.executable - lines.in_functions))
