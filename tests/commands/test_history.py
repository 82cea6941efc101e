"""The commands as a user meets them: text, JSON, exit codes, hostile text, hostile repositories."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from backproof.commands import history
from backproof.core.errors import BackproofError, HostError, PlanError
from click.testing import CliRunner, Result
from kits import write_kit

if TYPE_CHECKING:
    from repositories import Repository

BODY = "".join(f"statement number {number}\n" for number in range(30))
FIXED = BODY.replace("number 9\n", "number nine\n")


def ran(*args: str) -> Result:
    return CliRunner().invoke(history.history_group, args)


def raised(result: Result) -> BackproofError:
    assert isinstance(result.exception, BackproofError)
    return result.exception


@pytest.fixture
def project(upstream: Repository) -> Repository:
    """A branch `release/1` that conflicts with the fix, `release/2` that takes it; `fix` is tagged."""
    upstream.commit("code (#1)", {"code.py": BODY, "notes/a.md": "a\n"})
    upstream.switch("release/2")
    upstream.switch("release/1")
    upstream.commit("own (#100)", {"code.py": BODY.replace("number 9\n", "number IX\n")})
    upstream.switch("main", "main")
    upstream.commit("repair the \x1b[31mninth\u202e statement (#2)", {"code.py": FIXED, "notes/a.md": "b\n"})
    upstream.git("tag", "fix")
    return upstream


def fix_of(project: Repository) -> str:
    return project.git("rev-parse", "fix")


def test_survey_as_a_table_keeps_hostile_text_off_the_terminal(project: Repository) -> None:
    done = ran("survey", fix_of(project), "--repo", str(project.folder), "--drop", "/notes/")
    assert done.exit_code == 0, done.output
    assert "release/1" in done.stdout
    assert "conflict (1 file)" in done.stdout
    assert "clean-after-drops" in done.stdout
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout
    assert "picks tried or known in" in done.stderr


def test_each_remark_of_a_row_has_a_line_of_its_own(project: Repository) -> None:
    done = ran("survey", fix_of(project), "--repo", str(project.folder), "--branches", "release/1", "--drop", "/notes/")
    cells = [line.split("│")[4].strip() for line in done.stdout.splitlines() if line.startswith("│")]
    assert "code.py: content" in cells
    assert len(cells) > 1


@pytest.mark.parametrize("name", ["8.x", "2.17", "stable/2025.1", "releases/v0.23.0", "v3-branch", "maintenance/4"])
def test_what_looks_like_a_release_is_asked_without_a_glob(project: Repository, name: str) -> None:
    project.git("branch", "-m", "release/1", name)
    project.git("branch", "-m", "release/2", "topic")
    done = ran("survey", fix_of(project), "--repo", str(project.folder), "--json")
    assert [row["branch"] for row in json.loads(done.stdout)["rows"]] == [name]


def test_survey_as_json(project: Repository) -> None:
    done = ran("survey", fix_of(project), "--repo", str(project.folder), "--branches", "release/2", "--json")
    record = json.loads(done.stdout)
    assert record["schema_version"] == 2
    assert [(row["branch"], row["outcome"], row["affected"]) for row in record["rows"]] == [
        ("release/2", "clean", "yes")
    ]


def test_survey_of_a_kit_takes_its_commits_drops_and_branches(tmp_path: Path, project: Repository) -> None:
    kit = write_kit(tmp_path / "kit", [fix_of(project)])
    project.git("branch", "-m", "release/1", "other")
    project.git("branch", "-m", "release/2", "release")
    done = ran("survey", str(kit), "--repo", str(project.folder), "--json")
    rows = json.loads(done.stdout)["rows"]
    assert [(row["branch"], row["outcome"], row["dropped"]) for row in rows] == [
        ("release", "clean-after-drops", ["notes/a.md"])
    ]


def test_a_reconstruction_stands_for_a_commit_of_the_kit(tmp_path: Path, project: Repository) -> None:
    kit = write_kit(tmp_path / "kit", ["f5826a4"])
    project.git("branch", "-m", "release/2", "release-2")
    project.git("checkout", "--quiet", "-b", "topic", "release-2")
    project.commit("fix\n\nBackproof-Reconstructs: f5826a4\n", {"code.py": FIXED})
    project.git("update-ref", "refs/pull/7/head", "HEAD")
    project.git("checkout", "--quiet", "main")
    done = ran("survey", str(kit), "--repo", str(project.folder), "--branches", "release-2", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["rows"][0]["outcome"] == "clean"
    assert "a reconstruction stands for" in done.stderr


def test_a_glob_without_a_branch_is_a_usage_error(project: Repository) -> None:
    error = raised(ran("survey", fix_of(project), "--repo", str(project.folder), "--branches", "nope*"))
    assert isinstance(error, PlanError)
    assert "it has main, release/1, release/2" in error.why


def test_explain_tells_the_cause_and_needs_a_person(project: Repository) -> None:
    done = ran("explain", fix_of(project), "--repo", str(project.folder), "--branch", "release/1", "--drop", "/notes/")
    assert done.exit_code == 3
    assert "#100 changed these lines on the release branch" in done.stdout
    assert "to go on:" in done.stdout
    assert "git cherry-pick -x" in done.stdout


@pytest.mark.parametrize(
    ("name", "branch", "ref"),
    [
        ("release/1", "release/1", "refs/heads/release/1"),
        ("origin/stable/9", "stable/9", "refs/remotes/origin/stable/9"),
        ("stable/9", "stable/9", "refs/remotes/origin/stable/9"),
        ("refs/remotes/origin/stable/9", "stable/9", "refs/remotes/origin/stable/9"),
        ("v1.0", "v1.0", "refs/tags/v1.0"),
        ("release/1~0", "release/1~0", "release/1~0"),
    ],
)
def test_explain_names_the_branch_and_the_ref_that_was_used(
    project: Repository, name: str, branch: str, ref: str
) -> None:
    for made in ("refs/remotes/origin/stable/9", "refs/tags/v1.0"):
        project.git("update-ref", made, "release/1")
    done = ran("explain", fix_of(project), "--repo", str(project.folder), "--branch", name, "--json")
    record = json.loads(done.stdout)
    assert (record["branch"], record["ref"]) == (branch, ref)
    assert f"it conflicts on {branch} in" in record["sentence"]


def test_explain_a_clean_pick_passes(project: Repository) -> None:
    done = ran("explain", "fix", "--repo", str(project.folder), "--branch", "release/2", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["outcome"] == "clean"


@pytest.mark.parametrize(("content", "code"), [(FIXED, 0), (FIXED + "more\n", 1)])
def test_compare_exits_by_its_verdict(project: Repository, content: str, code: int) -> None:
    project.git("checkout", "--quiet", "release/2")
    project.commit("backport", {"code.py": content})
    done = ran("compare", "release/2", fix_of(project), "--repo", str(project.folder), "--drop", "/notes/")
    assert done.exit_code == code, done.output


def test_compare_with_a_kit(tmp_path: Path, project: Repository) -> None:
    kit = write_kit(tmp_path / "kit", [fix_of(project)])
    project.git("checkout", "--quiet", "release/2")
    project.commit("backport", {"code.py": FIXED})
    done = ran("compare", "release/2", "--kit", str(kit), "--repo", str(project.folder), "--json")
    assert json.loads(done.stdout)["verdict"] == "identical-after-declared"


def test_a_suspect_call_needs_a_person(project: Repository) -> None:
    project.commit("lib", {"lib.py": "def helper(a):\n    return a\n"})
    project.git("checkout", "--quiet", "release/2")
    project.commit("lib", {"lib.py": "def helper(a, b):\n    return a\n"})
    backport = project.commit("backport", {"use.py": "from lib import helper\nhelper(1)\n"})
    project.git("checkout", "--quiet", "main")
    fix = project.commit("use (#5)", {"use.py": "from lib import helper\nhelper(1)\n"})
    done = ran("compare", backport, fix, "--repo", str(project.folder))
    assert done.exit_code == 3
    assert "suspect: use.py:2: Missing argument `b` in function `lib.helper`; main has it" in done.stdout


def test_a_name_that_is_nothing_is_a_usage_error(project: Repository) -> None:
    error = raised(ran("compare", "release/2", "abcdef1", "--repo", str(project.folder)))
    assert isinstance(error, PlanError)
    assert "no such commit, branch or tag" in error.what


def test_compare_without_an_original_is_a_usage_error(project: Repository) -> None:
    assert isinstance(raised(ran("compare", "release/2", "--repo", str(project.folder))), PlanError)


def test_cancelling(project: Repository) -> None:
    project.commit("note", {"n.md": "n\n"})
    project.commit("no note", {"n.md": None})
    last = project.commit("last", {"x.py": "x = 1\n"})
    done = ran("redundant", f"fix..{last}", "--repo", str(project.folder))
    assert done.exit_code == 0, done.output
    assert "1 of 3 commits give the same tree" in done.stdout
    assert isinstance(raised(ran("redundant", last, "--repo", str(project.folder))), PlanError)


def test_a_shallow_clone_is_an_error_not_a_verdict(tmp_path: Path, project: Repository) -> None:
    cut = tmp_path / "cut"
    project.git("clone", "-q", "--depth", "1", "--no-single-branch", f"file://{project.folder}", str(cut))
    done = ran("explain", fix_of(project), "--repo", str(cut), "--branch", "release/1")
    assert isinstance(raised(done), HostError)
    assert "git fetch --unshallow" in raised(done).next_step


def test_a_partial_clone_is_an_error_not_a_verdict(tmp_path: Path, project: Repository) -> None:
    part = tmp_path / "part"
    project.git("config", "uploadpack.allowFilter", "true")
    project.git("clone", "-q", "--filter=blob:none", "--no-checkout", f"file://{project.folder}", str(part))
    for command in (("survey", fix_of(project)), ("explain", fix_of(project), "--branch", "release/1")):
        done = ran(*command, "--repo", str(part))
        text = done.output + (raised(done).next_step if done.exception and done.exit_code == 1 else "")
        assert done.exit_code != 0
        assert "git fetch --refetch" in text


def test_a_survey_of_a_shallow_clone_says_what_it_cannot_know(tmp_path: Path, project: Repository) -> None:
    repaired = project.commit("Fix the repair of #2 (#3)", {"code.py": FIXED + "more\n"})
    cut = tmp_path / "cut"
    project.git("clone", "-q", "--depth", "2", "--no-single-branch", f"file://{project.folder}", str(cut))
    done = ran("survey", repaired, "--repo", str(cut), "--drop", "/notes/", "--json")
    assert done.exit_code == 0, done.output
    assert "git fetch --unshallow" in json.loads(done.stdout)["limits"][0]


def test_nothing_of_a_hostile_repository_runs_and_it_stays_as_it_was(tmp_path: Path, project: Repository) -> None:
    for hook in ("post-checkout", "pre-commit", "post-commit", "reference-transaction", "post-index-change"):
        path = project.folder / ".git" / "hooks" / hook
        path.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran-{hook}\n")
        path.chmod(0o755)
    evil = f"touch {tmp_path}/ran"
    for key in ("core.fsmonitor", "core.sshCommand", "diff.external", "core.pager", "alias.log", "core.editor"):
        project.git("config", key, f"!{evil}" if key == "alias.log" else evil)
    project.git("config", "diff.evil.textconv", evil)
    project.git("config", "merge.evil.driver", evil)
    (project.folder / ".git" / "info" / "attributes").write_text("* diff=evil merge=evil filter=evil\n")
    before = {path: path.read_bytes() for path in sorted(project.folder.rglob("*")) if path.is_file()}
    fix = fix_of(project)
    ran("survey", fix, "--repo", str(project.folder))
    ran("explain", fix, "--repo", str(project.folder), "--branch", "release/1")
    ran("compare", "release/2", fix, "--repo", str(project.folder))
    after = {path: path.read_bytes() for path in sorted(project.folder.rglob("*")) if path.is_file()}
    assert after == before
    assert list(tmp_path.glob("ran*")) == []


def test_messages_and_paths_that_are_not_utf8(project: Repository) -> None:
    path = os.fsdecode(b"n\xe9e.py")
    project.git("-c", "i18n.commitEncoding=latin-1", "commit", "--quiet", "--allow-empty", "-m", "tête (#4)")
    project.commit("adds (#5)", {path: BODY})
    fix = project.commit("fix (#6)", {path: FIXED})
    done = ran("explain", fix, "--repo", str(project.folder), "--branch", "release/2", "--json")
    assert done.exit_code == 3, done.output
    assert json.loads(done.stdout)["conflicts"][0]["path"] == "n\\xe9e.py"
    assert ran("survey", fix, "--repo", str(project.folder)).exit_code == 0


def test_reproduce_prints_a_script_only_for_a_run(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    error = raised(ran("reproduce", str(tmp_path / "empty")))
    assert "backproof show" in error.next_step
