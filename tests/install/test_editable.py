"""Editable installations, as setuptools makes them: proved on a copy, and the checkout is not touched."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from backproof.core.errors import ExitCode
from overlay_site import picture
from plain_job import PlainJob, make_job
from target_env import CONV, Target

if TYPE_CHECKING:
    from collections.abc import Mapping

PROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "demo"
version = "1.0"
[tool.setuptools]
packages = {packages}
package-dir = {{{folders}}}
"""
PATH_LINE = PROJECT.format(packages=["demo", "demo.ops"], folders='"" = "src"')
FINDER = PROJECT.format(packages=["demo", "demo.ops"], folders='"demo" = "src/demo", "demo.ops" = "src/demo/ops"')
NAMESPACE = PROJECT.format(packages=["demo.ops"], folders='"demo.ops" = "src/demo/ops"')
AT_THE_FRONT = """
import importlib.machinery, sys
class Finder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] == "demo":
            return importlib.machinery.PathFinder.find_spec(name, path or [{source!r}])
sys.meta_path.insert(0, Finder)
"""


@dataclass(frozen=True, kw_only=True)
class Checkout:
    """A job whose target has the release as somebody's checkout."""

    job: PlainJob
    folder: Path

    def claims(self) -> dict[str, dict[str, Any]]:
        record = json.loads((self.job.run_folder / "verify/verify.json").read_text())
        return {claim["name"]: claim for claim in record["claims"]}


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Target:
    """An environment with pip and setuptools."""
    folder = tmp_path_factory.mktemp("editable") / "target env"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "setuptools>=64", "wheel"]
    subprocess.run(pip, check=True)
    site = folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    return Target(folder=folder, python=python, site=site)


def check_out(tmp_path: Path, target: Target, *, without_top: bool = False) -> Checkout:
    """A job on this target, and a checkout of its release; the top package can be a namespace."""
    job = replace(make_job(tmp_path / "job"), target=target)
    if without_top:
        job.upstream.git("checkout", "--quiet", "release")
        job.upstream.commit("a namespace", {"src/demo/__init__.py": None})
        job.upstream.git("checkout", "--quiet", "main")
    folder = tmp_path / "check out"
    job.upstream.git("clone", "--quiet", "--no-hardlinks", "--branch", "release", ".", str(folder))
    return Checkout(job=job, folder=folder)


def install_editable(checkout: Checkout, project: str, settings: Mapping[str, str] | None = None) -> None:
    (checkout.folder / "pyproject.toml").write_text(project)
    switches = ["--quiet", "--disable-pip-version-check", "--no-build-isolation", "--no-deps"]
    chosen = [f"--config-settings={name}={value}" for name, value in (settings or {}).items()]
    command = [str(checkout.job.target.python), "-m", "pip", "install", *switches, *chosen, "-e", str(checkout.folder)]
    subprocess.run(command, check=True)


@pytest.mark.parametrize(
    ("project", "settings"),
    [(PATH_LINE, {}), (FINDER, {}), (PATH_LINE, {"editable_mode": "compat"})],
    ids=["a .pth line", "a finder and its mapping", "as setup.py develop"],
)
def test_it_is_proved_on_a_copy(tmp_path: Path, target: Target, project: str, settings: dict[str, str]) -> None:
    checkout = check_out(tmp_path, target)
    install_editable(checkout, project, settings)
    before = picture(checkout.folder), picture(target.folder)
    done = checkout.job.run()
    assert done.returncode == ExitCode.PASS, done.stdout + done.stderr
    assert (picture(checkout.folder), picture(target.folder)) == before
    loaded = checkout.claims()["loaded"]
    assert "in a copy of file:///" in loaded["sentence"]
    assert loaded["sentence"].endswith("put first on PYTHONPATH")
    probe = json.loads((checkout.job.run_folder / "verify/probe.json").read_text())
    assert {module["winner"]["kind"] for module in probe["modules"]} == {"PYTHONPATH"}
    assert checkout.claims()["reached"]["outcome"] == "pass"
    assert "on a copy of the editable" in (checkout.job.run_folder / "comment.md").read_text()


def test_a_namespace_is_shared_with_other_distributions(tmp_path: Path, target: Target) -> None:
    checkout = check_out(tmp_path, target, without_top=True)
    install_editable(checkout, NAMESPACE)
    other = target.write("demo/other_distribution.py", b"ANSWER = 42\n")
    check = checkout.job.kit / "checks" / "test_answers.py"
    check.write_text(
        check.read_text().replace(
            "conv.answer() == 42", "conv.answer() == __import__('demo.other_distribution').other_distribution.ANSWER"
        )
    )
    try:
        done = checkout.job.run()
    finally:
        other.unlink()
        other.parent.rmdir()
    assert done.returncode == ExitCode.PASS, done.stdout + done.stderr


def test_a_checkout_with_changes_is_a_persons_decision(tmp_path: Path, target: Target) -> None:
    checkout = check_out(tmp_path, target)
    install_editable(checkout, PATH_LINE)
    (checkout.folder / "src" / CONV).write_text("def answer():\n    return 'mine'\n")
    done = checkout.job.run()
    assert done.returncode == ExitCode.PERSON
    assert CONV in done.stdout
    assert "mine" in (checkout.folder / "src" / CONV).read_text()


def test_the_copy_is_of_the_checkout_as_it_is_now(tmp_path: Path, target: Target) -> None:
    checkout = check_out(tmp_path, target)
    install_editable(checkout, PATH_LINE)
    (checkout.folder / "src/demo/later.py").write_text("LATER = 1\n")
    assert checkout.job.run().returncode == ExitCode.PASS
    (checkout.folder / "src/demo/later.py").write_text("LATER = 2\n")
    assert checkout.job.run().returncode == ExitCode.PASS
    assert (checkout.job.run_folder / "editable/demo/later.py").read_text() == "LATER = 2\n"


def test_a_finder_before_every_path_is_an_error_and_no_failure_of_the_backport(tmp_path: Path, target: Target) -> None:
    checkout = check_out(tmp_path, target)
    install_editable(checkout, PATH_LINE)
    source = str(checkout.folder / "src")
    front = [
        target.write("front.py", AT_THE_FRONT.format(source=source).encode()),
        target.write("front.pth", b"import front\n"),
    ]
    try:
        done = checkout.job.run()
    finally:
        for file in front:
            file.unlink()
    assert done.returncode == ExitCode.ERROR, done.stdout + done.stderr
    assert "no copy can be put before its editable installation" in done.stdout


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('root = "src"', 'root = "src"\nmode = "pip"', "builds its arms with pip"),
        ('root = "src"', 'root = "notes"', "has no file of the patch"),
    ],
)
def test_what_cannot_be_copied_is_said(tmp_path: Path, target: Target, old: str, new: str, words: str) -> None:
    checkout = check_out(tmp_path, target)
    install_editable(checkout, PATH_LINE)
    plan = checkout.job.kit / "plan.toml"
    plan.write_text(plan.read_text().replace(old, new))
    done = checkout.job.run()
    assert done.returncode == ExitCode.USAGE
    assert words in done.stderr
