"""Environments, made for real: found again, of the files that a build makes, and a step that fails says which."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from backproof.adapters.git import Source, Store
from backproof.core.errors import HostError
from backproof.recipes.cache import prepare_environment
from backproof.recipes.kept import list_environments, prune_environments
from backproof.recipes.release import Release, read_release

if TYPE_CHECKING:
    from pathlib import Path

    from repositories import Repository

BUILD = """
[build-system]
requires = []
build-backend = "own_build"
backend-path = ["."]

[project]
name = "shop"
version = "1"

[tool.backproof]
install = {install}
steps = {steps}
"""
BACKEND = """
import os, zipfile

def build_wheel(folder, config_settings=None, metadata_directory=None):
    name = "shop-1-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        wheel.write("src/shop/__init__.py", "shop/__init__.py")
        wheel.writestr("shop/_version.py", "version = '%s'" % os.environ["SETUPTOOLS_SCM_PRETEND_VERSION"])
        wheel.writestr("shop-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: shop\\nVersion: 1\\n")
        wheel.writestr("shop-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("shop-1.dist-info/RECORD", "shop/__init__.py,,\\nshop/_version.py,,\\nshop-1.dist-info/RECORD,,\\n")
    return name
"""


def release(repository: Repository, tmp_path: Path, *, install: str = "true", steps: str = "[]") -> Release:
    pyproject = BUILD.format(install=install, steps=steps)
    files: dict[str, str | bytes | None] = {"src/shop/__init__.py": "", "own_build.py": BACKEND}
    sha = repository.commit("a release", {**files, "pyproject.toml": pyproject})
    source = Source.open(str(repository.folder))
    return read_release(Store.create(tmp_path / "store", source), source, "main", sha)


def test_an_environment_is_made_once_and_has_what_a_build_makes(upstream: Repository, tmp_path: Path) -> None:
    said: list[str] = []
    made = prepare_environment(release(upstream, tmp_path), said.append)
    assert (made.generated / "src/shop/_version.py").read_text() == "version = '0.0'"
    assert [path.name for path in made.generated.rglob("*.py")] == ["_version.py"]
    assert any("venv" in line for line in said)
    said.clear()
    assert prepare_environment(release(upstream, tmp_path), said.append) == made
    assert said == []
    (row,) = list_environments()
    assert (row.name, row.origin) == (made.folder.name, "[tool.backproof] of main")
    assert prune_environments(days=1) == []
    assert prune_environments(days=-1) == [made.folder.name]
    assert list_environments() == []


def test_a_step_that_fails_is_named_with_its_last_lines(upstream: Repository, tmp_path: Path) -> None:
    steps = '[["{python}", "-c", "raise SystemExit(\'no such library\')"]]'
    with pytest.raises(HostError, match="the environment of shop cannot be made") as caught:
        prepare_environment(release(upstream, tmp_path, install="false", steps=steps), lambda _: None)
    assert "no such library" in caught.value.why
    assert "targets/shop.toml" in caught.value.next_step
    assert len(prune_environments(days=1)) == 1


ASKS = (
    '[["{python}", "-c", "import os; print(os.environ.get(\'UV_EXCLUDE_NEWER\'))"]]\npackages = "of the branch\'s time"'
)
REFUSES = '[["{python}", "-c", "import os; raise SystemExit(\'UV_EXCLUDE_NEWER\' in os.environ)"]]\npackages = "of the branch\'s time"'


def test_packages_of_the_branchs_time_are_from_before_the_month_after_its_commit(
    upstream: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("UV_EXCLUDE_NEWER", raising=False)
    made = prepare_environment(release(upstream, tmp_path, install="false", steps=ASKS), lambda _: None)
    assert (made.folder / "step-1.log").read_text().strip() == "2026-02-01"
    assert made.origin == "[tool.backproof] of main, with packages from before 2026-02-01"


def test_where_they_cannot_be_had_the_newest_are_taken_and_said(
    upstream: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("UV_EXCLUDE_NEWER", raising=False)
    said: list[str] = []
    made = prepare_environment(release(upstream, tmp_path, install="false", steps=REFUSES), said.append)
    assert made.origin == "[tool.backproof] of main"
    assert any("once more with the newest" in line for line in said)
    assert prepare_environment(release(upstream, tmp_path, install="false", steps=REFUSES), said.append) == made


def test_a_policy_of_the_users_own_wins(upstream: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_EXCLUDE_NEWER", "2020-02-02")
    made = prepare_environment(release(upstream, tmp_path, install="false", steps=ASKS), lambda _: None)
    assert (made.folder / "step-1.log").read_text().strip() == "2020-02-02"
    assert made.origin == "[tool.backproof] of main"
