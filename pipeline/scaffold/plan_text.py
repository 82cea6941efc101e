"""The text of a new kit's plan.toml."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.scaffold.words import line, toml

if TYPE_CHECKING:
    from pipeline.scaffold.facts import Facts


def plan_text(facts: Facts, check: str) -> str:
    parts = [
        f"# From {line(facts.source)}. Lines that start with `# fill in` are for a person; see docs/publish.md.",
        "schema = 1",
        f"id = {toml(facts.name)}",
        f"title = {toml(line(facts.title))}",
        "",
        "[upstream]",
        f"repo = {toml(facts.repo)}",
        f"pull = {facts.pull}",
        *([f"original_pull = {facts.original}"] if facts.original else []),
        "",
        "[pick]",
        f"commits = [{', '.join(toml(each[:12]) for each in facts.wanted)}]",
        *_drops(facts),
        *_not_wanted(facts),
        *_branches(facts),
        "",
        "[install]",
        "# The repository's name is a guess for the distribution's.",
        f"distribution = {toml(facts.repo.partition('/')[2])}",
        "",
        "[[check]]",
        f'id = "pull-{facts.name}"',
        f"file = {toml(check)}",
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
    listed = ", ".join(toml(each) for each in facts.drops)
    return ["# Notes of a release: the release branch has its own.", f"drop = [{listed}]"]


def _not_wanted(facts: Facts) -> list[str]:
    return [
        row
        for each in facts.not_wanted
        for row in ("", "[[pick.not_wanted]]", f"commit = {toml(each.commit[:12])}", f"why = {toml(line(each.why))}")
    ]


def _branches(facts: Facts) -> list[str]:
    if facts.branch:
        return ["", "[[branch]]", f"name = {toml(facts.branch)}"]
    known = ", ".join(line(each) for each in facts.branches[:8])
    return ["", f"# fill in: [[branch]] name = one of {known or 'the release branches'}"]
