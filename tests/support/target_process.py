"""Requests to a real target interpreter, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from checkout import ROOT, TESTS

RUN_CHECK = ROOT / "pipeline" / "backproof" / "target" / "run_check.py"
SYNTHETIC = TESTS / "target" / "synthetic"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came back from one request."""

    result: dict[str, Any]
    exit_code: int
    stdout: str
    stderr: str

    def test(self, name: str) -> dict[str, Any]:
        """The record of one test; there must be exactly one of that name."""
        (found,) = [each for each in self.result["tests"] if each["nodeid"].endswith(f"::{name}")]
        record: dict[str, Any] = found
        return record

    def named(self, start: str) -> list[dict[str, Any]]:
        found = [each for each in self.result["tests"] if each["nodeid"].split("::")[1].startswith(start)]
        assert found, f"no test starts with {start}"
        return found


@dataclass(frozen=True, kw_only=True)
class Target:
    """Sends requests; ``path`` goes first on the target's module path."""

    python: Path
    work: Path
    path: tuple[Path, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)

    def run(self, check: Path, /, **changes: Any) -> Answer:
        work = self.work / f"{len(list(self.work.iterdir()))}"
        work.mkdir()
        request = {**self._request(check, work), **self.settings, **changes}
        (work / "request.json").write_text(json.dumps(request), encoding="utf-8")
        env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
        env["PYTHONDONTWRITEBYTECODE"] = "1"
        env["PYTHONPATH"] = os.pathsep.join(map(str, self.path))
        with (work / "result.jsonl").open("w+b") as answer:
            handle = answer.fileno()
            command = [str(self.python), str(RUN_CHECK), str(work / "request.json"), str(handle)]
            done = subprocess.run(
                command,
                cwd=work,
                env=env,
                pass_fds=[handle],
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
            result = json.loads((work / "result.jsonl").read_text(encoding="utf-8").splitlines()[-1])
        return Answer(result=result, exit_code=done.returncode, stdout=done.stdout, stderr=done.stderr)

    def _request(self, check: Path, work: Path) -> dict[str, Any]:
        return {
            "schema": 4,
            "nonce": "a-nonce",
            "device": "emulator",
            "session": "emulated",
            "check": {"id": "scenes", "file": str(check), "select": None},
            "operators": {"file": str(SYNTHETIC / "operators.py"), "model": "plain", "options": {}},
            "files": [],
            "cover": False,
            "ahead": [],
            "stop": False,
            "carried": _carried(),
            "work": str(work),
        }


def _carried() -> list[str]:
    """Our own site-packages, last on the target's path: for pytest and coverage where the target has none."""
    return [each for each in sys.path if each.endswith("site-packages")]
