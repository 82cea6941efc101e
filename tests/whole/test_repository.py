"""The repository's habits: forms, hooks and the changelog name what there is."""

from __future__ import annotations

import configparser
import re
import tomllib
from importlib import resources
from typing import Any

import backproof
import pytest
import yaml
from checkout import ROOT

FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def environments() -> set[str]:
    tox = configparser.ConfigParser()
    tox.read(ROOT / "tox.ini")
    return {name.removeprefix("testenv:") for name in tox.sections() if name.startswith("testenv:")}


def load(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text("utf-8"))


def asked(form: str) -> dict[str, bool]:
    """The fields of an issue form, and whether each must be filled in."""
    fields = [field for field in load(f".github/ISSUE_TEMPLATE/{form}.yml")["body"] if "id" in field]
    return {field["id"]: field.get("validations", {}).get("required", False) for field in fields}


def test_the_hooks_run_what_tox_runs() -> None:
    (local,) = load(".pre-commit-config.yaml")["repos"]
    entries = [hook["entry"] for hook in local["hooks"]]
    assert local["repo"] == "local"
    assert entries == [f"tox run -q -e {name}" for name in ("lint", "type", "imports")]
    assert {"lint", "type", "imports"} < environments()


@pytest.mark.parametrize("file", [".github/pull_request_template.md", "CONTRIBUTING.md", "README.md"])
def test_the_environments_that_a_page_names_are_there(file: str) -> None:
    text = (ROOT / file).read_text("utf-8")
    named = {
        name for names in re.findall(r"tox (?:run|devenv)[ a-z-]* -e ([\w,-]+)", text) for name in names.split(",")
    }
    assert named
    assert named <= environments()


def test_a_bug_asks_for_the_crash_file_and_a_rule_for_its_evidence() -> None:
    assert asked("bug") == {"command": True, "expected": True, "crash": False, "run": False, "version": False}
    assert {name for name, must in asked("rule").items() if must} == {"excerpt", "cause"}
    assert {name for name, must in asked("device").items() if must} == {"device", "faults", "inventory"}


def test_every_form_is_held_to_the_schema() -> None:
    """By check-jsonschema in the environment `workflows`."""
    tox = (ROOT / "tox.ini").read_text("utf-8")
    assert [form.name for form in FORMS] == re.findall(r"ISSUE_TEMPLATE/(\w+\.yml)", tox)


def test_the_changelog_has_the_version_and_what_comes_after_it() -> None:
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert headings[1].split(" ")[0] == backproof.__version__


def test_the_package_is_typed_and_says_so() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert resources.files("backproof").joinpath("py.typed").is_file()
    assert "Typing :: Typed" in project["classifiers"]


def test_the_settings_of_mutation_name_what_is_there() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mutmut"]
    for pattern in settings["only_mutate"]:
        assert list(ROOT.glob(pattern.replace("src/", "pipeline/", 1))), pattern
    for path in settings["pytest_add_cli_args_test_selection"]:
        assert (ROOT / path).exists(), path
    survivors = tomllib.loads((ROOT / "tests" / "mutation" / "survivors.toml").read_text("utf-8"))["survivor"]
    for function in {survivor["function"] for survivor in survivors} - {"*"}:
        module, _, name = function.rpartition(".")
        path = ROOT / "pipeline" / f"{module.replace('.', '/')}.py"
        path = path if path.exists() else path.parent.with_suffix(".py")  # a method: the folder is its module's name
        assert re.search(rf"^ *def {name}\(", path.read_text("utf-8"), flags=re.MULTILINE), function
