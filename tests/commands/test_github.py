"""The commands as a user types them: what is printed, what is written, how they end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from backproof.cli import cli
from backproof.core.errors import BackproofError, ExitCode
from click.testing import CliRunner, Result
from stories import BASE, SOURCE, kit_at, proved

from tests.upstream.test_publish import TOKEN
from tests.upstream.test_similar import TRIAGE

if TYPE_CHECKING:
    from server import StandIn


@pytest.fixture
def world(hub: StandIn, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    monkeypatch.setenv("GITHUB_API_URL", hub.url)
    monkeypatch.setenv("GH_TOKEN", TOKEN)
    hub.world.pull(7, head=SOURCE, base="release/1", body="No separate run was performed.")
    hub.world.branches["release/1"] = BASE
    hub.world.commits[SOURCE] = {"files": [{"filename": "pkg/rows.py", "status": "modified"}]}
    hub.world.pull_commits[7] = [SOURCE]
    hub.world.pull_files[7] = [{"filename": "pkg/rows.py", "status": "modified"}]
    return hub


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    return kit_at(tmp_path / "kit")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = proved(tmp_path / "run")
    folder.save()
    return folder.path


def call(*args: Any, code: int = 0) -> Result:
    done = CliRunner().invoke(cli, [str(each) for each in args])
    if isinstance(done.exception, BackproofError):
        done.exit_code = done.exception.exit_code
    assert done.exit_code == code, (done.output, done.exception)
    return done


def in_actions(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary"))
    monkeypatch.setenv("GITHUB_OUTPUT", str(folder / "output"))


def test_publish_is_dry_until_asked(world: StandIn, run: Path, kit: Path) -> None:
    dry = call("publish", run, "--kit", kit, "--check", "run")
    assert dry.output.startswith("would create as the-bot[bot]")
    assert "Level 2 of 4, emulated" in dry.output
    assert f"would mark example/project@{SOURCE[:12]}: POST /repos/example/project/check-runs" in dry.output
    assert '"conclusion": "action_required"' in dry.output
    assert (world.world.bodies(7), world.world.marks) == ([], [])
    assert call("publish", run, "--kit", kit, "--publish").output.startswith("created: https://github.com/")
    assert len(world.world.bodies(7)) == 1


def test_publish_in_chinese(world: StandIn, run: Path, kit: Path) -> None:
    call("publish", run, "--kit", kit, "--publish", "--lang", "zh")
    assert "仅此不够" in world.world.bodies(7)[0]


def test_a_refusal_ends_with_its_code(world: StandIn, run: Path, kit: Path) -> None:
    world.world.branches["release/1"] = "9" * 40
    call("publish", run, "--kit", kit, "--publish", code=ExitCode.PERSON)
    world.fault("refuse", "GET", "/pulls/7", status=404, message="Not Found")
    call("publish", run, "--kit", kit, "--publish", code=ExitCode.ERROR)


def test_audit_of_a_pull_request_and_of_a_run(world: StandIn, run: Path, kit: Path) -> None:
    assert "No separate run was performed." in call("audit", "example/project#7").output
    call("audit", kit, "--run", run)
    stored = json.loads((run / "audit/audit.json").read_text())
    assert stored["claims"][0]["quote"] == "No separate run was performed."
    body = call("publish", run, "--kit", kit).output
    assert "No separate run was performed." in body
    assert "Level 2 of 4" in body, "an audit is no part of the proof"


def test_audit_that_leaves_something_open_needs_a_person(world: StandIn, kit: Path) -> None:
    comment = {"body": "```suggestion\nrows.zero_()\n```", "url": "https://x.invalid/", "author": None}
    world.world.threads[7] = [
        {
            "id": "T",
            "isResolved": True,
            "isOutdated": False,
            "path": "pkg/rows.py",
            "line": 1,
            "startLine": None,
            "originalLine": 1,
            "originalStartLine": None,
            "resolvedBy": None,
            "comments": {
                "nodes": [{**comment, "originalCommit": None}],
                "pageInfo": {"hasNextPage": False, "endCursor": None},
            },
        }
    ]
    world.world.contents[SOURCE, "pkg/rows.py"] = "rows = 1\n"
    done = call("audit", "example/project#7", "--json", code=ExitCode.PERSON)
    assert json.loads(done.output)["requests"][0]["in_head"] == "no"


def test_new_and_what_to_do_next(world: StandIn, tmp_path: Path) -> None:
    done = call("new", "https://github.com/example/project/pull/7", "--out", tmp_path / "new")
    assert "check.0.claim" in done.output
    assert done.output.strip().endswith(f"backproof plan check {tmp_path / 'new'}")
    call("new", "example/project#7", "--out", tmp_path / "new", code=ExitCode.USAGE)


def test_find_on_github(world: StandIn, run: Path) -> None:
    (run / "triage").mkdir()
    (run / "triage/triage.json").write_text(json.dumps(TRIAGE))
    world.world.issues = [{"number": 3, "title": "507011 \x1b[31m again", "body": "MTE error"}]
    done = call("find", run, "--github", "example/project")
    assert "#3 ★★" in done.output
    assert "\x1b" not in done.output
    assert (
        json.loads(call("find", run, "--github", "example/project", "--json").output)["issues"]["similar"][0]["number"]
        == 3
    )


def test_present_in_actions(run: Path, kit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_actions(monkeypatch, tmp_path)
    done = call("ci", "present", run, "--kit", kit)
    assert "::stop-commands::" in done.output
    assert (tmp_path / "summary").read_text().startswith("**Pull request 7 on `release/1` is not enough alone.")
    assert "outcome<<" in (tmp_path / "output").read_text()


def test_present_elsewhere_prints_the_comment(run: Path, kit: Path) -> None:
    assert call("ci", "present", run, "--kit", kit).output.startswith("**Pull request 7 on `release/1` is not")
    assert call("ci", "present", run, "--kit", kit, "--lang", "zh").output.startswith("**合入请求 7")


def test_merge_in_actions(run: Path, kit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_actions(monkeypatch, tmp_path)
    cell = {"name": "c", "kit": "small", "branch": "release/1", "sha": "a", "device": "ascend", "labels": []}
    (tmp_path / "matrix.json").write_text(json.dumps({"schema_version": 1, "include": [cell]}))
    expect = ("--expect", tmp_path / "matrix.json")
    done = call("ci", "merge", run, "--kit", kit, "--out", tmp_path / "merged", *expect, code=ExitCode.ERROR)
    assert "::error title=release/1 on ascend::error: no run came back" in done.output
    assert "| release/1 |" in (tmp_path / "summary").read_text()
    call("ci", "merge", run, "--kit", kit, "--out", tmp_path / "merged")


def test_matrix_gives_an_output(upstream: Any, kit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_actions(monkeypatch, tmp_path)
    upstream.git("branch", "release/1")
    printed = call("ci", "matrix", kit, "--repo", upstream.folder).stdout
    assert [each["device"] for each in json.loads(printed)["include"]] == ["emulator"]
    name, given, _ = (tmp_path / "output").read_text().splitlines()
    assert name.startswith("include<<"), "GitHub refuses the whole as a matrix: see test_strategy.py"
    assert json.loads(given) == json.loads(printed)["include"]


@pytest.mark.parametrize("args", [("publish",), ("audit",), ("new", "x"), ("merge",), ("matrix", "nowhere")])
def test_usage(args: tuple[str, ...]) -> None:
    call(*args, code=ExitCode.USAGE)
