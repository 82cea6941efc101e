"""Backproof proves a backport: what ran is what was picked, and the fault is gone because of it."""

__version__ = "0.1.0"
