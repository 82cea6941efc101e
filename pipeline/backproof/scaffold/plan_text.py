"""The text of a new kit's plan.toml. A line that starts with `# fill in: ` is for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from backproof.core.level import Level
from backproof.core.plain_text import one_line
from backproof.devices import DEVICES
from backproof.scaffold.target import build_target
from backproof.scaffold.words import quote_toml

if TYPE_CHECKING:
    from backproof.scaffold.choices import Choices
    from backproof.scaffold.facts import Facts

OPERATORS = "operators.py"
MODEL: Final = "plain"
"""The operator model of a new kit, which models nothing until somebody writes it."""


def name_expectation(choices: Choices) -> str:
    """Return the table of what the arms must show: the operator model's, or the device's own."""
    return MODEL if DEVICES[choices.device].TRAITS.operator_models else choices.device


def build_plan_text(facts: Facts, choices: Choices) -> str:
    source = (
        f"# From {one_line(facts.source)}. Lines that start with `# fill in` are for a person; see docs/publish.md."
    )
    parts = [
        [
            source,
            "schema = 1",
            f"id = {quote_toml(choices.identity or facts.name)}",
            f"title = {quote_toml(one_line(facts.title))}",
        ],
        _build_upstream(facts),
        _build_pick(facts),
        *_build_not_wanted(facts),
        _build_branch(facts),
        _build_install(facts, choices),
        ["[verify]", f"reach = [{quote_toml(facts.check)}]"],
        *_build_emulator(choices),
        _build_check(facts),
        [
            f"[check.expect.{name_expectation(choices)}]",
            '# fill in: base = "fault:<kind>" or "fail", pick and fixed = "pass"',
        ],
        *_build_baseline(choices),
        *build_target(facts, choices),
    ]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _build_upstream(facts: Facts) -> list[str]:
    fork = [f"# From the remote {one_line(facts.remote)}: correct it where that is a fork."] if facts.remote else []
    repo = [*fork, f"repo = {quote_toml(facts.repo)}"] if facts.repo else ["# fill in: repo = owner/name of upstream"]
    pull = f"pull = {facts.pull}" if facts.pull else "# fill in where there is one: pull = number of the pull request"
    original = [f"original_pull = {facts.original}"] if facts.original else []
    return ["[upstream]", *repo, pull, *original]


def _build_pick(facts: Facts) -> list[str]:
    commits = f"commits = [{', '.join(quote_toml(sha[:12]) for sha in facts.wanted)}]"
    lines = ["[pick]", commits, *([f"mainline = {facts.mainline}"] if facts.mainline else [])]
    if facts.drops:
        drops = ", ".join(quote_toml(note) for note in facts.drops)
        lines += ["# Notes of a release: the release branch has its own.", f"drop = [{drops}]"]
    return lines


def _build_not_wanted(facts: Facts) -> list[list[str]]:
    return [
        [
            "[[pick.not_wanted]]",
            f"commit = {quote_toml(commit.commit[:12])}",
            f"why = {quote_toml(one_line(commit.why))}",
        ]
        for commit in facts.not_wanted
    ]


def _build_branch(facts: Facts) -> list[str]:
    if facts.branch:
        return ["[[branch]]", f"name = {quote_toml(facts.branch)}"]
    names = ", ".join(one_line(name) for name in facts.branches[:8])
    return [f"# fill in: [[branch]] name = one of {names or 'the release branches'}"]


def _build_install(facts: Facts, choices: Choices) -> list[str]:
    return ["[install]", *_build_distribution(facts, choices), *_build_root(facts)]


def _build_distribution(facts: Facts, choices: Choices) -> list[str]:
    if name := facts.release.distribution or choices.distribution:
        return [f"distribution = {quote_toml(name)}"]
    if not facts.repo:
        return ["# fill in: distribution = its name on the package index"]
    guess = quote_toml(facts.repo.partition("/")[2])
    return ["# A guess: the repository's name.", f"distribution = {guess}"]


def _build_root(facts: Facts) -> list[str]:
    if facts.release.root is None:
        return ['# fill in where it is not the repository itself: root = folder of the packages, for example "src"']
    return [f"root = {quote_toml(facts.release.root)}"] if facts.release.root else []


def _build_emulator(choices: Choices) -> list[list[str]]:
    if not DEVICES[choices.device].TRAITS.operator_models:
        return []
    model = [
        f"id = {quote_toml(MODEL)}",
        f"model = {quote_toml(MODEL)}",
        "# fill in: meaning = the behaviour of this model of the operators",
    ]
    return [["[emulator]", f"operators = {quote_toml(OPERATORS)}"], ["[[emulator.model]]", *model]]


def _build_check(facts: Facts) -> list[str]:
    return [
        "[[check]]",
        f"id = {quote_toml(facts.check)}",
        f"file = {quote_toml(facts.check_file)}",
        "# fill in: claim = the claim that the check shows",
    ]


def _build_baseline(choices: Choices) -> list[list[str]]:
    if DEVICES[choices.device].LEVEL < Level.DEVICE:
        return []
    return [["[baseline.versions]", "# fill in what the release was validated with, for example torch_npu"]]
