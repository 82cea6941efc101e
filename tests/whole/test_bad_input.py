"""Bad input on the command line: what failed, why, what next; the right exit code; the target as it was."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from installed_kit import Prepared, prepare
from real_target import backproof
from target_env import CONV, Target, make

if TYPE_CHECKING:
    from repositories import Repository


@dataclass(frozen=True, kw_only=True)
class Case:
    """A kit, a repository and a target, and the command that runs them."""

    folder: Path
    prepared: Prepared
    upstream: Repository

    def run(self, *args: str, **options: str) -> subprocess.CompletedProcess[str]:
        given = {
            "--out": str(self.folder / "out"),
            "--repo": str(self.upstream.folder),
            "--branch": "release",
            "--python": str(self.prepared.target.python),
            **{f"--{name}": value for name, value in options.items()},
        }
        flat = [part for pair in given.items() for part in pair]
        return backproof("run", str(self.prepared.ctx.kit), *flat, *args, cwd=self.folder)

    def plan(self, old: str, new: str) -> None:
        path = self.prepared.ctx.kit / "plan.toml"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))


@pytest.fixture
def case(tmp_path: Path, upstream: Repository) -> Case:
    return Case(folder=tmp_path, prepared=prepare(tmp_path, upstream), upstream=upstream)


def state(target: Target) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(target.site.rglob("*")) if path.is_file()}


def told(done: subprocess.CompletedProcess[str], code: int, *words: str) -> None:
    """The exit code, the words, three sentences where it is an error, and nothing on stdout that looks like a pass."""
    said = done.stdout + done.stderr
    assert done.returncode == code, said
    assert "Traceback" not in said
    assert "PASS" not in done.stdout
    for word in words:
        assert word in said
    if done.stderr.startswith("error:") or "\nerror:" in done.stderr:
        assert "\n  why: " in done.stderr
        assert "\n  next: " in done.stderr


def test_an_unknown_key_stops_before_anything_runs(case: Case) -> None:
    case.plan('mode = "overlay"', 'mod = "overlay"')
    told(case.run(), 2, "install.mod: unknown key; did you mean 'mode'?", "plan.toml")
    assert not (case.folder / "out").exists()


def test_a_commit_that_is_not_there(case: Case) -> None:
    path = case.prepared.ctx.kit / "plan.toml"
    lines = [
        ('commits = ["abcdef1"]' if each.startswith("commits") else each) for each in path.read_text().splitlines()
    ]
    path.write_text("\n".join(lines))
    told(case.run(), 2, "there is no commit abcdef1", "git fetch")


def test_a_branch_that_is_not_there(case: Case) -> None:
    told(case.run(branch="releas"), 2, "there is no branch 'releas'", "did you mean 'release'?")


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("repo", "/nonexistent/clone", ["/nonexistent/clone", "not a git repository"]),
        ("python", "/nonexistent/python", ["/nonexistent/python: no such interpreter"]),
        ("device", "emulatr", ["emulatr: no such device", "did you mean 'emulator'?"]),
    ],
)
def test_an_option_that_names_nothing(case: Case, option: str, value: str, words: list[str]) -> None:
    told(case.run(**{option: value}), 2, *words)


def test_without_git_the_lack_of_it_is_what_is_said(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(case.folder))
    told(case.run(), 4, "git cannot be started", "there is no `git` on PATH", "install git")
    told(
        backproof(
            "history", "explain", "HEAD", "--branch", "release", "--repo", str(case.upstream.folder), cwd=case.folder
        ),
        4,
        "git cannot be started",
    )


OLD = {"print('2.7')": "2.7", "print('3.7')": "3.7"}


@pytest.mark.parametrize("answer", OLD)
def test_a_python_too_old_to_look_into_is_named(case: Case, answer: str) -> None:
    python = case.folder / "old python"
    python.write_text(f"#!{sys.executable}\nimport sys\nif '-c' in sys.argv: {answer}\nelse: sys.exit('SyntaxError')\n")
    python.chmod(0o755)
    told(case.run(python=str(python)), 2, f"this is Python {OLD[answer]}", "the oldest Python of a target", "3.8")


def test_a_python_too_old_for_what_it_is_lent_is_named_before_anything_changes(case: Case) -> None:
    """Start-up code makes it say that it is 3.9: what is lent to a real one could not be imported there."""
    case.prepared.target.write("old.pth", b"import platform; platform.python_version = lambda: '3.9.18'\n")
    before = state(case.prepared.target)
    told(case.run(), 2, "Python 3.9.18 is too old for the checks", "it has no pytest", "newer Python with --python")
    assert state(case.prepared.target) == before


def test_an_interpreter_without_the_distribution(case: Case) -> None:
    bare = make(case.folder / "bare")
    told(case.run(python=str(bare.python)), 2, "demo")


def test_an_installed_file_that_differs_from_the_release(case: Case) -> None:
    target = case.prepared.target
    (target.site / CONV).write_text("def answer():\n    return 40  # mine\n")
    before = state(target)
    told(case.run(), 3, CONV)
    assert state(target) == before


@pytest.mark.parametrize(
    "line",
    [
        "import sys; print('banner' * 1000); sys.stderr.write('warning\\n')",
        "import os; os.write(1, b'{\"schema\": 1}\\n')",
    ],
)
def test_a_target_that_prints_at_start_does_not_disturb_the_answer(case: Case, line: str) -> None:
    case.prepared.target.write("chatty.pth", line.encode() + b"\n")
    done = case.run("--to", "verify")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("line", ["import os; os._exit(7)", "import os; os.kill(os.getpid(), 11)"])
def test_a_target_that_dies_at_start_is_an_error_and_left_as_it_was(case: Case, line: str) -> None:
    case.prepared.target.write("deadly.pth", line.encode() + b"\n")
    before = state(case.prepared.target)
    told(case.run(), 4, "ERROR: no verdict", "install: ")
    assert state(case.prepared.target) == before


def test_a_target_without_torch_is_an_error_and_never_a_fail(case: Case) -> None:
    before = state(case.prepared.target)
    told(case.run(), 4, "no-torch")
    assert state(case.prepared.target) == before


def test_two_runs_on_one_folder(case: Case) -> None:
    (case.folder / "out").mkdir()
    holder = (
        "import sys; from pathlib import Path; from backproof.rundir.ledger import Ledger\n"
        "with Ledger(Path(sys.argv[1])).hold_lock():\n    print('held', flush=True); sys.stdin.read()"
    )
    argv = [sys.executable, "-c", holder, str(case.folder / "out")]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        told(case.run(), 4, "another run works in this folder")
        process.kill()


@pytest.mark.skipif(os.geteuid() != 0, reason="a small file system can only be mounted as root")
def test_a_full_disk_loses_nothing_and_a_resume_goes_on(case: Case) -> None:
    place = case.folder / "small disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("mount is not permitted here")
    before = state(case.prepared.target)
    try:
        (place / "filler").write_bytes(b"x" * 200_000)
        told(case.run("--to", "verify", out=str(place / "out")), 4, "disk")
        assert state(case.prepared.target) == before
        (place / "filler").unlink()
        subprocess.run(["mount", "-o", "remount,size=64m", str(place)], check=True)
        done = case.run("--to", "verify", out=str(place / "out"))
        assert done.returncode == 0, done.stdout + done.stderr
        assert state(case.prepared.target) == before
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_bug_of_ours_leaves_a_crash_file(case: Case) -> None:
    """Whatever is not foreseen ends with 70 and a file for an issue; neither shows a token."""
    code = (
        "import sys; from backproof import cli; import backproof.kit.loader\n"
        "def broken(*_): raise RuntimeError('with token ghp_' + 'a' * 36)\n"
        "backproof.kit.loader.load_plan = broken\n"
        "cli.main(['plan', 'check', 'x'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=case.folder, check=False)
    assert done.returncode == 70
    assert "this is a bug in Backproof" in done.stderr
    assert "ghp_" not in done.stderr
    path = Path(done.stderr.split("attach ")[1].split(" to an issue")[0])
    text = path.read_text()
    assert "RuntimeError" in text
    assert "ghp_" not in text
