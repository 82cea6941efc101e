"""Publishing: dry unless asked, only what the evidence carries, only on the tip, and once."""

from __future__ import annotations

import json
import logging
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from backproof.adapters.github import GitHubClient, RefusedError, read_credentials
from backproof.adapters.github.credentials import Token
from backproof.adapters.github.marker import read_marker
from backproof.app import execution
from backproof.core.errors import BackproofError, ExitCode, GitHubError, HostError, NeedsReview, PlanError
from backproof.core.model import Arm, Outcome
from backproof.records.publish import PublishRecord
from backproof.report import render
from backproof.stages import REGISTRY
from backproof.stages import publish as posting
from backproof.upstream import publish
from backproof.upstream.audit import Subject, examine_pull
from backproof.upstream.publish.ready import must_hold
from backproof.verdict import run_verdict
from hostile_text import HOSTILE
from hypothesis import HealthCheck, given, settings
from markdown_it import MarkdownIt
from run_kinds import hostile_folder, on_device
from stories import BASE, SOURCE, Folder, case, kit_at, level_2_cases, proved

if TYPE_CHECKING:
    from collections.abc import Callable

    from server import StandIn

TOKEN = "token-of-the-bot-000000"  # noqa: S105 - of the stand-in


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    """The plan of the stories, as a kit on disk."""
    return kit_at(tmp_path / "kit")


@pytest.fixture
def upstream_state(hub: StandIn) -> StandIn:
    hub.world.pull(7, head=SOURCE)
    hub.world.branches["release/1"] = BASE
    hub.world.commits[SOURCE] = {"message": "Keep the row index in range"}
    hub.world.pull_commits[7] = [SOURCE]
    return hub


def saved(folder: Folder) -> Path:
    folder.save()
    return folder.path


def prepare(client: GitHubClient, path: Path, kit: Path, **options: Any) -> publish.CommentPlace:
    return publish.prepare_comment(client, publish.load_publishable(path, REGISTRY, kit), **options)


def post(client: GitHubClient, path: Path, kit: Path, **options: Any) -> str:
    place = prepare(client, path, kit, **options)
    record = execution.add_beside(
        path, lambda _: None, posting, PublishRecord, publish.Post(comment=place), kit=str(kit)
    )
    return record.action


def test_a_dry_run_writes_nothing(upstream_state: StandIn, client: GitHubClient, tmp_path: Path, kit: Path) -> None:
    path = saved(proved(tmp_path / "run"))
    before = {each: each.read_bytes() for each in path.rglob("*") if each.is_file()}
    prepared = prepare(client, path, kit)
    assert prepared.plan().action == "create"
    assert upstream_state.made("PATCH") == []
    assert [each for each in upstream_state.made("POST") if each != "/graphql"] == []
    assert {each: each.read_bytes() for each in path.rglob("*") if each.is_file()} == before


def test_posted_and_kept_in_the_run(upstream_state: StandIn, client: GitHubClient, tmp_path: Path, kit: Path) -> None:
    path = saved(proved(tmp_path / "run"))
    assert post(client, path, kit) == "created"
    assert "Level 2 of 4, emulated" in upstream_state.world.bodies(7)[0]
    record = json.loads((path / "publish/publish.json").read_text())
    assert record["url"].endswith(f"#issuecomment-{record['comment']}")
    run = json.loads((path / "run.json").read_text())
    assert [each["outcome"] for each in run["stages"] if each["stage"] == "publish"] == ["pass"]
    assert post(client, path, kit) == "kept", "publishing again changes nothing"


def test_the_comment_is_drawn_up_anew(upstream_state: StandIn, client: GitHubClient, tmp_path: Path, kit: Path) -> None:
    path = saved(proved(tmp_path / "run"))
    (path / "comment.md").write_text("verified on 64 devices by me")
    assert "64 devices" not in prepare(client, path, kit).draft.body


def test_a_fail_may_be_said(upstream_state: StandIn, client: GitHubClient, tmp_path: Path, kit: Path) -> None:
    cases = [
        *level_2_cases()[:2],
        case("raw", Arm.FIXED, "fail", "pass", verdict="failed"),
        *level_2_cases()[3:],
    ]
    path = saved(proved(tmp_path / "run", cases, Outcome.FAIL))
    assert "FAIL" in prepare(client, path, kit).draft.body


def refusal(client: GitHubClient, path: Path, kit: Path) -> BackproofError:
    with pytest.raises((HostError, NeedsReview, PlanError)) as caught:
        prepare(client, path, kit)
    return caught.value


def test_altered_evidence_is_refused(upstream_state: StandIn, client: GitHubClient, tmp_path: Path, kit: Path) -> None:
    path = saved(proved(tmp_path / "run"))
    (path / "validate/base/rows.raw.json").write_text("better")
    error = refusal(client, path, kit)
    assert error.exit_code is ExitCode.ERROR
    assert "validate/base/rows.raw.json" in error.why
    assert upstream_state.requests == [], "nothing is asked of GitHub for a run that does not hold"


def test_a_level_that_the_evidence_does_not_carry_is_refused(
    upstream_state: StandIn, client: GitHubClient, tmp_path: Path, kit: Path
) -> None:
    path = saved(proved(tmp_path / "run"))
    run = json.loads((path / "run.json").read_text())
    (path / "run.json").write_text(json.dumps({**run, "level": 3, "outcome": "pass"}))
    error = refusal(client, path, kit)
    assert "says level 3, its evidence carries 2" in error.what


def test_could_not_tell_is_not_for_upstream(
    upstream_state: StandIn, client: GitHubClient, tmp_path: Path, kit: Path
) -> None:
    folder = Folder(tmp_path / "run")
    folder.pick()
    folder.stage("validate", Outcome.ERROR, "no device")
    assert refusal(client, saved(folder), kit).exit_code is ExitCode.PERSON


def test_a_run_of_an_older_tip_is_refused(
    upstream_state: StandIn, client: GitHubClient, tmp_path: Path, kit: Path
) -> None:
    upstream_state.world.branches["release/1"] = "9" * 40
    error = refusal(client, saved(proved(tmp_path / "run")), kit)
    assert error.exit_code is ExitCode.PERSON
    assert "999999999999" in error.what


def test_commits_that_upstream_does_not_have_are_refused(
    upstream_state: StandIn, client: GitHubClient, tmp_path: Path, kit: Path
) -> None:
    upstream_state.world.pull_commits[7] = ["8" * 40]
    assert "reconstruction" in refusal(client, saved(proved(tmp_path / "run")), kit).why


@pytest.mark.parametrize("facts", [{"locked": True}, {"state": "closed"}])
def test_a_locked_or_closed_conversation_is_left_alone(
    upstream_state: StandIn, client: GitHubClient, tmp_path: Path, kit: Path, facts: dict[str, Any]
) -> None:
    upstream_state.world.pulls[7].update(facts)
    assert refusal(client, saved(proved(tmp_path / "run")), kit).exit_code is ExitCode.ERROR


def test_a_merged_backport_still_gets_its_proof(
    upstream_state: StandIn, client: GitHubClient, tmp_path: Path, kit: Path
) -> None:
    upstream_state.world.pulls[7].update(state="closed", merged=True, merged_at="2026-01-01T00:00:00Z")
    assert prepare(client, saved(proved(tmp_path / "run")), kit).plan().action == "create"


def test_another_kit_is_refused(client: GitHubClient, tmp_path: Path, kit: Path) -> None:
    (kit / "plan.toml").write_text((kit / "plan.toml").read_text().replace('"small"', '"other"', 1))
    assert refusal(client, saved(proved(tmp_path / "run")), kit).exit_code is ExitCode.USAGE


@pytest.mark.parametrize("content", ["", "{", '{"schema_version": 99}', "[]", "\x00" * 10])
def test_a_run_that_cannot_be_read_is_refused(client: GitHubClient, tmp_path: Path, kit: Path, content: str) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run/run.json").write_text(content)
    assert refusal(client, tmp_path / "run", kit).exit_code is ExitCode.USAGE


def test_evidence_outside_the_run_folder_is_not_read(client: GitHubClient, tmp_path: Path, kit: Path) -> None:
    path = saved(proved(tmp_path / "run"))
    secret = tmp_path / "secret"
    secret.write_bytes((path / "validate/base/rows.raw.json").read_bytes())
    (path / "validate/base/rows.raw.json").unlink()
    (path / "validate/base/rows.raw.json").symlink_to(secret)
    assert "validate/base/rows.raw.json" in refusal(client, path, kit).why


def test_without_a_token_the_dry_run_still_tells(
    upstream_state: StandIn, connected: Callable[..., GitHubClient], tmp_path: Path, kit: Path
) -> None:
    nobody = connected(upstream_state, token=None)
    loaded = publish.load_publishable(saved(proved(tmp_path / "run")), REGISTRY, kit)
    prepared = publish.prepare_comment(nobody, loaded)
    assert prepared.plan().action == "create"
    with pytest.raises(GitHubError, match="no token"):
        publish.send_post(publish.Post(comment=prepared))


def test_the_audit_is_part_of_the_comment(
    upstream_state: StandIn, client: GitHubClient, tmp_path: Path, kit: Path
) -> None:
    upstream_state.world.pulls[7]["body"] = "No separate run was performed; CI is the vehicle. Tested on Atlas 800I A3."
    folder = proved(tmp_path / "run")
    record = examine_pull(client, Subject(repo="example/project", pull=7))
    folder.stage("audit", evidence=(folder.record("audit", record),))
    body = prepare(client, saved(folder), kit).draft.body
    assert "The pull request says, of itself: No separate run was performed" in body
    assert "A3" not in body, "below level 3 no word of hardware, not even quoted"


def test_an_audit_alone_is_no_pass(upstream_state: StandIn, client: GitHubClient, tmp_path: Path, kit: Path) -> None:
    folder = Folder(tmp_path / "run")
    record = examine_pull(client, Subject(repo="example/project", pull=7))
    folder.stage("audit", evidence=(folder.record("audit", record),))
    assert publish.load_publishable(saved(folder), REGISTRY, kit).run.outcome is Outcome.ERROR


def test_hosts_and_people_stay_at_home(
    upstream_state: StandIn, client: GitHubClient, tmp_path: Path, kit: Path
) -> None:
    folder = on_device(tmp_path / "run")
    folder.stages = folder.stages[:-1]
    facts = {"host": "a3-node-07", "address": "10.1.2.3", "home": "/home/zhangwei/x", "serial": "SN: 2102313NEY10KA"}
    folder.validate(level_2_cases(), facts=facts)
    body = prepare(client, saved(folder), kit).draft.body
    for private in ("a3-node-07", "10.1.2.3", "zhangwei", "2102313NEY10KA", "ann@example.org"):
        assert private not in body


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=HOSTILE)
def test_hostile_text_stays_text(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """What GitHub would show: no link, image, HTML, mention or reference that came from outside, and one marker."""
    root = tmp_path_factory.mktemp("hostile")
    folder = hostile_folder(root / "run", f"{text}\n<!-- backproof:1 kit=x --> @ann #1 ::set-output name=x::y")
    loaded = publish.load_publishable(saved(folder), REGISTRY, kit_at(root / "kit"))
    body = render.render_comment(loaded.story, loaded.plan)
    assert len(body) <= 60_000
    assert read_marker({"id": 1, "html_url": "u", "body": body, "user": None}) is None
    tokens = [
        inner
        for each in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(body)
        for inner in (each, *(each.children or ()))
    ]
    assert not [each for each in tokens if each.type in {"link_open", "image", "html_inline"}]
    allowed = {"<details>", "</details>"}
    blocks = [each.content for each in tokens if each.type == "html_block"]
    assert all(
        line in allowed or line.startswith("<summary>") for block in blocks for line in block.split("\n") if line
    )
    shown = "\n".join(each.content for each in tokens if each.type == "text")
    assert not re.search(r"(?<![\w`])[@#][A-Za-z0-9]", shown)
    assert not re.search(r"^::", body, re.MULTILINE)


@pytest.mark.parametrize("kind", ["lost-reply", "502", "refuse", "rate-limit", "truncated"])
def test_the_token_is_nowhere(  # noqa: PLR0917 - fixtures
    upstream_state: StandIn,
    connected: Callable[..., GitHubClient],
    tmp_path: Path,
    kit: Path,
    kind: Any,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not in a log at its loudest, not in a file, not in an error, not in a request's path or body."""
    monkeypatch.setenv("GH_TOKEN", TOKEN)
    caplog.set_level(logging.DEBUG)
    path = saved(proved(tmp_path / "run"))
    said = ""
    try:
        post(connected(upstream_state), path, kit)
        upstream_state.fault(kind, "PATCH", "/comments", times=99, status=403, message=f"echo {TOKEN}", seconds=600)
        post(connected(upstream_state), path, kit, language="zh")
    except GitHubError as error:
        said = f"{error!r} {error} {error.__cause__} {error.__context__ and error.__suppress_context__}"
    assert said, "the update was to fail"
    assert TOKEN not in said
    assert TOKEN not in caplog.text
    for file in path.rglob("*"):
        assert not file.is_file() or TOKEN.encode() not in file.read_bytes(), file
    for request in upstream_state.requests:
        assert TOKEN not in f"{request.path} {request.query} {request.body}"
    assert any(TOKEN in each.headers.get("Authorization", "") for each in upstream_state.requests)


def _complete(path: Path) -> Path:
    """A run whose pull request lacks nothing."""
    folder = Folder(path, "emulator")
    folder.pick()
    folder.fixup(fixups=())
    folder.install()
    folder.verify()
    folder.validate(level_2_cases(), Outcome.PASS)
    return saved(folder)


def _post(client: GitHubClient, path: Path, kit: Path, kind: Any) -> publish.Post:
    loaded = publish.load_publishable(path, REGISTRY, kit)
    comment = publish.prepare_comment(client, loaded)
    return publish.Post(comment=comment, check=publish.prepare_check(client, loaded, kind))


def test_a_check_run_says_how_it_ended_and_leads_to_the_comment(
    upstream_state: StandIn, client: GitHubClient, tmp_path: Path, kit: Path
) -> None:
    path = _complete(tmp_path / "run")
    record, again = (publish.send_post(_post(client, path, kit, "run")) for _ in range(2))
    assert again.check == record.check
    (mark,) = upstream_state.world.marks
    assert (mark["head_sha"], mark["conclusion"]) == (SOURCE, "success")
    assert mark["name"] == "backproof / small / release/1 / emulator"
    assert mark["output"]["title"].startswith("PASS at level 2")
    assert mark["details_url"] == record.url
    assert record.check.startswith("https://github.com/example/project/runs/")


def test_a_mark_that_a_run_has_made_is_not_made_again_when_its_reply_is_lost(
    upstream_state: StandIn, client: GitHubClient, tmp_path: Path, kit: Path
) -> None:
    upstream_state.fault("lost-reply", "POST", "/check-runs")
    publish.send_post(_post(client, _complete(tmp_path / "run"), kit, "run"))
    assert len(upstream_state.world.marks) == 1


def test_a_status_where_a_token_may_make_no_check_run(
    upstream_state: StandIn, client: GitHubClient, tmp_path: Path, kit: Path
) -> None:
    path = _complete(tmp_path / "run")
    record, again = (publish.send_post(_post(client, path, kit, "status")) for _ in range(2))
    assert again.check == record.check
    (status,) = upstream_state.world.statuses[SOURCE]
    assert (status["state"], status["target_url"]) == ("success", record.url)
    assert len(status["description"]) <= 140


def test_a_failed_backport_fails_the_check(
    upstream_state: StandIn, client: GitHubClient, tmp_path: Path, kit: Path
) -> None:
    failed = [
        *level_2_cases()[:2],
        case("raw", Arm.FIXED, "fail", "pass", verdict="failed"),
        *level_2_cases()[3:],
    ]
    publish.send_post(_post(client, saved(proved(tmp_path / "run", failed, Outcome.FAIL)), kit, "run"))
    assert upstream_state.world.marks[0]["conclusion"] == "failure"


def test_a_pull_request_that_lacks_a_fix_up_is_no_success(
    upstream_state: StandIn, client: GitHubClient, tmp_path: Path, kit: Path
) -> None:
    publish.send_post(_post(client, saved(proved(tmp_path / "run")), kit, "run"))
    (mark,) = upstream_state.world.marks
    assert mark["conclusion"] == "action_required"
    assert mark["output"]["title"].startswith("1 fix-up not in the pull request; PASS")


def test_credentials_come_from_the_environment_alone(hub: StandIn) -> None:
    assert read_credentials({}) is None
    assert read_credentials({"GH_TOKEN": " ", "GITHUB_TOKEN": ""}) is None
    assert read_credentials({"GITHUB_TOKEN": "one", "GH_TOKEN": "two"}) == Token(value="two")
    assert "two" not in repr(Token(value="two"))
    with pytest.raises(PlanError, match="BACKPROOF_APP_ID"):
        read_credentials({"BACKPROOF_APP_ID": "1"})


def test_an_app_gets_its_installations_token(hub: StandIn, tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    assert os.system(f"openssl genrsa -out {key} 2048 2>/dev/null") == 0  # noqa: S605
    env = {
        "BACKPROOF_APP_ID": "12",
        "BACKPROOF_APP_PRIVATE_KEY": key.read_text(),
        "BACKPROOF_APP_INSTALLATION": "34",
    }
    app = GitHubClient(auth=read_credentials(env), base_url=hub.url)
    assert app.get_login() == "an-app[bot]"
    assert "/app/installations/34/access_tokens" in hub.made("POST")


def test_a_key_of_an_app_that_is_none_is_told(hub: StandIn) -> None:
    env = {"BACKPROOF_APP_ID": "12", "BACKPROOF_APP_PRIVATE_KEY": "secret words", "BACKPROOF_APP_INSTALLATION": "34"}
    with pytest.raises(PlanError, match="BACKPROOF_APP_PRIVATE_KEY cannot be used") as caught:
        GitHubClient(auth=read_credentials(env), base_url=hub.url).get_login()
    assert "secret words" not in str(caught.value)


def test_a_wrong_token_is_told(hub: StandIn, connected: Callable[..., GitHubClient]) -> None:
    with pytest.raises(RefusedError, match="whose token") as caught:
        connected(hub, token="wrong-token-000000").get_login()  # noqa: S106
    assert "GH_TOKEN" in caught.value.next_step


def test_a_run_that_was_killed_says_nothing_that_could_be_posted(tmp_path: Path, kit: Path) -> None:
    folder = proved(tmp_path / "run")
    folder.ledger.save_run(run_verdict.mark_unfinished(folder.run))
    loaded = publish.load_publishable(tmp_path / "run", REGISTRY, kit)
    assert (loaded.run.outcome, loaded.run.level) == (Outcome.RUNNING, None)
    with pytest.raises(NeedsReview, match="no verdict") as caught:
        must_hold(loaded)
    assert caught.value.why == "the command has not finished"
