"""The answer of `git merge-tree --write-tree -z`, read for many merges, and the unmerged entries of an index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.adapters.git.objects import Entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, kw_only=True, slots=True)
class Merge:
    """Bring the change from `base` to `theirs` onto `ours`; all are trees."""

    base: str
    ours: str
    theirs: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """What git says of some paths."""

    paths: tuple[str, ...]
    kind: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Merged:
    """The tree that came out (with diff3 markers where it conflicts), or why there is none."""

    tree: str | None
    clean: bool = False
    unmerged: dict[str, dict[int, Entry]]
    messages: tuple[Message, ...] = ()
    failure: str = ""
    labels: tuple[str, str] = ("", "")
    """The names of both sides in markers: hashes of ours, which no file holds by chance."""

    @property
    def merged_paths(self) -> frozenset[str]:
        """The files whose text was merged: git names each of them."""
        messages = (message for message in self.messages if message.kind == "Auto-merging")
        return frozenset(path for message in messages for path in message.paths)


def failed_merge(why: str) -> Merged:
    """Return the result of a merge that git could not do."""
    return Merged(tree=None, unmerged={}, failure=why.strip() or "git did not say why")


def parse_batch(output: bytes) -> Iterator[Merged]:
    """Yield the merges that were finished; git stops at one that it cannot do, and half an answer is none."""
    tokens = _split_tokens(output)
    for status in tokens:
        if status in {"0", "1"}:
            try:
                yield _parse_one(tokens, clean=status == "1")
            except StopIteration:
                return


def parse_unmerged(listing: bytes) -> dict[str, dict[int, Entry]]:
    """Read `ls-files --unmerged -z`."""
    return _parse_stages([row for row in _split_tokens(listing) if row])


def _split_tokens(output: bytes) -> Iterator[str]:
    return iter(output.decode("utf-8", "surrogateescape").split("\0"))


def _parse_one(tokens: Iterator[str], *, clean: bool) -> Merged:
    tree = next(tokens)
    rows: list[str] = []
    for row in tokens:
        if not row:
            break
        rows.append(row)
    messages: list[Message] = []
    for count in tokens:
        # For submodules git prints advice for people in front of the terminator, also to a machine (seen with 2.39.5).
        if not count.isdigit():
            break
        paths = tuple(next(tokens) for _ in range(int(count)))
        messages.append(Message(paths=paths, kind=next(tokens), text=next(tokens).strip()))
    return Merged(tree=tree, clean=clean, unmerged=_parse_stages(rows), messages=tuple(messages))


def _parse_stages(rows: Sequence[str]) -> dict[str, dict[int, Entry]]:
    unmerged: dict[str, dict[int, Entry]] = {}
    for row in rows:
        meta, path = row.split("\t", 1)
        mode, oid, stage = meta.split(" ")
        unmerged.setdefault(path, {})[int(stage)] = Entry(mode=mode, oid=oid)
    return unmerged
