"""Where this Backproof came from, in the words that a reader of the comment can install it with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from backproof.app import origin
from backproof.records.proof import Settings
from contexts import new_run
from pydantic import ValidationError
from repositories import Repository

if TYPE_CHECKING:
    from pathlib import Path

COMMIT = "c" * 40


class Installed:
    """What `importlib.metadata` answers for a distribution that was installed like this."""

    version = "1.2.3"

    def __init__(self, address: dict[str, Any] | None) -> None:
        self.address = address

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return None if self.address is None else json.dumps(self.address)


def describe(monkeypatch: pytest.MonkeyPatch, address: dict[str, Any] | None) -> str:
    monkeypatch.setattr("importlib.metadata.distribution", lambda _: Installed(address))
    found = origin.describe_origin()
    settings = Settings(kit="k", repo="r", branch="b", python="p", device="cpu")
    return new_run(settings, origin=found).origin


def vcs(url: str) -> dict[str, Any]:
    return {"url": url, "vcs_info": {"vcs": "git", "commit_id": COMMIT}}


def test_a_published_release_is_named_by_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    assert describe(monkeypatch, None) == "backproof==1.2.3"


@pytest.mark.parametrize("url", ["https://example.org/o/b.git", "https://ann:secret@example.org/o/b.git"])
def test_a_git_address_is_named_without_user_and_password(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    assert describe(monkeypatch, vcs(url)) == f"backproof @ git+https://example.org/o/b.git@{COMMIT}"


def test_what_nobody_else_can_reach_is_named_by_its_commit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert describe(monkeypatch, vcs("ssh://git@example.org/o/b.git")) == f"sources at {COMMIT}"
    repository = Repository(tmp_path / "a clone")
    repository.folder.mkdir()
    address = {"url": repository.folder.as_uri(), "dir_info": {"editable": True}}
    assert describe(monkeypatch, address) == "sources"
    repository.git("init", "--quiet")
    commit = repository.commit("first", {"a": "a"})
    assert describe(monkeypatch, address) == f"sources at {commit}"
    inside = {"url": (repository.folder / "inside").as_uri(), "dir_info": {}}
    (repository.folder / "inside").mkdir()
    assert describe(monkeypatch, inside) == "sources", "a folder of another project's repository"
    assert describe(monkeypatch, {"url": "https://example.org/b.whl", "archive_info": {}}) == "sources"


@pytest.mark.parametrize(
    "text", ["backproof==1; curl x", "backproof @ file:///x", "evil==1", "sources at /home/ann", "x\n"]
)
def test_a_run_with_another_origin_is_refused(text: str) -> None:
    settings = Settings(kit="k", repo="r", branch="b", python="p", device="cpu")
    with pytest.raises(ValidationError):
        new_run(settings, origin=text)
