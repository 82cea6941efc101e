"""A small kit for tests: real files, no target of anybody's."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

PLAN = """
schema = 1
id = "small"
title = "A small backport"
[upstream]
repo = "example/project"
pull = 7
[pick]
commits = [{commits}]
drop = ["/notes/"]
{pick}
[[branch]]
name = "release"
[install]
distribution = "project"
{proof}
{more}
"""
# One check, red on base alone, under one operator model.
PROOF = """
[emulator]
operators = "operators.py"
[[emulator.model]]
id = "plain"
model = "plain"
meaning = "as it is"
[[check]]
id = "works"
file = "{file}"
claim = "it works"
[check.expect.plain]
base = "fail"
pick = "pass"
fixed = "pass"
"""


def write_kit(folder: Path, commits: list[str], *, pick: str = "", more: str = "") -> Path:
    """A kit that picks these commits."""
    (folder / "checks").mkdir(parents=True, exist_ok=True)
    (folder / "checks" / "test_works.py").write_text("def test_works():\n    assert True\n")
    (folder / "operators.py").write_text("MODULES = {}\n")
    names = ", ".join(f'"{each[:12]}"' for each in commits)
    (folder / "plan.toml").write_text(
        PLAN.format(commits=names, pick=pick, proof=PROOF.format(file="checks/test_works.py"), more=more)
    )
    return folder
