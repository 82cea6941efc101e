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
