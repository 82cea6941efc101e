"""Which repository and pull requests a text names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from backproof.adapters.git import Source
from backproof.adapters.github import references
from repositories import Repository

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/example/pro.ject",
        "https://github.com/example/pro.ject.git",
        "https://me:token@github.com/example/pro.ject.git/",
        "http://GitHub.com:80/example/pro.ject",
        "git@github.com:example/pro.ject.git",
        "ssh://git@github.com:22/example/pro.ject",
    ],
)
def test_an_address_of_github_names_its_repository(address: str) -> None:
    assert references.parse_repository(address) == "example/pro.ject"


@pytest.mark.parametrize(
    "address",
    [
        "",
        "/srv/github.com/example/project",
        "https://github.com.evil.example/example/project",
        "https://evil.example/github.com/example/project",
        "https://github.com/example/project/pull/3",
        "https://github.com/example",
        'https://github.com/example/"\nrepo = "x',
    ],
)
def test_any_other_address_names_none(address: str) -> None:
    assert references.parse_repository(address) == ""


@pytest.mark.parametrize(
    ("subject", "title", "pull", "original"),
    [
        ("Fix it (#12)", "Fix it", 12, None),
        ("Fix it (#11) (#12) ", "Fix it", 12, 11),
        ('Revert "Fix it (#11)" (#12)', 'Revert "Fix it (#11)"', 12, None),
        ("Fix #12", "Fix #12", None, None),
        ("Fix (#12) it", "Fix (#12) it", None, None),
        ("(#12)", "(#12)", 12, None),
        ("Fix (#1234567890)", "Fix (#1234567890)", None, None),
        ("Fix (#١٢)", "Fix (#١٢)", None, None),
        ("", "", None, None),
    ],
)
def test_numbers_behind_a_subject(subject: str, title: str, pull: int | None, original: int | None) -> None:
    found = references.parse_subject(subject)
    assert (found.title, found.pull, found.original) == (title, pull, original)


def test_the_remote_of_upstream_comes_before_a_fork(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "r")
    repository.folder.mkdir()
    repository.git("init", "--quiet")
    assert Source.open(str(repository.folder)).addresses == {}
    repository.git("remote", "add", "mine", "/srv/mine")
    repository.git("remote", "add", "origin", "https://me:secret@github.com/me/fork")
    repository.git("remote", "add", "upstream", "https://github.com/example/project")
    found = Source.open(str(repository.folder)).addresses
    assert list(found) == ["upstream", "origin", "mine"]
    assert "secret" not in str(found)


def test_what_a_repository_includes_is_not_read(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "r")
    repository.folder.mkdir()
    repository.git("init", "--quiet")
    (tmp_path / "other").write_text('[remote "origin"]\n\turl = https://github.com/example/other\n')
    repository.git("config", "include.path", str(tmp_path / "other"))
    assert Source.open(str(repository.folder)).addresses == {}
