"""Writes a kit from a pull request: what can be read is filled in, what a person must decide is named and left out.

A guessed expectation would be a claim without evidence, so the plan stays invalid until somebody has looked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathspec import GitIgnoreSpec

from pipeline.adapters.github import pulls
from pipeline.audit.history import cancelled
from pipeline.errors import PlanError
from pipeline.ledger import write_atomic

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.adapters.github import Client
    from pipeline.adapters.github.pulls import ChangedFile, Commit, Pull
    from pipeline.records import OtherCommit

# Where projects keep notes of a release: scriv, towncrier, reno, changie, and plain files.
NOTES = (
    "/release_notes/",
    "/releasenotes/",
    "/changelog.d/",
    "/changelogs/",
    "/newsfragments/",
    "/.changes/",
    "/changes/",
    "/CHANGELOG*",
    "/CHANGES*",
    "/NEWS*",
    "/HISTORY*",
)
_TESTS = GitIgnoreSpec.from_lines(("tests/", "test/", "test_*.py", "*_test.py"))
_RELEASES = "releases/", "release/", "release-", "stable/", "v"


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """What a kit is made from."""

    repo: str
    pull: Pull
    commits: tuple[Commit, ...]
    cancelled: tuple[OtherCommit, ...]
    files: tuple[ChangedFile, ...]
    branches: tuple[str, ...]
    on_default: bool

    @property
    def wanted(self) -> tuple[str, ...]:
        """Commits to pick: those of the pull request, or the one that landed on the main branch."""
        if self.on_default and self.pull.merged and self.pull.merge_commit_sha:
            return (self.pull.merge_commit_sha,)
        gone = {each.commit for each in self.cancelled}
        return tuple(each.sha for each in self.commits if each.sha not in gone and len(each.parents) < 2)

    @property
    def drops(self) -> tuple[str, ...]:
        """Conventions of release notes that this pull request touches."""
        paths = {name for each in self.commits for file in each.files for name in (file.filename,)}
        paths |= {each.filename for each in self.files}
        return tuple(note for note in NOTES if any(GitIgnoreSpec.from_lines((note,)).match_files(paths)))

    @property
    def tests(self) -> tuple[str, ...]:
        return tuple(each.filename for each in self.files if _TESTS.match_file(each.filename))

    @property
    def modules(self) -> tuple[str, ...]:
        return tuple(
            each.filename for each in self.files if each.filename.endswith(".py") and each.filename not in self.tests
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Scaffold:
    """What was written, and what a person must fill in: key of the plan, and why it cannot be read."""

    folder: Path
    files: tuple[str, ...]
    to_fill: tuple[tuple[str, str], ...]


def read(client: Client, repo: str, number: int) -> Facts:
    """Read a pull request.

    Raises:
        RefusedError: GitHub refused.
    """
    pull = pulls.pull(client, repo, number)
    commits = pulls.with_files(client, repo, pulls.commits(client, repo, number))
    net = pulls.files(client, repo, number)
    on_default = pull.base.ref == pulls.default_branch(client, repo)
    return Facts(
        repo=repo,
        pull=pull,
        commits=commits,
        cancelled=cancelled(commits, net),
        files=net,
        branches=_release_branches(client, repo) if on_default else (pull.base.ref,),
        on_default=on_default,
    )


def _release_branches(client: Client, repo: str) -> tuple[str, ...]:
    for prefix in _RELEASES:
        if found := pulls.branches(client, repo, prefix):
            return found
    return ()


def write(facts: Facts, folder: Path) -> Scaffold:
    """Write the kit.

    Raises:
        PlanError: the folder has a plan already, or the pull request has nothing to pick.
    """
    if (folder / "plan.toml").exists():
        raise PlanError(
            f"{folder}: there is a kit already",
            why="plan.toml exists, and nothing of yours is written over",
            next_step="name another folder with --out",
        )
    if not facts.wanted:
        raise PlanError(
            f"{facts.repo}#{facts.pull.number}: there is nothing to pick",
            why="all its commits cancel out or are merges",
            next_step="name the original pull request instead",
        )
    check = f"checks/test_{facts.pull.number}.py"
    texts = {"plan.toml": _plan(facts, check), check: _check(facts)}
    for name, text in texts.items():
        write_atomic(folder / name, text.encode("utf-8", "backslashreplace"))
    return Scaffold(folder=folder, files=tuple(texts), to_fill=tuple(_to_fill(facts)))


def _to_fill(facts: Facts) -> list[tuple[str, str]]:
    found = [
        ("check.0.claim", "what the check shows, in one sentence that stands in the comment"),
        ("check.0.expect.ascend.base", 'what the release shows without the fix: "fail" or "fault:<kind>"'),
        ("check.0.expect.ascend.pick", "what it shows with the commits"),
        ("check.0.expect.ascend.fixed", "what it shows with the fix-ups"),
    ]
    if facts.on_default:
        found.insert(0, ("branch", "the release branches that want it"))
    return found


def _plan(facts: Facts, check: str) -> str:
    pull = facts.pull
    parts = [
        f"# From {facts.repo}#{pull.number}. Lines that start with `# fill in` are for a person; see docs/publish.md.",
        "schema = 1",
        f"id = {_text(str(pull.number))}",
        f"title = {_text(_line(pull.title))}",
        "",
        "[upstream]",
        f"repo = {_text(facts.repo)}",
        f"pull = {pull.number}",
        *([f"original_pull = {facts.pull.original}"] if facts.pull.original else []),
        "",
        "[pick]",
        f"commits = [{', '.join(_text(each[:12]) for each in facts.wanted)}]",
        *_drops(facts),
        *_not_wanted(facts),
        *_branches(facts),
        "",
        "[install]",
        "# The repository's name is a guess for the distribution's.",
        f"distribution = {_text(facts.repo.partition('/')[2])}",
        "",
        "[[check]]",
        f'id = "pull-{pull.number}"',
        f"file = {_text(check)}",
        "# fill in: claim = what the check shows",
        "",
        "[check.expect.ascend]",
        '# fill in: base = "fault:<kind>" or "fail", pick and fixed = "pass"',
        "",
        "[baseline.versions]",
        "# fill in what the release was validated with, for example torch_npu",
        "",
    ]
    return "\n".join(parts)


def _drops(facts: Facts) -> list[str]:
    if not facts.drops:
        return []
    listed = ", ".join(_text(each) for each in facts.drops)
    return ["# Notes of a release: the release branch has its own.", f"drop = [{listed}]"]


def _not_wanted(facts: Facts) -> list[str]:
    if facts.on_default:
        return []
    return [
        line
        for each in facts.cancelled
        for line in (
            "",
            "[[pick.not_wanted]]",
            f"commit = {_text(each.commit[:12])}",
            f"why = {_text(_line(each.why))}",
        )
    ]


def _branches(facts: Facts) -> list[str]:
    if facts.on_default:
        known = ", ".join(_line(each) for each in facts.branches[:8])
        return ["", f"# fill in: [[branch]] name = one of {known or 'the release branches'}"]
    return ["", "[[branch]]", f"name = {_text(facts.branches[0])}"]


def _check(facts: Facts) -> str:
    tests = "".join(f"#   {_line(each)}\n" for each in facts.tests[:20]) or "#   none\n"
    modules = "".join(f"#   {_line(each)}\n" for each in facts.modules[:20]) or "#   none\n"
    return (
        f'"""Runs in the target interpreter, once per arm: must be red on the release and green with the fix."""\n\n'
        f"# Tests that the pull request brings or changes, to take the cases from:\n{tests}"
        f"# Modules that it changes:\n{modules}\n"
        "import pytest\n\n\n"
        f"def test_{facts.pull.number}() -> None:\n"
        '    pytest.fail("this check is not written yet")\n'
    )


def _line(text: str) -> str:
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())[:300]


def _text(value: str) -> str:
    """A TOML basic string, see https://toml.io/en/v1.0.0#string for what it must escape."""
    escaped = "".join(
        f"\\{each}" if each in '"\\' else (each if each.isprintable() else f"\\u{min(ord(each), 0xFFFF):04x}")
        for each in value
    )
    return f'"{escaped}"'
