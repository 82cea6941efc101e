"""The matrix as GitHub takes it: what the real command gives, written out in the workflow, before GitHub's own parser."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from kits import write_kit
from workflow_parser import parse

from tests.upstream.test_matrix import ON_DEVICE
from tests.workflows.test_workflow import EXPRESSION, WORKFLOW, named, read

if TYPE_CHECKING:
    from repositories import Repository

pytestmark = pytest.mark.usefixtures("workflow_parser_ready")

OUTPUT = re.compile(r"^([\w-]+)<<(\w+)\n(.*?)\n\2$", re.MULTILINE | re.DOTALL)
FROM_PLAN = re.compile(r"\$\{\{ fromJSON\(needs\.plan\.outputs\.([\w-]+)\) \}\}")
ON_EACH_CELL = {"validate", "attest"}
STRATEGY_MATRIX = re.compile(r"(?<=\n      matrix:).*?(?=\n    \S)", re.DOTALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class Planned:
    """What the job `plan` leaves: its outputs, and the text of the artifact matrix.json."""

    outputs: dict[str, str]
    artifact: str


@pytest.fixture
def planned(upstream: Repository, tmp_path: Path) -> Planned:
    """The job `plan` of two branches on two devices: its script in bash, with the real command."""
    tip = upstream.git("rev-parse", "HEAD")
    upstream.git("branch", "release")
    upstream.git("branch", "stable/2")
    kit = write_kit(tmp_path / "kit", [tip], more=ON_DEVICE)
    run_matrix_step(tmp_path, {"KIT": str(kit), "REPO": str(upstream.folder), "LABELS": "self-hosted,a3"})
    step = {name: value for name, _, value in OUTPUT.findall((tmp_path / "output").read_text())}
    known = {f"steps.matrix.outputs.{name}": value for name, value in step.items()}
    job = read(WORKFLOW)["jobs"]["plan"]["outputs"]
    outputs = {name: EXPRESSION.sub(lambda match: known.get(match[1], ""), text) for name, text in job.items()}
    return Planned(outputs=outputs, artifact=(tmp_path / "matrix.json").read_text())


def run_matrix_step(folder: Path, inputs: dict[str, str]) -> None:
    actions = {"GITHUB_ACTIONS": "true", "GITHUB_OUTPUT": str(folder / "output")}
    tool = {"BACKPROOF": str(Path(sys.executable).with_name("backproof")), "DEVICES": ""}
    subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", named("Matrix").body],
        cwd=folder,
        env={**os.environ, **actions, **tool, **inputs},
        check=True,
    )


def evaluated(outputs: dict[str, str]) -> str:
    """The workflow with the JSON of an output of `plan` in place of each expression that reads it."""
    text, count = FROM_PLAN.subn(lambda match: json.dumps(json.loads(outputs[match[1]])), WORKFLOW.read_text())
    assert count == len(ON_EACH_CELL)
    return text


def strategy_matrix(workflow: str) -> Any:
    parsed = parse(workflow)
    assert parsed.errors == []
    first, *others = (parsed.strategies[job]["matrix"] for job in sorted(ON_EACH_CELL))
    assert all(other == first for other in others)
    return first


def test_github_takes_the_workflow_as_it_stands() -> None:
    assert set(parse(WORKFLOW.read_text()).strategies) == ON_EACH_CELL
    assert parse(WORKFLOW.read_text()).errors == []


def test_github_takes_the_evaluated_matrix(planned: Planned) -> None:
    matrix = strategy_matrix(evaluated(planned.outputs))
    assert sorted(cell["name"] for cell in matrix["include"]) == [
        "release-ascend",
        "release-emulator",
        "stable-2-ascend",
        "stable-2-emulator",
    ]


def test_the_jobs_are_those_that_merge_expects(planned: Planned) -> None:
    matrix = strategy_matrix(evaluated(planned.outputs))
    assert matrix == {"include": json.loads(planned.artifact)["include"]}


def test_github_refuses_the_whole_artifact_as_a_matrix(planned: Planned) -> None:
    """The schema version is why only the list goes there: a key of its own is a vector, and a vector is a list."""
    whole, count = STRATEGY_MATRIX.subn(lambda _: f" {planned.artifact.strip()}", WORKFLOW.read_text())
    assert count == len(ON_EACH_CELL)
    errors = parse(whole).errors
    assert len(errors) == count
    assert all(error.endswith("Unexpected value '1'") for error in errors)


def test_the_parser_checks_jobs_against_each_other() -> None:
    """The conversion's part: a needed job that is not there is no matter of the schema."""
    errors = parse(WORKFLOW.read_text().replace("needs: plan\n", "needs: nothing\n")).errors
    assert errors[0].endswith("Job 'validate' depends on unknown job 'nothing'.")
