"""GitHub's own parser of workflows, npm's `@actions/workflow-parser`: what it refuses, the runner refuses.

It evaluates no expression: a value that an expression stands for is only checked where it is written out.
`npm/package-lock.json` pins it and all that it needs by hash. Node cannot load the package as it is (it imports JSON
without saying so), so esbuild makes one file of it and `npm/check.mjs`, which is kept in the user's cache.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from user_cache import cached

FOLDER = Path(__file__).parent / "npm"
_FILES = ("package.json", "package-lock.json", "check.mjs")
_STEPS = (
    ("npm", "ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund", "--include=optional"),
    ("node_modules/.bin/esbuild", "check.mjs", "--bundle", "--platform=node", "--format=cjs", "--outfile=out.cjs"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Parsed:
    """The parser's answer: its errors, and the strategy of each job that has one."""

    errors: list[str]
    strategies: dict[str, Any]


def parse(workflow: str) -> Parsed:
    """Parse a workflow and convert it to GitHub's template, which checks its jobs against each other."""
    done = subprocess.run(
        ["node", bundle()], input=workflow, capture_output=True, text=True, check=False, timeout=120, encoding="utf-8"
    )
    assert done.returncode == 0, f"the parser itself failed (it needs Node 20 or newer): {done.stderr}"
    return Parsed(**json.loads(done.stdout))


@cache
def bundle() -> Path:
    """The parser as one file that Node runs."""
    key = [(FOLDER / name).read_text(encoding="utf-8") for name in _FILES]
    # Not `.cjs` at its end, as the cache adds a digest: Node takes a file without a known ending for CommonJS.
    return cached("workflow-parser", key, _bundle)


def _bundle() -> str:
    with tempfile.TemporaryDirectory() as folder:
        for name in _FILES:
            shutil.copy(FOLDER / name, folder)
        for step in _STEPS:
            try:
                subprocess.run(step, cwd=folder, check=True, capture_output=True, text=True, timeout=120)
            except (OSError, subprocess.SubprocessError) as error:
                output = getattr(error, "stderr", "")
                raise AssertionError(
                    f"GitHub's workflow parser cannot be made ready ({error}: {output}): these tests hold the workflow "
                    "to it and do not run without it. Install npm, or check that it reaches its registry."
                ) from error
        return (Path(folder) / "out.cjs").read_text(encoding="utf-8")
