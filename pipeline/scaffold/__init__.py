"""Writes a kit from what can be read; what a person must decide is named and left out.

A guessed expectation would be a claim without evidence, so the plan stays invalid until somebody has looked.
"""

from pipeline.scaffold.facts import Facts
from pipeline.scaffold.from_pull import from_pull
from pipeline.scaffold.kit import Scaffold, write

__all__ = ["Facts", "Scaffold", "from_pull", "write"]
