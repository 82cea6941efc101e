"""A new kit is complete but for what only a person can say, and says what that is."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from backproof import scaffold
from backproof.adapters.github import RefusedError
from backproof.core.errors import PlanError
from backproof.devices import DEVICES
from backproof.kit.loader import load_plan
from backproof.scaffold.kit import build_check_text
from backproof.scaffold.plan_text import build_plan_text
from hypothesis import given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.adapters.github import GitHubClient
    from server import StandIn

FIX, NOTE, UNNOTE, MERGE = "f" * 40, "d" * 40, "6" * 40, "9" * 40
FILLED = {
    "# fill in: claim = the claim that the check shows": 'claim = "it holds"',
    '# fill in: base = "fault:<kind>" or "fail", pick and fixed = "pass"': 'base = "fail"\npick = "pass"\nfixed = "pass"',
}


@pytest.fixture
def world(hub: StandIn) -> StandIn:
    world = hub.world
    world.pull(19353, title='Give "padded" rows \\ a row', body="Backport of #18878.", base="releases/v0.30.0")
    world.pull_commits[19353] = [FIX, NOTE, UNNOTE, MERGE]
    code = {"filename": "pkg/conv_state.py", "status": "modified"}
    test = {"filename": "tests/ut/test_conv_state.py", "status": "modified"}
    world.commits[FIX] = {
        "message": "fix",
        "files": [code, {"filename": "release_notes/18878.yaml", "status": "added"}],
    }
    world.commits[NOTE] = {"message": "note", "files": [{"filename": "release_notes/19353.yaml", "status": "added"}]}
    world.commits[UNNOTE] = {"message": "-", "files": [{"filename": "release_notes/19353.yaml", "status": "removed"}]}
    world.commits[MERGE] = {"message": "Merge", "parents": [FIX, NOTE], "files": [code]}
    world.pull_files[19353] = [code, test]
    return hub


def errors(folder: Path) -> str:
    with pytest.raises(PlanError) as caught:
        load_plan(folder, DEVICES)
    return caught.value.why


def test_only_what_is_named_is_missing(world: StandIn, client: GitHubClient, tmp_path: Path) -> None:
    made = scaffold.write_kit(
        scaffold.read_pull(client, "example/project", 19353), tmp_path / "kit", scaffold.check_choices()
    )
    missing = set(re.findall(r"toml: ([\w.]+): Field required", errors(tmp_path / "kit")))
    assert missing == {key for key, _ in made.to_fill}
    assert len(errors(tmp_path / "kit").splitlines()) == len(made.to_fill), "and nothing else is wrong"


def test_what_can_be_read_is_filled_in(world: StandIn, client: GitHubClient, tmp_path: Path) -> None:
    scaffold.write_kit(scaffold.read_pull(client, "example/project", 19353), tmp_path / "kit", scaffold.check_choices())
    path = tmp_path / "kit/plan.toml"
    text = path.read_text()
    for blank, filled in FILLED.items():
        assert blank in text
        text = text.replace(blank, filled)
    path.write_text(text)
    found = load_plan(tmp_path / "kit", DEVICES)
    assert found.title == 'Give "padded" rows \\ a row'
    assert (found.upstream.pull, found.upstream.original_pull) == (19353, 18878)
    assert found.pick.commits == (FIX[:12],)
    assert found.pick.drop == ("/release_notes/",)
    assert [each.commit for each in found.pick.not_wanted] == [NOTE[:12], UNNOTE[:12]]
    assert [each.name for each in found.branch] == ["releases/v0.30.0"]
    check = (tmp_path / "kit" / found.check[0].file).read_text()
    assert "tests/ut/test_conv_state.py" in check
    assert "pytest.fail" in check, "an unwritten check must not be green"


def test_from_the_original_the_merged_commit_is_picked(world: StandIn, client: GitHubClient, tmp_path: Path) -> None:
    world.world.pull(18878, base="main", merged=True, state="closed", merge_commit_sha="c" * 40)
    world.world.pull_commits[18878] = [FIX]
    world.world.branches.update({"releases/v0.29.0": "1" * 40, "releases/v0.30.0": "2" * 40, "main": "3" * 40})
    facts = scaffold.read_pull(client, "example/project", 18878)
    made = scaffold.write_kit(facts, tmp_path / "kit", scaffold.check_choices())
    assert facts.wanted == ("c" * 40,)
    assert made.to_fill[0][0] == "branch"
    assert "releases/v0.29.0, releases/v0.30.0" in (tmp_path / "kit/plan.toml").read_text()
    assert "branch: Field required" in errors(tmp_path / "kit")


def test_the_release_branch_is_read_there_too(world: StandIn, client: GitHubClient) -> None:
    world.world.contents["releases/v0.30.0", "pkg/__init__.py"] = ""
    world.world.contents["releases/v0.30.0", "setup.cfg"] = "[metadata]\nname = Some_Kit\n"
    facts = scaffold.read_pull(client, "example/project", 19353)
    assert (facts.release.root, facts.release.distribution) == ("", "some-kit")
    text = build_plan_text(facts, scaffold.check_choices())
    assert 'distribution = "some-kit"' in text
    assert "root" not in text


def test_a_branch_can_be_named(world: StandIn, client: GitHubClient, tmp_path: Path) -> None:
    world.world.pull(18878, base="main", merged=True, state="closed", merge_commit_sha="c" * 40)
    world.world.pull_commits[18878] = [FIX]
    world.world.pull_files[18878] = [{"filename": "src/pkg/conv_state.py", "status": "modified"}]
    world.world.branches["releases/v0.29.0"] = "1" * 40
    world.world.contents["1" * 40, "src/pkg/__init__.py"] = ""
    facts = scaffold.read_pull(client, "example/project", 18878, "releases/v0.29.0")
    made = scaffold.write_kit(facts, tmp_path / "kit", scaffold.check_choices())
    assert "branch" not in dict(made.to_fill)
    text = (tmp_path / "kit/plan.toml").read_text()
    assert 'name = "releases/v0.29.0"' in text
    assert 'root = "src"' in text
    with pytest.raises(RefusedError):
        scaffold.read_pull(client, "example/project", 18878, "releases/v0.28.0")


def test_a_kit_is_not_written_over(world: StandIn, client: GitHubClient, tmp_path: Path) -> None:
    facts = scaffold.read_pull(client, "example/project", 19353)
    scaffold.write_kit(facts, tmp_path, scaffold.check_choices())
    before = (tmp_path / "plan.toml").read_bytes()
    with pytest.raises(PlanError, match="exists there already"):
        scaffold.write_kit(facts, tmp_path, scaffold.check_choices())
    assert (tmp_path / "plan.toml").read_bytes() == before


def test_a_hostile_pull_request_makes_no_other_plan(world: StandIn, client: GitHubClient) -> None:
    facts = scaffold.read_pull(client, "example/project", 19353)

    @settings(deadline=None)
    @given(title=st.text(), path=st.text(min_size=1))
    def holds(title: str, path: str) -> None:
        hostile = replace(
            facts,
            title=f'{title}"\n[pick]\ncommits = []',
            files=(f"{path}\nimport os\n.py",),
            branch=f"release\n{title}\udcff",
            remote=f"{title}\n[evil]",
            source=f"{title}\nevil = 1",
        )
        found = tomllib.loads(build_plan_text(hostile, scaffold.check_choices()))
        assert found["pick"]["commits"] == [FIX[:12]]
        assert not {"evil"} & set(found)
        assert [each for each in build_check_text(hostile).splitlines() if each.startswith("import")] == [
            "import pytest"
        ]

    holds()
