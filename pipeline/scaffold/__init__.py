"""Writes a kit from what can be read; what a person must decide is named and left out.

A guessed expectation would be a claim without evidence, so the plan stays invalid until somebody has looked.
"""

from pipeline.scaffold.choices import Choices, choose
from pipeline.scaffold.facts import Facts
from pipeline.scaffold.from_commits import from_commits
from pipeline.scaffold.from_pull import from_pull
from pipeline.scaffold.kit import Scaffold, identity, write
from pipeline.scaffold.plan_text import plan_text
from pipeline.scaffold.target import PINS

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
