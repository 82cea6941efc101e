"""The text of a new kit's plan.toml. A line that starts with `# fill in: ` is for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from backproof.core.level import Level
from backproof.devices import DEVICES
from backproof.scaffold.target import target
from backproof.scaffold.words import line, toml

if TYPE_CHECKING:
    from backproof.scaffold.choices import Choices
    from backproof.scaffold.facts import Facts

OPERATORS = "operators.py"
MODEL: Final = "plain"
"""The operator model of a new kit: nothing is modelled until somebody writes it."""


def expected(choices: Choices) -> str:
    """Return the table of what the arms must show: the operator model's, or the device's own."""
    return MODEL if DEVICES[choices.device].OPERATOR_MODELS else choices.device


def plan_text(facts: Facts, choices: Choices) -> str:
    source = f"# From {line(facts.source)}. Lines that start with `# fill in` are for a person; see docs/publish.md."
    parts = [
        [source, "schema = 1", f"id = {toml(choices.identity or facts.name)}", f"title = {toml(line(facts.title))}"],
        _upstream(facts),
        _pick(facts),
        *_not_wanted(facts),
        _branch(facts),
        _install(facts, choices),
        ["[verify]", f"reach = [{toml(facts.check)}]"],
        *_emulator(choices),
        _check(facts),
        [f"[check.expect.{expected(choices)}]", '# fill in: base = "fault:<kind>" or "fail", pick and fixed = "pass"'],
        *_baseline(choices),
        *target(facts, choices),
    ]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _upstream(facts: Facts) -> list[str]:
    fork = [f"# From the remote {line(facts.remote)}: correct it where that is a fork."] if facts.remote else []
    repo = [*fork, f"repo = {toml(facts.repo)}"] if facts.repo else ["# fill in: repo = owner/name of upstream"]
    pull = f"pull = {facts.pull}" if facts.pull else "# fill in where there is one: pull = number of the pull request"
    original = [f"original_pull = {facts.original}"] if facts.original else []
    return ["[upstream]", *repo, pull, *original]


def _pick(facts: Facts) -> list[str]:
    commits = f"commits = [{', '.join(toml(each[:12]) for each in facts.wanted)}]"
    if not facts.drops:
        return ["[pick]", commits]
    drops = ", ".join(toml(each) for each in facts.drops)
    return ["[pick]", commits, "# Notes of a release: the release branch has its own.", f"drop = [{drops}]"]


def _not_wanted(facts: Facts) -> list[list[str]]:
    return [
        ["[[pick.not_wanted]]", f"commit = {toml(each.commit[:12])}", f"why = {toml(line(each.why))}"]
        for each in facts.not_wanted
    ]


def _branch(facts: Facts) -> list[str]:
    if facts.branch:
        return ["[[branch]]", f"name = {toml(facts.branch)}"]
    known = ", ".join(line(each) for each in facts.branches[:8])
    return [f"# fill in: [[branch]] name = one of {known or 'the release branches'}"]


def _install(facts: Facts, choices: Choices) -> list[str]:
    return ["[install]", *_distribution(facts, choices), *_root(facts)]


def _distribution(facts: Facts, choices: Choices) -> list[str]:
    if known := facts.release.distribution or choices.distribution:
        return [f"distribution = {toml(known)}"]
    if not facts.repo:
        return ["# fill in: distribution = what the package index calls it"]
    guess = toml(facts.repo.partition("/")[2])
    return ["# The repository's name is a guess for the distribution's.", f"distribution = {guess}"]


def _root(facts: Facts) -> list[str]:
    if facts.release.root is None:
        return ['# fill in where it is not the repository itself: root = folder of the packages, for example "src"']
    return [f"root = {toml(facts.release.root)}"] if facts.release.root else []


def _emulator(choices: Choices) -> list[list[str]]:
    if not DEVICES[choices.device].OPERATOR_MODELS:
        return []
    model = [
        f"id = {toml(MODEL)}",
        f"model = {toml(MODEL)}",
        "# fill in: meaning = what this model of the operators does",
    ]
    return [["[emulator]", f"operators = {toml(OPERATORS)}"], ["[[emulator.model]]", *model]]


def _check(facts: Facts) -> list[str]:
    return [
        "[[check]]",
        f"id = {toml(facts.check)}",
        f"file = {toml(facts.check_file)}",
        "# fill in: claim = what the check shows",
    ]


def _baseline(choices: Choices) -> list[list[str]]:
    if DEVICES[choices.device].LEVEL < Level.DEVICE:
        return []
    return [["[baseline.versions]", "# fill in what the release was validated with, for example torch_npu"]]
