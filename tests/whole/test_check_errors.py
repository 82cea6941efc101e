"""A check that could not be carried out is an ERROR on every arm: never the red of base, never a FAIL of the backport."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from backproof.core.model import Outcome
from plain_job import PlainJob, make_job

EXPECT = '[check.expect.cpu]\nbase = "fail"\npick = "pass"\nfixed = "pass"\n'
HEAD = """
import pytest
import socket
from demo.ops import conv

ON_BASE = conv.answer() == 41


def refused():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        socket.create_connection(taken.getsockname(), timeout=5)
"""
FIXTURE_IS_MISSING = """
if {when}:

    def test_it(no_such_fixture):
        pass

else:

    def test_it():
        pass
"""
NO_MEMORY = """
@pytest.fixture
def rows():
    if {when}:
        raise MemoryError("cannot allocate 4 TiB")


def test_it(rows):
    pass
"""
REFUSED = """
def test_it():
    if {when}:
        refused()
"""
REFUSED_AND_WRAPPED = """
def test_it():
    if {when}:
        try:
            refused()
        except OSError:
            raise RuntimeError("the client gave up")
"""
NO_MODULE = """
def test_it():
    if {when}:
        import a_module_that_nobody_has
"""
IN_TEARDOWN = """
@pytest.fixture
def rows():
    yield
    if {when}:
        raise ValueError("cannot clean up")


def test_it(rows):
    pass
"""
A_TYPO = """
def test_it():
    if {when}:
        assert conv.answer() == the_wanted_one
"""
WAYS = {
    "fixture": (FIXTURE_IS_MISSING, "set-up of test_fixture.py::test_it", "no_such_fixture"),
    "memory": (NO_MEMORY, "set-up of test_memory.py::test_it", "MemoryError: cannot allocate 4 TiB"),
    "refused": (REFUSED, "call of test_refused.py::test_it", "ConnectionRefusedError"),
    "wrapped": (REFUSED_AND_WRAPPED, "call of test_wrapped.py::test_it", "the client gave up"),
    "module": (NO_MODULE, "call of test_module.py::test_it", "No module named 'a_module_that_nobody_has'"),
    "teardown": (IN_TEARDOWN, "tear-down of test_teardown.py::test_it", "ValueError: cannot clean up"),
    "typo": (A_TYPO, "call of test_typo.py::test_it", "name 'the_wanted_one' is not defined"),
}


@pytest.fixture
def job(tmp_path: Path) -> PlainJob:
    return make_job(tmp_path / "job")


def add_check(job: PlainJob, name: str, text: str) -> None:
    (job.kit / "checks" / f"test_{name}.py").write_text(text, encoding="utf-8")
    with (job.kit / "plan.toml").open("a", encoding="utf-8") as plan:
        plan.write(f'[[check]]\nid = "{name}"\nfile = "checks/test_{name}.py"\nclaim = "{name}"\n{EXPECT}')


def add_ways(job: PlainJob, when: str) -> None:
    for name, (text, _, _) in WAYS.items():
        add_check(job, name, HEAD + text.format(when=when))


def cases(job: PlainJob) -> dict[tuple[str, str], dict[str, Any]]:
    record = json.loads((job.run_folder / "validate" / "validate.json").read_text(encoding="utf-8"))
    return {(case["check"], case["arm"]): case for case in record["cases"]}


def test_base_that_is_red_by_errors_only_is_an_error_and_no_pass(job: PlainJob) -> None:
    add_ways(job, "ON_BASE")
    done = job.run()
    assert done.returncode == Outcome.ERROR.exit_code, done.stdout + done.stderr
    assert job.story()["outcome"] == "error"
    judged = cases(job)
    for name, (_, where, why) in WAYS.items():
        case = judged[name, "base"]
        assert (case["observed"], case["verdict"]) == ("error", "error"), case
        assert f"could not be told: error in {where}: " in case["sentence"]
        assert why in case["sentence"]
        assert judged[name, "fixed"]["verdict"] == "as-expected"
    assert judged["answers", "base"]["verdict"] == "as-expected"


def test_the_same_error_on_all_arms_is_no_fail(job: PlainJob) -> None:
    add_ways(job, "True")
    done = job.run()
    assert done.returncode == Outcome.ERROR.exit_code, done.stdout + done.stderr
    assert "does not hold" not in done.stdout + done.stderr
    run = job.story()
    assert run["outcome"] == "error"
    assert run["arms"]["fixed"]["outcome"] == "error"
    assert {case["verdict"] for (name, _), case in cases(job).items() if name in WAYS} == {"error"}


def test_one_of_them_alone_keeps_a_run_from_its_pass(job: PlainJob) -> None:
    """The proof of the plan is this check alone: what it shows on base is all that there is."""
    (job.kit / "checks" / "test_answers.py").write_text(HEAD + NO_MODULE.format(when="ON_BASE"), encoding="utf-8")
    done = job.run()
    assert done.returncode == Outcome.ERROR.exit_code, done.stdout + done.stderr
    assert "No module named 'a_module_that_nobody_has'" in job.story()["sentence"]


def test_an_error_beside_a_real_failure_is_still_an_error_and_the_failure_is_told(job: PlainJob) -> None:
    (job.kit / "checks" / "test_answers.py").write_text(
        f"{HEAD}\n\ndef test_answers():\n    assert conv.answer() == 42\n{NO_MODULE.format(when='ON_BASE')}",
        encoding="utf-8",
    )
    done = job.run()
    assert done.returncode == Outcome.ERROR.exit_code, done.stdout + done.stderr
    case = cases(job)["answers", "base"]
    assert case["observed"] == "error"
    assert (case["steps"], case["steps_failed"]) == (2, 2)
    assert case["first"].startswith("test_answers.py::test_answers: ")


@pytest.mark.parametrize("raised", ["ValueError", "NameError"])
def test_what_the_targets_code_raises_in_the_call_is_how_a_fault_shows(tmp_path: Path, raised: str) -> None:
    job = make_job(tmp_path / "job")
    broken = f"def answer():\n    raise {raised}('of the release')\n".encode()
    (job.target.site / "demo/ops/helper.py").write_bytes(broken)
    (job.kit / "checks" / "test_answers.py").write_text(
        "from demo.ops import conv, helper\n\n\ndef test_answers():\n"
        "    if conv.answer() != 42:\n        helper.answer()\n",
        encoding="utf-8",
    )
    done = job.run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert cases(job)["answers", "base"]["first"] == f"test_answers.py::test_answers: {raised}: of the release"
    assert f"first: test_answers.py::test_answers: {raised}: of the release (0 of 1 steps pass)" in done.stderr


REMOVALS = {
    "the interpreter": "os.unlink(sys.executable)",
    "the environment": "shutil.rmtree(sys.prefix)",
    "the package": "shutil.rmtree(os.path.dirname(os.path.dirname(conv.__file__)))",
}

ON_ARM = {
    "base": "conv.answer() == 41",
    # The first run with the fix-up counts lines, in the stage verify.
    "fixed": "hasattr(conv, 'LIMIT') and (os.path.exists({seen!r}) or open({seen!r}, 'w').close())",
}
"""Nothing tells a check which arm it runs on but the code."""


@pytest.mark.parametrize(
    ("what", "arm"), [("the interpreter", "base"), ("the environment", "fixed"), ("the package", "fixed")]
)
def test_a_target_that_is_removed_during_the_run_is_no_fail(tmp_path: Path, what: str, arm: str) -> None:
    job = make_job(tmp_path / "job")
    (job.kit / "checks" / "test_answers.py").write_text(
        "import os, shutil, sys\n\n\ndef test_answers():\n    from demo.ops import conv\n\n"
        f"    if {ON_ARM[arm].format(seen=str(tmp_path / 'seen'))}:\n        {REMOVALS[what]}\n"
        "    from demo.ops import other\n\n    assert conv.answer() == 42\n",
        encoding="utf-8",
    )
    done = job.run()
    run = job.story()
    # Files of the release that are gone while the rest is there are a drift: a person puts them back.
    wanted = Outcome.PERSON if what == "the package" else Outcome.ERROR
    assert (run["outcome"], done.returncode) == (str(wanted), wanted.exit_code), done.stdout + done.stderr
    assert "does not hold" not in done.stdout + done.stderr
