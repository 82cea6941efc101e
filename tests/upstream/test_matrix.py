"""The matrix of a workflow, and the joining of what comes back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from backproof.core.errors import PlanError
from backproof.core.model import Arm, Outcome
from backproof.devices import DEVICES
from backproof.kit.loader import load_plan
from backproof.kit.plan import Runner
from backproof.records.merged import Merged
from backproof.report import render
from backproof.stages import REGISTRY
from backproof.upstream import matrix, merge
from kits import write_kit
from stories import Folder, case, kit_at, level_2_cases, proved

if TYPE_CHECKING:
    from repositories import Repository

ON_DEVICE = '\n[check.expect.ascend]\nbase = "fail"\npick = "pass"\nfixed = "pass"\n\n[[branch]]\nname = "stable/2"\n'


def test_branches_by_devices_with_tips(upstream: Any, tmp_path: Path) -> None:
    tip = upstream.git("rev-parse", "HEAD")
    upstream.git("branch", "release")
    upstream.git("branch", "stable/2")
    kit = load_plan(write_kit(tmp_path / "kit", [tip], more=ON_DEVICE), DEVICES)
    found = matrix.make_matrix(kit, str(upstream.folder), default=Runner(labels=("self-hosted", "a3")))
    assert {(each.name, each.labels) for each in found.include} == {
        ("release-emulator", ("ubuntu-24.04",)),
        ("stable-2-emulator", ("ubuntu-24.04",)),
        ("release-ascend", ("self-hosted", "a3")),
        ("stable-2-ascend", ("self-hosted", "a3")),
    }
    assert {each.sha for each in found.include} == {tip}
    assert len(matrix.make_matrix(kit, str(upstream.folder), devices=("ascend",)).include) == 2


def test_a_branch_or_device_that_is_not_there_is_an_error(upstream: Any, tmp_path: Path) -> None:
    kit = load_plan(write_kit(tmp_path / "kit", [upstream.git("rev-parse", "HEAD")]), DEVICES)
    with pytest.raises(PlanError, match="release"):
        matrix.make_matrix(kit, str(upstream.folder))
    upstream.git("branch", "release")
    with pytest.raises(PlanError, match="tpu"):
        matrix.make_matrix(kit, str(upstream.folder), devices=("tpu",))


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    return kit_at(tmp_path / "kit")


def expected(tmp_path: Path, *devices: str) -> Path:
    cells = [
        {"name": f"c{index}", "kit": "small", "branch": "release/1", "sha": "a", "device": each, "labels": []}
        for index, each in enumerate(devices)
    ]
    path = tmp_path / "matrix.json"
    path.write_text(json.dumps({"schema_version": 1, "include": cells}))
    return path


def test_shards_are_joined_and_the_worst_decides(tmp_path: Path, kit: Path) -> None:
    proved(tmp_path / "runs/one").save()
    failed = [*level_2_cases()[:2], case("raw", Arm.FIXED, "fail", "pass", verdict="failed")]
    proved(tmp_path / "runs/two", failed, Outcome.FAIL, device="ascend").save()
    merged = merge.merge_runs([tmp_path / "runs"], kit, REGISTRY, expected=expected(tmp_path, "emulator", "ascend"))
    assert merged.outcome is Outcome.FAIL
    assert [(each.device, each.outcome) for each in merged.shards] == [("ascend", "fail"), ("emulator", "pass")]
    merge.write_merged(merged, tmp_path / "out")
    assert Merged.model_validate_json((tmp_path / "out/merged.json").read_bytes()) == merged
    assert "| release/1 |" in (tmp_path / "out/merged.md").read_text()


def test_a_shard_that_did_not_come_back_is_an_error(tmp_path: Path, kit: Path) -> None:
    proved(tmp_path / "runs/one").save()
    merged = merge.merge_runs([tmp_path / "runs"], kit, REGISTRY, expected=expected(tmp_path, "emulator", "ascend"))
    assert merged.outcome is Outcome.ERROR
    assert "no run came back" in merged.shards[0].sentence


def test_a_shard_that_was_altered_is_an_error(tmp_path: Path, kit: Path) -> None:
    folder = proved(tmp_path / "one")
    folder.save()
    (folder.path / "validate/base/rows.raw.json").write_text("better")
    assert merge.merge_runs([folder.path], kit, REGISTRY).outcome is Outcome.ERROR


def test_nothing_to_join_is_an_error(tmp_path: Path, kit: Path) -> None:
    with pytest.raises(PlanError, match="no run to join"):
        merge.merge_runs([tmp_path], kit, REGISTRY)
    merged = merge.merge_runs([tmp_path], kit, REGISTRY, expected=expected(tmp_path, "emulator"))
    assert merged.outcome is Outcome.ERROR


def test_hostile_words_of_a_shard_stay_words(tmp_path: Path, kit: Path) -> None:
    folder = Folder(tmp_path / "one")
    folder.pick(Outcome.PERSON)
    folder.stages[0] = folder.stages[0].model_copy(update={"sentence": "x | <img> @ann\n::error::y `"})
    folder.save()
    text = render.render_matrix(merge.merge_runs([folder.path], kit, REGISTRY))
    assert "<img>" not in text
    assert "@ann" not in text
    assert "\n::" not in text


PLACES = """
[branch.runner.ascend]
python = "/opt/stable/bin/python"
container = "quay.io/example/cann:stable"
labels = ["a3-1"]
"""


def test_a_branch_says_where_it_runs_and_the_workflow_what_it_leaves_open(upstream: Repository, tmp_path: Path) -> None:
    upstream.git("branch", "release")
    upstream.git("branch", "stable/2")
    kit = load_plan(write_kit(tmp_path / "kit", [upstream.git("rev-parse", "HEAD")], more=ON_DEVICE + PLACES), DEVICES)
    default = Runner(labels=("a3",), python="/opt/python", environment="login")
    cells = {
        cell.name: (cell.python, cell.container, cell.labels, cell.environment)
        for cell in matrix.make_matrix(kit, str(upstream.folder), default=default).include
    }
    assert cells == {
        "release-emulator": ("", "", ("ubuntu-24.04",), ""),
        "stable-2-emulator": ("", "", ("ubuntu-24.04",), ""),
        "release-ascend": ("/opt/python", "", ("a3",), "login"),
        "stable-2-ascend": ("/opt/stable/bin/python", "quay.io/example/cann:stable", ("a3-1",), "login"),
    }


def test_one_branch_alone(upstream: Repository, tmp_path: Path) -> None:
    upstream.git("branch", "release")
    upstream.git("branch", "stable/2")
    kit = load_plan(write_kit(tmp_path / "kit", [upstream.git("rev-parse", "HEAD")], more=ON_DEVICE), DEVICES)
    cells = matrix.make_matrix(kit, str(upstream.folder), branches=("stable/2",)).include
    assert {cell.branch for cell in cells} == {"stable/2"}
    with pytest.raises(PlanError, match="stable/3: no branch of small") as caught:
        matrix.make_matrix(kit, str(upstream.folder), branches=("stable/3",))
    assert "did you mean 'stable/2'?" in caught.value.why


def test_a_runner_for_a_device_that_is_not_there_is_refused(tmp_path: Path) -> None:
    kit = write_kit(tmp_path / "kit", ["a" * 40], more=ON_DEVICE + PLACES.replace("runner.ascend", "runner.ascned"))
    with pytest.raises(PlanError, match=r"branch stable/2: no device 'ascned'; did you mean 'ascend'\?"):
        load_plan(kit, DEVICES)
