"""Writes a kit from what can be read; what a person must decide is named and left out.

A guessed expectation would be a claim without evidence, so the plan stays invalid until somebody has looked.
"""

from backproof.scaffold.choices import Choices, check_choices
from backproof.scaffold.facts import Facts
from backproof.scaffold.from_commits import read_commits
from backproof.scaffold.from_pull import read_pull
from backproof.scaffold.kit import Scaffold, choose_identity, write_kit
from backproof.scaffold.plan_text import build_plan_text
from backproof.scaffold.target import PINS

__all__ = [
    "PINS",
    "Choices",
    "Facts",
    "Scaffold",
    "build_plan_text",
    "check_choices",
    "choose_identity",
    "read_commits",
    "read_pull",
    "write_kit",
]
