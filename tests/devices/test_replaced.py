"""Code that is put in the place of a file's own while it runs is told, and what decorators do is no such thing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from backproof.core.model import Arm
from backproof.devices import cpu
from backproof.devices.check_run import CheckEnvironment, CheckJob, run_check
from backproof.kit.plan import Check
from backproof.verdict.judge import other_code

MODULE = """
import contextlib, dataclasses, functools


def traced(function):
    @functools.wraps(function)
    def inner(*args):
        return function(*args)

    return inner


def answer():
    return 41


@traced
@functools.lru_cache
def cached():
    return [x for x in range(3)]


@contextlib.contextmanager
def opened():
    yield (lambda: 1)()


@dataclasses.dataclass
class Rows:
    count: int = 0

    @property
    def twice(self):
        return self.count * 2

    @staticmethod
    def make():
        return Rows()

    @classmethod
    def other(cls):
        return cls()
"""
FAKE = "names = {}\n    exec(compile('def other(*_):\\n    return 42\\n', mod.__file__, 'exec'), names)\n    other = names['other']"
WAYS = {
    "answer": "mod.answer = other",
    "answer.code": "mod.answer.__code__ = other.__code__",
    "Rows.twice": "mod.Rows.twice = property(other)",
    "Rows.make": "mod.Rows.make = staticmethod(other)",
    "Rows.other": "mod.Rows.other = classmethod(other)",
    "cached": "import functools; mod.cached = functools.wraps(other)(lambda: 0)",
    "added": "mod.added = other",
}


def find_replaced(tmp_path: Path, act: str) -> tuple[tuple[str, ...], list[str]]:
    module = tmp_path / "mod.py"
    module.write_text(MODULE, encoding="utf-8")
    (tmp_path / "test_it.py").write_text(f"import mod\ndef test_it():\n    {act}\n    mod.cached(), mod.Rows().twice\n")
    environment = CheckEnvironment(
        python=Path(sys.executable),
        env={"PYTHONPATH": str(tmp_path)},
        kit=tmp_path,
        device=cpu,
        arm=Arm.FIXED,
        files=[str(module)],
        work=tmp_path / "work",
    )
    expect = {"cpu": dict.fromkeys(Arm, "pass")}
    check = Check.model_validate({"id": "it", "file": "test_it.py", "claim": "c", "expect": expect})
    (loaded,) = run_check(environment, CheckJob(name="it", check=check, operators=None)).result.loaded
    return loaded.replaced, other_code([loaded], {str(module): loaded.sha256})


@pytest.mark.parametrize("name", WAYS)
def test_other_code_under_the_files_name_is_told(tmp_path: Path, name: str) -> None:
    replaced, wrong = find_replaced(tmp_path, f"{FAKE}\n    {WAYS[name]}")
    assert replaced == (name.partition(".code")[0],)
    assert wrong == [f"{tmp_path / 'mod.py'} (other code in {replaced[0]})"]


def test_the_files_own_code_is_no_other(tmp_path: Path) -> None:
    assert find_replaced(tmp_path, "mod.answer(), mod.Rows.make(), mod.Rows.other()") == ((), [])
