"""Shapes of public bug reports about backports, as small repositories: each has a fix on main and a release branch.

They are made by the scripts in tests/history/cases; the two that take a program are made here.
"""

from __future__ import annotations

import hashlib
import subprocess
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from repositories import Repository

    Case = Callable[[Repository], str]

FOLDER = Path(__file__).parents[1] / "history" / "cases"


def build_case(name: str, repository: Repository) -> str:
    """Make the repository of a case in the folder of another one, which goes; its branch is `release`; return the fix."""
    if made := _MADE.get(name):
        return made(repository)
    subprocess.run(["bash", str(FOLDER / name / "make.sh"), str(repository.folder)], check=True, capture_output=True)
    branches = repository.git(
        "for-each-ref",
        "--format=%(refname:short)",
        "refs/heads/release*",
        "refs/heads/release/*",
        "refs/heads/stable/*",
    )
    for branch in branches.split():
        # At once, `release` cannot stand beside `release/1`.
        repository.git("branch", "--move", branch, "renamed")
        repository.git("branch", "--move", "renamed", "release")
    noted = repository.folder / ".git" / "FIX"
    return noted.read_text().strip() if noted.exists() else repository.git("rev-parse", "HEAD")


def _render_commit(tree: str, parent: str, message: str, number: int) -> str:
    lines = [f"tree {tree}", *([f"parent {parent}"] if parent else [])]
    who = "Dev <dev@example.invalid> 1700000000 +0000"
    return "\n".join([*lines, f"author {who}", f"committer {who}", "", message, "", f"Nonce: {number}", ""])


def _write(repository: Repository, kind: str, data: str) -> str:
    return repository.git("hash-object", "-t", kind, "-w", "--stdin", stdin=data)


def _share_seven_digits(repository: Repository) -> str:
    """Two fixes whose hashes share seven digits, and a release that took the other one, by its trailer."""

    def tree(limit: int, width: int) -> str:
        lines = "".join(f"line {number}\n" for number in range(20))
        blobs = {"a.py": f"{lines}limit = {limit}\n", "b.py": f"{lines}width = {width}\n"}
        listing = "".join(f"100644 blob {_write(repository, 'blob', text)}\t{name}\n" for name, text in blobs.items())
        return repository.git("mktree", stdin=listing)

    root = _write(repository, "commit", _render_commit(tree(1, 1), "", "Start", 0))
    trees = {"Raise the limit of a": tree(2, 1), "Widen the table of b": tree(1, 2)}
    seen: dict[str, tuple[str, str]] = {}
    pair: dict[str, str] = {}
    number = 0
    while not pair:
        number += 1
        for title, made in trees.items():
            text = _render_commit(made, root, title, number)
            digits = hashlib.sha1(f"commit {len(text)}\0{text}".encode(), usedforsecurity=False).hexdigest()[:7]
            other, twin = seen.setdefault(digits, (title, text))
            if other != title:
                pair = {other: _write(repository, "commit", twin), title: _write(repository, "commit", text)}
    fix, taken = pair["Widen the table of b"], pair["Raise the limit of a"]
    message = f"Raise the limit of a\n\n(cherry picked from commit {taken})"
    landed = _write(repository, "commit", _render_commit(trees["Raise the limit of a"], root, message, 1))
    for name, sha in {"main": fix, "topic": taken, "release": landed}.items():
        repository.git("update-ref", f"refs/heads/{name}", sha)
    return fix


def build_many_files(repository: Repository, count: int) -> str:
    """One line of each of many files is changed."""
    names = [f"src/component_{number // 200:04d}/module_{number:06d}.py" for number in range(count)]
    parts = ["feature done\n"]
    for mark, (year, message) in enumerate((("2025", "Start"), ("2026", "Correct the year (#251)")), 1):
        who = f"Dev <dev@example.invalid> {1700000000 + mark} +0000"
        parts.append(
            f"commit refs/heads/main\nmark :{mark}\nauthor {who}\ncommitter {who}\ndata {len(message)}\n{message}\n"
        )
        for name in names:
            text = f"# year {year}\n{name}\nend\n"
            parts.append(f"M 100644 inline {name}\ndata {len(text)}\n{text}\n")
        if mark == 1:
            parts.append("reset refs/heads/release\nfrom :1\n\n")
    repository.git("fast-import", "--quiet", "--force", stdin="".join([*parts, "done\n"]))
    return repository.git("rev-parse", "main")


_MADE: dict[str, Case] = {"11-short-hash": _share_seven_digits, "25-many-files": partial(build_many_files, count=3000)}
LANDING: dict[str, Case] = {
    name: partial(build_case, name) for name in ("15-crlf-not-normalised", "16-union-in-folder", "17-union-at-root")
}
