"""Where the checkout is: tests compute no path from their own place, so that they can move."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
KIT = ROOT / "patches" / "19353"
