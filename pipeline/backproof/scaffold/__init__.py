"""Writes a kit from what can be read; what a person must decide is named and left out.

A guessed expectation would be a claim without evidence, so the plan stays invalid until somebody has looked.
"""

from backproof.scaffold.choices import Choices, choose
from backproof.scaffold.facts import Facts
from backproof.scaffold.from_commits import from_commits
from backproof.scaffold.from_pull import from_pull
from backproof.scaffold.kit import Scaffold, identity, write
from backproof.scaffold.plan_text import plan_text
from backproof.scaffold.target import PINS

__all__ = [
    "PINS",
    "Choices",
    "Facts",
    "Scaffold",
    "choose",
    "from_commits",
    "from_pull",
    "identity",
    "plan_text",
    "write",
]
