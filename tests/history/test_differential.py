"""git's own answer is the reference: over generated repositories, the engine and a plain `git cherry-pick` say the same."""

from __future__ import annotations

import random
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from backproof.history.picks import Picker
from backproof.records.picks import PickOutcome
from repositories import Repository

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from repositories import Opened

    Files = dict[str, tuple[str, bytes]]
    """Path to mode and content."""

CASES = 30
FOLDERS = ("", "pkg/", "pkg/inner/", "docs/")
ATTRIBUTES = (
    b"*.md merge=union\n",
    b"* text=auto\n*.md -merge\n",
    b"[attr]log merge=union\n*.txt log\n",
    b"* text eol=crlf\n",
    b"b* binary\n*.py conflict-marker-size=9\n",
)


@dataclass(frozen=True)
class Triple:
    """Commits: what the release has, and the fix on its own parent."""

    release: str
    fix: str


def make_base(pick: random.Random) -> Files:
    files: Files = {}
    for number in range(pick.randint(3, 7)):
        name = f"{pick.choice(FOLDERS)}{pick.choice('abc')}{number}.{pick.choice(('py', 'md', 'txt'))}"
        end = pick.choice((b"\n", b"\n", b"\r\n"))
        lines = [b"line %d of %s" % (at, name.encode()) for at in range(pick.randint(2, 12))]
        files[name] = ("100644", end.join([*lines, b""]))
    for folder in FOLDERS:
        files[f"{folder}log.md"] = ("100644", b"log\n")
        if pick.random() < 0.5:
            files[f"{folder}.gitattributes"] = ("100644", pick.choice(ATTRIBUTES))
    return files


def change(pick: random.Random, files: Files) -> Files:
    changed = dict(files)
    # Both sides add to the same place: what the attributes say is then what comes out.
    append_line(pick, changed, f"{pick.choice(FOLDERS)}log.md")
    for _ in range(pick.randint(1, 3)):
        names = sorted(name for name in changed if ".git" not in name)
        if names:
            EDITS[pick.randrange(len(EDITS))](pick, changed, pick.choice(names))
    return changed


def edit_line(pick: random.Random, files: Files, name: str) -> None:
    mode, content = files[name]
    lines = content.splitlines(keepends=True) or [b""]
    at = pick.randrange(len(lines))
    lines[at : at + 1] = [b"changed %d\n" % pick.randrange(3), *([lines[at]] if pick.random() < 0.5 else [])]
    files[name] = (mode, b"".join(lines))


def append_line(pick: random.Random, files: Files, name: str) -> None:
    files[name] = (files[name][0], files[name][1] + b"added %d\n" % pick.randrange(3))


def rename(pick: random.Random, files: Files, name: str) -> None:
    files[f"{pick.choice(FOLDERS)}renamed{pick.randrange(3)}.md"] = files.pop(name)


def move_folder(pick: random.Random, files: Files, name: str) -> None:
    folder = name.rpartition("/")[0]
    target = pick.choice(("moved", "docs"))
    for path in [path for path in files if folder and path.startswith(f"{folder}/")]:
        files[path.replace(folder, target, 1)] = files.pop(path)


def add_beside(pick: random.Random, files: Files, name: str) -> None:
    folder = name.rpartition("/")[0]
    files[f"{folder}/new.py".lstrip("/")] = ("100644", b"new %d\n" % pick.randrange(2))


def delete(_: random.Random, files: Files, name: str) -> None:
    del files[name]


def change_mode(pick: random.Random, files: Files, name: str) -> None:
    files[name] = (pick.choice(("100755", "120000")), files[name][1])


EDITS = (edit_line, edit_line, append_line, append_line, rename, move_folder, add_beside, delete, change_mode)


def import_all(repository: Repository, pick: random.Random) -> list[Triple]:
    """One process writes all: base, the release on it, and the fix on it."""
    stream: list[bytes] = []
    for case in range(CASES):
        base = make_base(pick)
        for number, (parent, files) in enumerate(((0, base), (1, change(pick, base)), (1, change(pick, base)))):
            mark = case * 3 + number + 1
            who = b"A <a@x> 1700000000 +0000"
            start = b"commit refs/c/%d\nmark :%d\ncommitter %s\ndata 4\ncase\n" % (mark, mark, who)
            stream += [start, b"from :%d\ndeleteall\n" % (case * 3 + 1) if parent else b""]
            for name, (mode, content) in _without_clashes(files).items():
                stream += [
                    b'M %s inline "%s"\ndata %d\n' % (mode.encode(), name.encode(), len(content)),
                    content,
                    b"\n",
                ]
    subprocess.run(["git", "-C", str(repository.folder), "fast-import", "--quiet"], input=b"".join(stream), check=True)
    commits = [repository.git("rev-parse", f"refs/c/{mark + 1}") for mark in range(CASES * 3)]
    return [Triple(release=commits[at + 1], fix=commits[at + 2]) for at in range(0, len(commits), 3)]


def _without_clashes(files: Files) -> Files:
    """A name that is a file and a folder at once is no tree."""
    return {name: entry for name, entry in files.items() if not any(other.startswith(f"{name}/") for other in files)}


def cherry_pick(clone: Repository, triple: Triple) -> tuple[str | None, frozenset[str]]:
    """What git says: the tree, or None and the paths in conflict."""
    clone.git("checkout", "--quiet", "--force", "--detach", triple.release)
    done = subprocess.run(
        ["git", "-C", str(clone.folder), "cherry-pick", "--no-commit", triple.fix], capture_output=True, check=False
    )
    rows = clone.git("ls-files", "--unmerged", "-z").split("\0")
    unmerged = frozenset(row.split("\t", 1)[1] for row in rows if row)
    assert done.returncode == 0 or unmerged or b"CONFLICT" in done.stdout, done.stderr.decode()
    tree = None if unmerged or done.returncode else clone.git("write-tree")
    clone.git("clean", "-qfdx")
    return tree, unmerged


def without_side(paths: Iterable[str]) -> set[str]:
    """A file that needs another name gets the side's behind a `~`: git names its commits, the engine its own."""
    return {path.split("~")[0] for path in paths}


@pytest.mark.parametrize("seed", [1, 2])
def test_the_engine_says_what_git_says(seed: int, tmp_path: Path, upstream: Repository, opened: Opened) -> None:
    triples = import_all(upstream, random.Random(seed))  # noqa: S311 - cases, not secrets
    clone = Repository(tmp_path / "clone")
    upstream.git(
        "clone", "--quiet", "--no-checkout", "--mirror", str(upstream.folder), str(tmp_path / "clone" / ".git")
    )
    clone.git("config", "core.bare", "false")
    # git refuses to pick over a file that its conversion makes look changed: it gets the bytes, as the engine does.
    (tmp_path / "clone" / ".git" / "info" / "attributes").write_text("* -text\n")
    with Picker(opened(upstream)) as picker:
        questions = [(picker.read_change(triple.fix), picker.read_tree(triple.release)) for triple in triples]
        picks = picker.pick_all(questions)
    landed = 0
    for triple, pick in zip(triples, picks, strict=True):
        tree, unmerged = cherry_pick(clone, triple)
        assert pick.tree == tree, triple
        assert (pick.outcome is PickOutcome.CONFLICT) == (tree is None), triple
        assert without_side({conflict.path for conflict in pick.conflicts}) >= without_side(unmerged), triple
        landed += tree is not None
    assert CASES / 10 < landed < CASES * 9 / 10, "the generator makes both"
