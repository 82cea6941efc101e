"""One attempt: a command in a process of its own, something happens to it, and then the same command again."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import points
from backproof import cli
from backproof.install.overlay import registry
from backproof.rundir.ledger import sha256_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plain_job import PlainJob

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "schema" / "run.schema.json").read_text(encoding="utf-8"))
TOLD = {0, 2, 3, 4, 130}
"""How a command may end when the system fails it. Never 1: nothing is known to be bad; never 70: that is a bug of ours."""
PASSED, CRASHED = 0, 70


Fault = Callable[[points.Watch, str, str], None]


@dataclass(frozen=True, kw_only=True)
class Bench:
    """A job, what is outside of its run folder when nothing is wrong, and the world that it publishes to, if any."""

    job: PlainJob
    before: Mapping[str, Any]
    env: Mapping[str, str]

    @property
    def log(self) -> Path:
        return self.job.folder.with_suffix(".said")

    @property
    def kept(self) -> Path:
        return self.job.folder.with_suffix(".points")


@dataclass
class Troubles:
    """What did not hold."""

    found: list[str] = field(default_factory=list)
    met: bool = True

    def unless(self, holds: bool, text: str) -> None:
        if not holds:
            self.found.append(text)


def command(bench: Bench, argv: list[str], watch: points.Watch | None = None, *, keep: Path | None = None) -> int:
    """Run backproof in a fork: what it imports is there already. The end by a signal is negative."""
    child = os.fork()
    if child == 0:
        _child(bench, argv, watch, keep)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _child(bench: Bench, argv: list[str], watch: points.Watch | None, keep: Path | None) -> None:
    code = CRASHED
    try:
        os.setsid()
        os.chdir(bench.job.folder)
        os.environ.clear()
        os.environ.update(bench.env)
        _say_into(bench.log)
        if watch:
            _tell_stages(watch)
            watch.install()
        cli.main(argv)
    except SystemExit as done:
        code = int(done.code or 0)
    except BaseException:  # noqa: BLE001 - the campaign reports it
        traceback.print_exc()
    finally:
        if watch and keep:
            told = {"points": [vars(each) for each in watch.points], "happened": watch.happened, "other": watch.other}
            keep.write_text(json.dumps(told), encoding="utf-8")
        sys.stdout.flush()
        os._exit(code)


def _say_into(log: Path) -> None:
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(handle, 1)
    os.dup2(handle, 2)


def _tell_stages(watch: points.Watch) -> None:
    """The stage of a point is the last that the command said it begins."""
    from backproof.commands import run as commands

    said = vars(commands)["say"]

    def say(text: str) -> None:
        watch.say(text)
        said(text)

    vars(commands)["say"] = say


def recorded(bench: Bench, argv: list[str], *, stage: str = "start") -> list[points.Point]:
    """The points of a run to which nothing happens."""
    code = command(bench, argv, points.Watch(folder=str(bench.job.folder), stage=stage), keep=bench.kept)
    if code != PASSED:
        raise SystemExit(f"the run to which nothing happens ended with {code}:\n{bench.log.read_text()}")
    return [points.Point(**each) for each in json.loads(bench.kept.read_text(encoding="utf-8"))["points"]]


def struck(bench: Bench, argv: list[str], at: tuple[points.Point, int], fault: Fault) -> Troubles:
    """Let one thing happen at one point of a run, then run again, and look at everything."""
    troubles = Troubles()
    bench.kept.unlink(missing_ok=True)
    watch = points.Watch(folder=str(bench.job.folder), at=at, fault=fault, again=argv)
    code = command(bench, argv, watch, keep=bench.kept)
    troubles.unless(code in may_end(fault), f"ended with {code}: {tail(bench)}")
    troubles.unless("Traceback" not in bench.log.read_text(errors="replace"), f"a traceback: {tail(bench)}")
    if code != -signal.SIGKILL:
        told = json.loads(bench.kept.read_text(encoding="utf-8"))
        troubles.met = told["happened"]
        troubles.unless(told["other"] in {None, 0, 4}, f"the other command ended with {told['other']}")
    recovers(bench, argv, troubles)
    return troubles


def may_end(fault: Fault) -> set[int]:
    """A clock and another run are nobody's excuse; a kill may come too late; the rest may be told or outlived."""
    if fault in {points.stepped_back, points.second_run, points.second_run_elsewhere}:
        return {PASSED}
    if fault in {points.killed, points.killed_soon}:
        return {-signal.SIGKILL} if fault is points.killed else {-signal.SIGKILL, PASSED}
    return TOLD


def recovers(bench: Bench, argv: list[str], troubles: Troubles) -> None:
    """The same command again ends well, and nothing of the accident is left."""
    code = command(bench, argv)
    troubles.unless(code == PASSED, f"the next command ended with {code}: {tail(bench)}")
    troubles.unless(_outside(bench) == bench.before, f"outside the run folder: {_difference(bench)}")
    troubles.unless(_notes(bench) == [], "an overlay is still noted")
    valid(bench.job.run_folder, troubles)


def valid(folder: Path, troubles: Troubles) -> None:
    """run.json is of its schema, a pass, and its evidence holds; every event can be read."""
    try:
        story = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator(SCHEMA).validate(story)
    except (OSError, ValueError, jsonschema.ValidationError) as error:
        troubles.found.append(f"run.json: {error}")
        return
    troubles.unless(
        (story["outcome"], story["level"]) == ("pass", 2), f"run.json: {story['outcome']}, level {story['level']}"
    )
    wrong = [each["path"] for each in story["evidence"] if sha256_of(folder / each["path"]) != each["sha256"]]
    troubles.unless(not wrong, f"evidence differs: {wrong}")
    for line in (folder / "events.jsonl").read_text(encoding="utf-8").splitlines():
        try:
            json.loads(line)
        except ValueError:
            troubles.found.append(f"events.jsonl: {line[:80]!r}")


def fresh(bench: Bench) -> None:
    """As on a machine where nothing ran before."""
    for path in (bench.job.run_folder, Path(f"{bench.job.run_folder}-other"), *map(Path, _own_folders(bench))):
        shutil.rmtree(path, ignore_errors=True)
    Path(bench.env["TMPDIR"]).mkdir()


def _own_folders(bench: Bench) -> tuple[str, str]:
    return bench.env["TMPDIR"], bench.env["XDG_STATE_HOME"]


def _outside(bench: Bench) -> Mapping[str, Any]:
    return bench.job.outside()


def _difference(bench: Bench) -> list[str]:
    now = bench.job.outside()
    return sorted(name for name in {*now, *bench.before} if now.get(name) != bench.before.get(name))[:5]


def _notes(bench: Bench) -> list[Path]:
    kept = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = bench.env["XDG_STATE_HOME"]
    try:
        return registry.list_sites()
    finally:
        os.environ.pop("XDG_STATE_HOME")
        if kept is not None:
            os.environ["XDG_STATE_HOME"] = kept


def tail(bench: Bench) -> str:
    return " ".join(bench.log.read_text(errors="replace").split())[-300:]
