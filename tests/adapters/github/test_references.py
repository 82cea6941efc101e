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


@pytest.mark.parametrize(
    "text",
    [
        "[Cherry-pick][releases/v0.23.0][Doc][Misc] Add limitations (from #13543)",
        "Fix it\n\nBackport from #13543 to fix `warmup`",
        "Fix it\n\n> **v0.26.0rc backport** of main PR #13543.",
        "Fix it\n\nBackport of main PR\n#13543",
        "Fix it\n\nbackport: [#13543](https://github.com/example/project/pull/13543)",
        "Fix it\n\n- Cherry-pick PR #13543 to releases/v0.26.0rc.",
        "cherry-pick example#13543 from v0.9.1-dev",
        "[CI] cherry-pick fix ut (#13543)",
        "[BugFix][0.22.1rc] Backport NPU transfer engine (#13543 #10816 #10996)",
        "Fix triton error (Cherry-Pick 13543)",
        "[Cherry Pick] cherry pick from 13543 Update pd readme",
        "[cherry-pick pr-13543] bugfix",
        "Fix it\n\n(cherry picked from commit 139a166537 of fix-gva, PR #13543)",
        "Fix it\n\nThis PR backports #13543 to `releases/v0.22.1rc`.",
        "Fix it\n\nThis pr cherry pick from #13543. Update the guide",
        "Fix it\n\nSyncs PR #13543 (cherry-picked to releases/v0.23.0) to the main branch.",
        "Fix it\n\nBackport Project PR #13543 from releases/v0.26.0rc",
        "Backport of #12 and so on: #13543",
        "Fix it\n\nOriginal PR: #13543",
        "Fix it\n\nBackport https://github.com/example/project/pull/13543",
        "Fix it\n\nForward-port #13543 to `main`.",
    ],
)
def test_the_original_that_a_text_names(text: str) -> None:
    assert references.find_original_pull(text, but=12, repo="example/project") == 13543


@pytest.mark.parametrize(
    "text",
    [
        "Fix it\n\nBackport the behavior from vLLM PR #51296 by enabling the parser",
        "Fix it\n\nBackports https://github.com/other/project/pull/44283",
        "Fix it\n\nThis backports the parser from https://github.com/other/project/pull/51296 to the release; PR #13993 has the rest",
        'Revert "[cherry-pick] support gatingtopk (#4050)"',
        "Fix it\n\nThere is an existing release backport attempt (#9904).",
        "Fix it\n\nPR #13993 already backported the tokenizer",
        "Fix it\n\nCherry-pick. See #55.\n",
        "Fix it\n\nBackport of #12",
        "[CI] Add /cherry-pick command\n\nFixes #33",
        "",
    ],
)
def test_a_text_that_names_no_original_of_its_repository(text: str) -> None:
    assert references.find_original_pull(text, but=12, repo="example/project") is None


def test_a_hostile_text_is_read_in_linear_time() -> None:
    """A time would be a bench; this one does not end in a lifetime where the patterns backtrack."""
    for part in ("cherry-pick ", "this pr ", "[(" * 5, "backport of the main upstream pr ", "#1 cherry-pick", "a.b/"):
        references.find_original_pull(part * 5000, but=1, repo="example/project")


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
