"""Objects of a store: what cannot be read is said, and a process that died is started again."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from backproof.adapters.git import Entry, Source, Store
from backproof.core.errors import HostError

if TYPE_CHECKING:
    from repositories import Opened, Repository


def children() -> list[int]:
    return list(map(int, Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()))


def test_a_process_that_died_is_started_again(upstream: Repository, opened: Opened) -> None:
    objects = opened(upstream).objects
    before = set(children())
    sha = upstream.git("rev-parse", "HEAD")
    first = objects.read_commit(sha)
    (process,) = set(children()) - before
    os.kill(process, signal.SIGKILL)
    assert objects.read_commit(sha) == first
    objects.close()
    assert set(children()) == before


@pytest.mark.parametrize("name", ["0" * 40, "HEAD", "main\n", "", f"{'0' * 40}\n{'1' * 40}"])
def test_what_is_no_object_of_the_store_is_said_and_confuses_nothing(
    name: str, upstream: Repository, opened: Opened
) -> None:
    objects = opened(upstream).objects
    with pytest.raises(HostError, match="cannot be read"):
        objects.read_object(name, "commit")
    assert objects.read_commit(upstream.git("rev-parse", "HEAD")).subject == "start"


def test_a_damaged_object_is_an_error_and_the_others_are_read(upstream: Repository, opened: Opened) -> None:
    blob = upstream.git("rev-parse", "HEAD:README.md")
    file = upstream.folder / ".git" / "objects" / blob[:2] / blob[2:]
    file.chmod(0o644)
    file.write_bytes(b"damaged")
    objects = opened(upstream).objects
    with pytest.raises(HostError, match="cannot be read"):
        objects.read_object(blob, "blob")
    assert objects.read_commit(upstream.git("rev-parse", "HEAD")).subject == "start"


def test_a_commit_in_another_encoding_is_read(upstream: Repository, opened: Opened) -> None:
    tree = upstream.git("rev-parse", "HEAD^{tree}")
    data = f"tree {tree}\nauthor A <a@x> 1 +0000\ncommitter C <c@x> 2 +0000\nencoding x-unknown-8bit\n\nT\n".encode()
    made = ["git", "-C", str(upstream.folder), "hash-object", "-w", "-t", "commit", "--stdin"]
    done = subprocess.run(made, input=data.replace(b"A <", b"\xe9 <"), check=True, capture_output=True)
    commit = opened(upstream).objects.read_commit(done.stdout.decode().strip())
    assert (commit.subject, commit.parents, commit.author) == ("T", (), "\ufffd <a@x>")


def test_objects_of_ours_are_on_disk_for_a_git_command_that_asks_for_them(upstream: Repository, opened: Opened) -> None:
    store = opened(upstream)
    blob = store.objects.write_object("blob", b"text\n")
    tree = store.objects.edit_tree(None, {"a/b": Entry(mode="100644", oid=blob)})
    other = store.objects.write_object("blob", b"other\n")
    commit = store.objects.write_synthetic(tree)
    kind = ("cat-file", "-t")
    assert store.objects.read_object(blob, "blob") == b"text\n"
    assert store.run_git(*kind, commit, asks=()).code != 0
    assert store.run_git("ls-tree", "-r", commit, asks=[commit]).text.split() == ["100644", "blob", blob, "a/b"]
    assert store.run_git(*kind, other, asks=()).code != 0
    assert store.run_git(*kind, other).text == "blob\n"
    assert store.objects.write_object("blob", b"text\n") == blob


def test_a_store_that_stays_has_its_objects_at_once(upstream: Repository, tmp_path: Path) -> None:
    store = Store.create(tmp_path / "run.git", Source.open(str(upstream.folder)))
    blob = store.objects.write_object("blob", b"text\n")
    assert Store(store.folder).run_git("cat-file", "-p", blob).text == "text\n"
