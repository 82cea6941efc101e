"""What a project declares, read as a recipe; and which recipe wins."""

from __future__ import annotations

import tomllib
from datetime import datetime
from typing import TYPE_CHECKING

import pytest
from backproof.adapters.git import Source, Store
from backproof.core.errors import PlanError
from backproof.recipes.build import choose_interpreter
from backproof.recipes.find import find_recipe, format_recipe, parse_recipe
from backproof.recipes.infer import infer_recipe
from backproof.recipes.release import Release, read_release

if TYPE_CHECKING:
    from pathlib import Path

    from repositories import Repository


def read(repository: Repository, tmp_path: Path, files: dict[str, str | bytes | None]) -> Release:
    sha = repository.commit("a release", files)
    source = Source.open(str(repository.folder))
    return read_release(Store.create(tmp_path / "store", source), source, "main", sha)


PROJECT = '[project]\nname = "Web_Shop"\n'
GROUPS = '[dependency-groups]\ntest = ["pytest"]\nlint = ["ruff"]\n'
EXTRAS = '[project.optional-dependencies]\ntesting = ["mock"]\nsocks = ["x"]\n'
NOX = "import nox\n\n@nox.session\ndef tests(session):\n    session.install('-r', 'req.txt')\n    session.install('mock', '.')\n"


@pytest.mark.parametrize(
    ("files", "origin", "facts"),
    [
        (
            {"pyproject.toml": PROJECT + GROUPS + EXTRAS},
            "dependency groups",
            {"groups": ("test",), "extras": ("testing",)},
        ),
        (
            {"pyproject.toml": PROJECT, "requirements-dev.txt": "mock\n"},
            "requirements files",
            {"files": ("requirements-dev.txt",)},
        ),
        ({"requirements/test.in": "mock\n"}, "requirements files", {"files": ("requirements/test.in",)}),
        (
            {"tox.ini": "[testenv]\ndeps =\n  -r r.txt\n  mock>=2\n  py38: old\n  .\nextras = a,b\n"},
            "tox.ini",
            {"files": ("r.txt",), "requirements": ("mock>=2", "pytest"), "extras": ("a", "b")},
        ),
        ({"noxfile.py": NOX}, "noxfile.py", {"files": ("req.txt",), "requirements": ("mock", "pytest")}),
        ({"setup.cfg": "[options.extras_require]\ntest =\n  mock\n"}, "dependency groups", {"extras": ("test",)}),
        ({"a.py": ""}, "nothing", {"install": False}),
    ],
)
def test_the_first_that_says_anything_wins(
    upstream: Repository, tmp_path: Path, files: dict[str, str | bytes | None], origin: str, facts: dict[str, object]
) -> None:
    found = infer_recipe(read(upstream, tmp_path, files))
    assert found.origin.startswith(f"inferred from {origin}")
    assert {name: getattr(found.recipe, name) for name in facts} == facts
    assert "pytest" in found.recipe.requirements
    assert found.recipe.packages == "of the branch's time"
    assert parse_recipe(tomllib.loads(format_recipe(found.recipe)), "recipe.toml") == found.recipe


def test_the_branchs_own_recipe_wins_over_one_beside_the_kits(
    upstream: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "targets").mkdir()
    (tmp_path / "targets" / "web-shop.toml").write_text('project = "web-shop"\nrequirements = ["beside"]\n')
    beside = find_recipe(read(upstream, tmp_path, {"pyproject.toml": PROJECT}))
    assert beside is not None
    assert (beside.origin, beside.recipe.requirements) == ("targets/web-shop.toml", ("beside",))
    table = PROJECT + '[tool.backproof]\nrequirements = ["own"]\n'
    own = find_recipe(read(upstream, tmp_path, {"pyproject.toml": table}))
    assert own is not None
    assert (own.origin, own.recipe.requirements) == ("[tool.backproof] of main", ("own",))


def test_a_recipe_with_an_unknown_key_is_refused(upstream: Repository, tmp_path: Path) -> None:
    release = read(upstream, tmp_path, {"pyproject.toml": PROJECT + '[tool.backproof]\nrequire = ["own"]\n'})
    with pytest.raises(PlanError, match="the recipe is invalid") as caught:
        find_recipe(release)
    assert "require: Extra inputs are not permitted" in caught.value.why


def test_recipes_come_with_the_package(upstream: Repository, tmp_path: Path) -> None:
    for name in ("vllm-ascend", "urllib3", "pytest", "aiohttp"):
        found = find_recipe(read(upstream, tmp_path, {"pyproject.toml": f'[project]\nname = "{name}"\n'}))
        assert found is not None
        assert found.origin == f"targets/{name}.toml"


def test_a_python_that_is_not_here_is_said(upstream: Repository, tmp_path: Path) -> None:
    release = read(upstream, tmp_path, {"pyproject.toml": PROJECT + 'requires-python = "<3"\n'})
    with pytest.raises(PlanError, match="web-shop on main needs Python <3"):
        choose_interpreter(infer_recipe(release).recipe, release)


def test_the_version_is_that_of_the_nearest_tag(upstream: Repository, tmp_path: Path) -> None:
    upstream.commit("first", {"a.py": ""})
    upstream.git("tag", "v1.2.3")
    assert read(upstream, tmp_path, {"a.py": "x = 1\n"}).version == "1.2.3"


@pytest.mark.parametrize(("date", "until"), [("2021-11-30", "2021-12-01"), ("2021-12-31", "2022-01-01")])
def test_the_packages_of_its_time_are_those_of_its_month(
    upstream: Repository, tmp_path: Path, date: str, until: str
) -> None:
    tree = upstream.git("rev-parse", f"{upstream.commit('a release', {'a.py': ''})}^{{tree}}")
    committer = f"committer A <a@example.org> {date_seconds(date)} +0000"
    text = f"tree {tree}\nauthor A <a@example.org> 1 +0000\n{committer}\n\na release\n"
    sha = upstream.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=text)
    upstream.git("update-ref", "refs/heads/old", sha)
    source = Source.open(str(upstream.folder))
    assert read_release(Store.create(tmp_path / "store", source), source, "old", sha).until == until


def date_seconds(date: str) -> int:
    return int(datetime.fromisoformat(f"{date}T12:00:00+00:00").timestamp())
