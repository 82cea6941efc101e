"""A whole backport of a tiny pure-Python distribution, on the plain CPU: one run takes seconds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overlay_site import picture
from repositories import Repository
from target_env import CONV, FILES, Target, install, make

PLAN = """
schema = 1
id = "plain"
title = "A backport without a device"
[upstream]
repo = "example/project"
pull = 5
[pick]
commits = ["{commit}"]
drop = ["/notes/"]
[[fixup]]
id = "limit"
file = "fixups/limit.toml"
reason = "a review asked for it"
[[branch]]
name = "release"
[install]
distribution = "demo"
root = "src"
[verify]
reach = ["answers"]
[[check]]
id = "answers"
file = "checks/test_answers.py"
claim = "the answer is the right one"
[check.expect.cpu]
base = "fail"
pick = "pass"
fixed = "pass"
"""
FIXUP = f"""
schema = 1
file = "src/{CONV}"
scope = ""
after = "STEP = 1"
insert = "LIMIT = 42"
"""
CHECK = """
def test_answers(device):
    from demo.ops import conv

    device.observe(answer=conv.answer())
    assert conv.answer() == 42
"""
RELEASE = {**FILES, CONV: b"STEP = 1\n\n\n" + FILES[CONV]}
BASE: dict[str, str | bytes | None] = {f"src/{name}": data for name, data in RELEASE.items()}
PATCH: dict[str, str | bytes | None] = {
    f"src/{CONV}": b"from demo.ops.rows import ROWS\n\nSTEP = 1\n\n\ndef answer():\n    return 42 * ROWS\n",
    "src/demo/ops/rows.py": b"ROWS = 1\n",
    "notes/5.md": "!\n",
}


@dataclass(frozen=True, kw_only=True)
class PlainJob:
    """Kit, upstream, target, run folder, and a state folder that is not the user's."""

    folder: Path
    kit: Path
    upstream: Repository
    target: Target
    out: str = "run"

    @property
    def run_folder(self) -> Path:
        return self.folder / self.out

    def arguments(self) -> list[str]:
        where = ["--repo", str(self.upstream.folder), "--python", str(self.target.python)]
        return ["run", str(self.kit), "--out", str(self.run_folder), *where, "--device", "cpu"]

    def environment(self, **more: str) -> dict[str, str]:
        own = {"XDG_STATE_HOME": str(self.folder / "state"), "PYTHONDONTWRITEBYTECODE": "1"}
        return {**os.environ, **own, **more}

    def backproof(self, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        command = [str(Path(sys.executable).with_name("backproof")), *args]
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment(**env),
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def run(self, **env: str) -> subprocess.CompletedProcess[str]:
        return self.backproof(*self.arguments(), **env)

    def story(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.run_folder / "run.json").read_text(encoding="utf-8"))
        return found

    def outside(self) -> dict[str, tuple[Any, ...]]:
        """All that is the user's: site-packages and the repository, with content, mode and time of change.

        Of git's own objects the time is left out: git freshens a loose object when it would write the same one into a
        store that borrows it. That keeps it from being pruned, and changes nothing else.
        """
        return {
            f"{place.name}/{name}": facts[:4] if "/objects/" in f"/{name}" else facts
            for place in (self.target.site, self.upstream.folder, self.kit)
            for name, facts in picture(place).items()
        }


def make_job(folder: Path) -> PlainJob:
    """Everything in `folder`: the release on a branch and in an environment, the fix on main."""
    folder.mkdir(parents=True)
    upstream = Repository(folder / "upstream")
    upstream.folder.mkdir()
    upstream.git("init", "--quiet", "-b", "main")
    upstream.commit("the release", BASE)
    upstream.git("branch", "release")
    fix = upstream.commit("fix the answer", PATCH)
    target = make(folder / "target env")
    install(target, files=RELEASE)
    return PlainJob(folder=folder, kit=_kit(folder / "kit", fix), upstream=upstream, target=target)


def _kit(kit: Path, commit: str) -> Path:
    (kit / "checks").mkdir(parents=True)
    (kit / "fixups").mkdir()
    (kit / "plan.toml").write_text(PLAN.format(commit=commit), encoding="utf-8")
    (kit / "fixups" / "limit.toml").write_text(FIXUP, encoding="utf-8")
    (kit / "checks" / "test_answers.py").write_text(CHECK, encoding="utf-8")
    return kit
