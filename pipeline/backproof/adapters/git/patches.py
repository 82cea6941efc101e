"""Messages and changed lines of many commits in one pass, cut to what is worth searching."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from backproof.adapters.git.command import checked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backproof.adapters.git.store import Store

_BATCH: Final = 400
_LONG: Final = 300_000
"""Characters of one commit's changed lines: the rest of a generated file tells nothing."""
_UNSEARCHED: Final = re.compile(r"(?:^|/)(?:docs?|tests?|\.github)/|\.(?:md|rst|json|ya?ml|lock|csv|svg|ipynb|patch)$")


@dataclass(frozen=True, kw_only=True, slots=True)
class Patch:
    """A commit as words: its message, the source files that it changes, and the lines, with the functions around them."""

    sha: str
    message: str
    files: tuple[str, ...]
    lines: str


def list_unmerged(store: Store, main: str, release: str | None = None) -> list[str]:
    """Return the commits of `main` that `release` does not have, without merges, newest first."""
    revs = (main, *(() if release is None else (f"^{release}",)))
    return checked(store.run_git("rev-list", "--no-merges", *revs), "history cannot be read").text.split()


def read_patches(store: Store, shas: Sequence[str]) -> Iterator[Patch]:
    """Read commits in the order given; documents and tests are left out of files and lines."""
    options = ("-p", "-U0", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv", "--format=%x00%H%x01%B%x01")
    for at in range(0, len(shas), _BATCH):
        batch = "\n".join(shas[at : at + _BATCH]).encode()
        done = checked(
            store.run_git("log", "--no-walk=unsorted", "--stdin", *options, stdin=batch), "history cannot be read"
        )
        for text in done.stdout.decode("utf-8", "replace").split("\0")[1:]:
            yield _parse_patch(text)


def _parse_patch(text: str) -> Patch:
    head, _, diff = text.partition("\ndiff --git ")
    sha, _, message = head.rstrip("\x01\n").partition("\x01")
    blocks = ((block.partition("\n")[0].partition(" b/")[2], block) for block in diff.split("\ndiff --git "))
    sources = {path: block.partition("\n@@")[2] for path, block in blocks if path and not _UNSEARCHED.search(path)}
    return Patch(sha=sha, message=message, files=tuple(sources), lines="\n".join(sources.values())[:_LONG])
