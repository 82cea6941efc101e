"""Where an attempt is made: a finished run of a real backport, its kit and its target, all of them free to be spoiled.

Everything is reached from outside, by the command line and by files, so that another version can be met by the same table.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from plain_job import PlainJob, make_job

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

CLAIMED: Final = ("PASS at level", "outcome: pass")
"""What a run says that it proved something."""
REFUTED: Final = ("the backport does not hold", "outcome: fail")
"""What a run says that the backport is bad."""


@dataclass(frozen=True, kw_only=True)
class Said:
    """How a command ended, and all that it wrote."""

    code: int
    text: str

    @property
    def claims(self) -> bool:
        return any(words in self.text for words in CLAIMED)

    @property
    def refutes(self) -> bool:
        return self.code == 1 or any(words in self.text for words in REFUTED)


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One attempt.

    Args:
        row: of the table of holes (docs/adversary.md).
        act: what is done; returns what was said in the end.
        codes: the exit codes that may follow.
        words: what must be said.
        may_refute: the backport of this attempt is bad, so that a FAIL is right.
    """

    row: int
    name: str
    act: Callable[[Scene], Said]
    codes: Collection[int]
    words: tuple[str, ...] = ()
    may_refute: bool = False

    def find_trouble(self, said: Said) -> str:
        """Say why this did not hold; empty when it did."""
        if said.claims:
            return f"it claims a proof: {_excerpt(said, CLAIMED)}"
        if said.refutes and not self.may_refute:
            return f"it refutes the backport: {_excerpt(said, REFUTED)}"
        if said.code not in self.codes:
            return f"exit code {said.code}: {said.text[-300:]!r}"
        missing = [word for word in self.words if word not in said.text]
        return f"not said: {', '.join(missing)} in {said.text[-600:]!r}" if missing else ""


def _excerpt(said: Said, words: tuple[str, ...]) -> str:
    line = next((line for line in said.text.splitlines() if any(word in line for word in words)), "")
    return f"exit code {said.code}, {line[:200]}"


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A job, and the program that is met; `run` is its finished run, as it was when the scene was set."""

    job: PlainJob
    program: str
    kept: Path
    env: dict[str, str] = field(default_factory=dict)

    @property
    def run(self) -> Path:
        return self.job.run_folder

    def backproof(self, *words: str | Path, **env: str) -> Said:
        done = subprocess.run(
            [self.program, *map(str, words)],
            cwd=self.job.folder,
            env=self.job.environment(COLUMNS="240", **self.env, **env),
            capture_output=True,
            check=False,
            timeout=300,
            stdin=subprocess.DEVNULL,
        )
        return Said(code=done.returncode, text=(done.stdout + done.stderr).decode("utf-8", "replace"))

    def run_again(self, *more: str | Path) -> Said:
        """Make a run of what the kit is now, in a new folder."""
        fresh = replace(self, job=replace(self.job, out="another"))
        return fresh.backproof(*fresh.job.arguments(), *more)

    def write_check(self, text: str, **plan: str) -> Scene:
        """Give the kit another check, and its plan other words."""
        (self.job.kit / "checks" / "test_answers.py").write_text(
            text.replace("@FOLDER@", str(self.job.folder)), encoding="utf-8"
        )
        file = self.job.kit / "plan.toml"
        for old, new in plan.items():
            file.write_text(file.read_text(encoding="utf-8").replace(PLACES[old], new), encoding="utf-8")
        return self

    def edit(self, path: str, change: Callable[[Any], Any]) -> None:
        """Edit a JSON file of the run, and put every hash right that is recorded of it."""
        file = self.run / path
        data = json.loads(file.read_text(encoding="utf-8"))
        changed = change(data)
        file.write_text(json.dumps(data if changed is None else changed), encoding="utf-8")
        self.settle()

    def settle(self) -> None:
        """Record the hashes that the files have now, in records first and then in run.json."""
        for name in ("verify/verify.json", "validate/validate.json", "run.json"):
            if (file := self.run / name).exists():
                file.write_text(json.dumps(self._settle_value(json.loads(file.read_text(encoding="utf-8")))))

    def _settle_value(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._settle_value(item) for item in value]
        if not isinstance(value, dict):
            return value
        if "sha256" in value and (file := self.run / str(value.get("path"))).is_file():
            return {**value, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
        return {name: self._settle_value(item) for name, item in value.items()}


PLACES = {"base": 'base = "fail"', "pick": 'pick = "pass"', "reach": 'reach = ["answers"]'}


def set_scene(folder: Path, program: str) -> Scene:
    """Make a job and its finished run, and keep them as they are."""
    job = make_job(folder / "job")
    scene = Scene(job=job, program=program, kept=folder / "kept")
    done = scene.backproof(*job.arguments())
    if done.code:
        raise RuntimeError(f"the run that attempts are made on did not pass: {done.text[-2000:]}")
    shutil.copytree(job.folder, scene.kept, symlinks=True)
    return scene


def reset_scene(scene: Scene) -> None:
    """Put everything back as it was, whatever the last attempt did."""
    for path in scene.job.folder.iterdir():
        if path.is_symlink() or path.is_file():
            path.unlink()
        else:
            _make_removable(path)
            shutil.rmtree(path)
    shutil.copytree(scene.kept, scene.job.folder, symlinks=True, dirs_exist_ok=True)


def _make_removable(folder: Path) -> None:
    for place, _, _ in os.walk(folder):
        Path(place).chmod(0o755)
