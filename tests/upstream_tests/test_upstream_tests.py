"""The target's own tests: real pytest processes that pass, fail, flake, crash, hang and die at import."""

from __future__ import annotations

import hashlib
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from backproof.core.model import Arm, Outcome
from backproof.devices.ascend.session import log_environment
from backproof.devices.lent_packages import link_packages
from backproof.devices.protocol import ProcessSetup
from backproof.kit.serving import UpstreamTests
from backproof.records.upstream_tests import ArmTests, Compared, OwnTest, UpstreamRecord
from backproof.report import junit
from backproof.upstream_tests import compare
from backproof.upstream_tests.arm import ArmJob, run_arm
from backproof.upstream_tests.worker import TestJob
from junit_xml import to_xml_report_string

OPS = """
import os, pathlib, pytest, signal, time
import demo_target
from tests.helper import SCENE

def test_fine():
    assert demo_target.ROWS >= 0

def test_rows():
    assert demo_target.ROWS == 8

@pytest.mark.parametrize("graph", [False, True])
class TestGraph:
    def test_replay(self, graph):
        if graph and demo_target.ROWS != 8:
            folder = pathlib.Path(os.environ["ASCEND_PROCESS_LOG_PATH"])
            (folder / "plog-1_20261103101001377.log").write_text(SCENE)
            os.kill(os.getpid(), signal.SIGABRT)

def test_after_the_crash():
    pass

@pytest.mark.skip(reason="no cards")
def test_skipped():
    pass

def test_flaky():
    counter = pathlib.Path(os.environ["COUNTER"])
    counter.write_text(counter.read_text() + "x" if counter.exists() else "x")
    assert len(counter.read_text()) > 1
"""
SCENE = (
    "[ERROR] RUNTIME(1,):2026-11-03-10:15:02.874.261 [device_error_core_proc.cc:645]9 PrintCoreInfo:The error from "
    "device(chipId:2, dieId:0), serial number is 11, there is an exception of fftsplus aivector error, core id is 3, "
    "error code = 0x800000, dump info: pc start: 0x1\n"
    "[ERROR] RUNTIME(1,):2026-11-03-10:15:02.874.308 [device_error_core_proc.cc:658]9 PrintCoreInfo:The extend info: "
    "errcode:(0x800000, 0, 0) errorStr: The DDR address of the MTE instruction is out of range. fsmId:0, subErrType:4.\n"
)
SELECT = ("tests/test_ops.py",)


class Repository:
    """A repository's tests, and an installed target whose one file the arms replace."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self.site = folder / "site"
        self.work = folder / "work"
        self.file = self.site / "demo_target.py"
        for made in (self.root / "tests", self.site):
            made.mkdir(parents=True)
        self.write("helper.py", f"SCENE = {SCENE!r}\n")
        self.write("test_ops.py", OPS)

    def write(self, name: str, text: str) -> None:
        (self.root / "tests" / name).write_text(text, encoding="utf-8")

    def run(self, arm: Arm, **facts: Any) -> ArmTests:
        rows = 8 if arm is Arm.FIXED else 3
        self.file.write_text(f"ROWS = {rows}\n", encoding="utf-8")
        hashes = facts.pop("hashes", {str(self.file): hashlib.sha256(self.file.read_bytes()).hexdigest()})
        plan = UpstreamTests.model_validate({"select": SELECT, "timeout": 60, "repeats": 2, **facts})
        work = self.work / arm.value
        test_job = TestJob(
            python=Path(sys.executable),
            env={"PYTHONPATH": str(self.site), "COUNTER": str(self.work / f"{arm}.counter")},
            root=self.root,
            work=work,
            carried=link_packages(self.work),
            files=tuple(hashes),
            select=plan.select,
            timeout=plan.timeout,
        )

        def prepare(name: str) -> ProcessSetup:
            logs = work / f"{name}.logs"
            logs.mkdir(parents=True)
            return ProcessSetup(env=log_environment(logs), logs=logs)

        self.work.mkdir(exist_ok=True)
        return run_arm(
            ArmJob(plan=plan, test_job=test_job, arm=arm, hashes=hashes, prepare=prepare, say=lambda _: None)
        )


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def outcomes(arm: ArmTests) -> dict[str, str]:
    return {test.test.partition("::")[2]: test.outcome for test in arm.tests}


def test_both_arms_with_a_crash_a_flaky_test_and_a_first_fault(repository: Repository) -> None:
    base, fixed = repository.run(Arm.BASE), repository.run(Arm.FIXED)
    assert outcomes(base) == {
        "test_fine": "passed",
        "test_rows": "failed",
        "TestGraph::test_replay[False]": "passed",
        "TestGraph::test_replay[True]": "crashed",
        "test_after_the_crash": "passed",
        "test_skipped": "skipped",
        "test_flaky": "passed",
    }
    crashed = next(test for test in base.tests if test.outcome == "crashed")
    assert "signal SIGABRT" in crashed.message
    assert crashed.first_fault is not None
    assert crashed.first_fault.kind == "mte-out-of-range"
    assert (crashed.runs, crashed.bad) == (2, 2)
    assert base.strange == fixed.strange == ""
    verdicts = {test.test.partition("::")[2]: test.verdict for test in compare.compare_arms([base, fixed])}
    assert verdicts == {
        "test_fine": "fine",
        "test_rows": "mended",
        "TestGraph::test_replay[False]": "fine",
        "TestGraph::test_replay[True]": "mended",
        "test_after_the_crash": "fine",
        "test_skipped": "fine",
        "test_flaky": "flaky",
    }
    outcome, sentence = compare.judge_tests([base, fixed], compare.compare_arms([base, fixed]), "")
    assert outcome is Outcome.PASS
    assert "(2 mended, 1 flaky)" in sentence
    spoiled = compare.judge_tests([base, fixed], compare.compare_arms([base, fixed]), "a card went bad")
    assert spoiled == (Outcome.ERROR, "a card went bad")


def test_other_code_than_the_arms_says_nothing_of_it(repository: Repository) -> None:
    arm = repository.run(Arm.FIXED, hashes={str(repository.file): "0" * 64}, select=["tests/test_ops.py::test_fine"])
    assert "not the code of this arm" in arm.strange
    assert compare.judge_tests([arm], compare.compare_arms([arm]), "")[0] is Outcome.ERROR


def test_what_hangs_is_stopped_and_its_time_is_not_paid_twice(repository: Repository) -> None:
    repository.write(
        "test_hang.py", "import demo_target, time\ndef test_it():\n    time.sleep(60)\ndef test_b():\n    pass\n"
    )
    arm = repository.run(Arm.FIXED, select=["tests/test_hang.py"], timeout=5, repeats=5)
    first, second = arm.tests
    assert (first.outcome, first.runs, second.outcome) == ("hung", 1, "passed")


def test_a_process_that_dies_at_import_loses_its_file_only(repository: Repository) -> None:
    repository.write("test_dead.py", "import demo_target, os\nos._exit(9)\n")
    arm = repository.run(Arm.FIXED, select=["tests/test_dead.py", "tests/test_ops.py::test_fine"])
    dead, fine = arm.tests
    assert (dead.outcome, fine.outcome) == ("not-run", "passed")
    assert "ended with code 9 outside any test" in dead.message
    assert compare.judge_tests([arm], compare.compare_arms([arm]), "")[0] is Outcome.ERROR


def test_nothing_selected_is_an_error(repository: Repository) -> None:
    arm = repository.run(Arm.FIXED, select=["tests/test_ops.py::test_skipped"])
    assert arm.strange == "no test ran (1 selected)"


def test_the_repositorys_package_does_not_shadow_the_installed_one(repository: Repository) -> None:
    repository.write("demo_target.py", "ROWS = 'not the installed one'\n")
    arm = repository.run(Arm.FIXED, select=["tests/test_ops.py::test_rows"])
    assert outcomes(arm) == {"test_rows": "passed"}


def of(test: str, outcome: str, runs: int = 1, bad: int = 0) -> OwnTest:
    return OwnTest.model_validate({"test": test, "outcome": outcome, "runs": runs, "bad": bad})


@pytest.mark.parametrize(
    ("base", "fixed", "verdict", "outcome"),
    [
        (of("t", "passed"), of("t", "failed", 3, 3), "regression", Outcome.FAIL),
        (None, of("t", "failed", 3, 3), "regression", Outcome.FAIL),
        (of("t", "passed"), of("t", "crashed", 3, 3), "regression", Outcome.FAIL),
        (of("t", "failed", 3, 3), of("t", "failed", 3, 3), "bad-everywhere", Outcome.PASS),
        (of("t", "passed"), of("t", "passed", 3, 1), "flaky", Outcome.PASS),
        (of("t", "failed", 3, 3), of("t", "passed"), "mended", Outcome.PASS),
        (of("t", "passed"), of("t", "not-run", 0), "unknown", Outcome.ERROR),
        (of("t", "passed"), of("t", "error", 3, 3), "unknown", Outcome.ERROR),
        (of("t", "error", 3, 3), of("t", "error", 3, 3), "unknown", Outcome.ERROR),
        (of("t", "error", 3, 3), of("t", "passed"), "unknown", Outcome.ERROR),
        (of("t", "error", 3, 3), of("t", "failed", 3, 3), "unknown", Outcome.ERROR),
        (of("t", "not-run", 0), of("t", "passed"), "unknown", Outcome.ERROR),
        (of("t", "not-run", 0), of("t", "failed", 3, 3), "unknown", Outcome.ERROR),
        (of("t", "error", 3, 3), of("t", "skipped"), "unknown", Outcome.ERROR),
        (None, of("t", "passed"), "fine", Outcome.PASS),
    ],
)
def test_the_arms_of_one_test_are_compared(
    base: OwnTest | None, fixed: OwnTest, verdict: str, outcome: Outcome
) -> None:
    arms = [ArmTests(arm=Arm.BASE, tests=(base,) if base else ()), ArmTests(arm=Arm.FIXED, tests=(fixed,))]
    (compared,) = compare.compare_arms(arms)
    assert compared.verdict == verdict
    assert compare.judge_tests(arms, [compared], "")[0] is outcome


@pytest.mark.parametrize("lost", ["a/t.py", "a/t.py::TestX", "a/t.py::TestX::test_y"])
def test_what_was_lost_without_the_backport_as_a_whole_is_not_known_test_by_test(lost: str) -> None:
    """A module that ends its process on base has no tests there: those on fixed are not fine for that."""
    without = of(lost, "not-run", 0).model_copy(update={"message": "the process ended with code 9"})
    arms = [
        ArmTests(arm=Arm.BASE, tests=(without, of("a/t.pyc", "not-run", 0))),
        ArmTests(arm=Arm.FIXED, tests=(of("a/t.py::TestX::test_y[1]", "passed"), of("b/t.py::test_z", "passed"))),
    ]
    first, second = compare.compare_arms(arms)
    assert (first.verdict, second.verdict) == ("unknown", "fine")
    assert first.sentence == "a/t.py::TestX::test_y[1]: did not run without the backport: the process ended with code 9"
    assert compare.judge_tests(arms, [first, second], "")[0] is Outcome.ERROR


ERRORS = """
import pytest, socket, subprocess
import demo_target

@pytest.fixture
def rows():
    if demo_target.ROWS != 8:
        raise MemoryError("cannot allocate")

def test_fixture(rows):
    pass

def test_missing(no_such_fixture):
    pass

def test_module():
    if demo_target.ROWS != 8:
        import a_module_that_nobody_has

def test_refused():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        try:
            socket.create_connection(taken.getsockname(), timeout=5)
        except OSError:
            raise RuntimeError("retries exceeded")

def test_value():
    if demo_target.ROWS != 8:
        raise ValueError("of the release")
"""


def test_a_test_that_could_not_be_carried_out_is_not_known_on_either_arm(repository: Repository) -> None:
    repository.write("test_errors.py", ERRORS)
    base, fixed = (repository.run(arm, select=["tests/test_errors.py"]) for arm in (Arm.BASE, Arm.FIXED))
    names = ("test_fixture", "test_missing", "test_module", "test_refused", "test_value")
    assert outcomes(base) == dict.fromkeys(names, "error") | {"test_value": "failed"}
    assert outcomes(fixed) == dict.fromkeys(names, "passed") | {"test_missing": "error", "test_refused": "error"}
    compared = compare.compare_arms([base, fixed])
    assert [test.verdict for test in compared] == ["unknown"] * 4 + ["mended"]
    assert "could not be carried out without the backport" in compared[0].sentence
    assert "MemoryError: cannot allocate" in compared[0].sentence
    assert "no_such_fixture" in compared[1].sentence
    assert compare.judge_tests([base, fixed], compared, "")[0] is Outcome.ERROR


NEW_MODULE = "import demo_target\nif demo_target.ROWS != 8:\n    import a_new_module\n\n\ndef test_new():\n    {body}\n"


@pytest.mark.parametrize("selected", ["tests/test_new.py", "tests/test_new.py::test_new"])
def test_a_module_that_cannot_be_imported_without_the_backport_is_a_note(repository: Repository, selected: str) -> None:
    """Backports bring new modules: the stage ends as if their tests were not there."""
    repository.write("test_new.py", NEW_MODULE.format(body="pass"))
    select = [selected, "tests/test_ops.py::test_rows"]
    base, fixed = arms = [repository.run(arm, select=select) for arm in (Arm.BASE, Arm.FIXED)]
    assert outcomes(fixed) == {"test_new": "passed", "test_rows": "passed"}
    new, rows = compared = compare.compare_arms(arms)
    assert (new.verdict, new.counts, rows.verdict, rows.counts) == ("unknown", False, "mended", True)
    assert new.sentence == (
        "tests/test_new.py::test_new: did not run without the backport: "
        "ModuleNotFoundError: No module named 'a_new_module'"
    )
    outcome, sentence = compare.judge_tests(arms, compared, "")
    assert outcome is Outcome.PASS
    assert sentence == (
        "1 of the target's own tests are no worse with the backport (1 mended); "
        "1 not compared: their modules cannot be imported without it"
    )
    suites = ET.fromstring(render_own(arms, compared))  # noqa: S314 - our own text
    assert [case.tag for suite in suites for case in suite.iter() if case.tag in {"error", "failure"}] == []
    assert compare.judge_tests([fixed], [new], "")[0] is Outcome.ERROR
    assert base.tests[0].uncollected


def test_a_failure_in_a_module_that_base_cannot_import_is_not_known(repository: Repository) -> None:
    repository.write("test_new.py", NEW_MODULE.format(body="assert demo_target.ROWS == 9"))
    select = ["tests/test_new.py", "tests/test_ops.py::test_rows"]
    arms = [repository.run(arm, select=select) for arm in (Arm.BASE, Arm.FIXED)]
    new, _ = compared = compare.compare_arms(arms)
    assert (new.verdict, new.counts) == ("unknown", True)
    assert compare.judge_tests(arms, compared, "")[0] is Outcome.ERROR


def test_a_module_that_the_fixed_arm_cannot_import_is_an_error(repository: Repository) -> None:
    repository.write("test_new.py", "import a_new_module\n\n\ndef test_new():\n    pass\n")
    select = ["tests/test_new.py", "tests/test_ops.py::test_rows"]
    arms = [repository.run(arm, select=select) for arm in (Arm.BASE, Arm.FIXED)]
    assert compare.judge_tests(arms, compare.compare_arms(arms), "")[0] is Outcome.ERROR


def test_an_error_in_one_run_and_a_failure_in_another_is_still_an_error(repository: Repository) -> None:
    repository.write(
        "test_both.py",
        "import os, pathlib\nimport demo_target\n\n\ndef test_it():\n    counter = pathlib.Path(os.environ['COUNTER'])\n"
        "    ran = counter.exists()\n    counter.write_text('x')\n    assert not ran\n    raise OSError('busy')\n",
    )
    (both,) = repository.run(Arm.FIXED, select=["tests/test_both.py"]).tests
    assert (both.outcome, both.runs, both.bad) == ("error", 2, 2)


def render_own(arms: list[ArmTests], compared: tuple[Compared, ...]) -> str:
    text: str = to_xml_report_string(junit.build_own_suites(UpstreamRecord(arms=tuple(arms), compared=compared)))
    return text


def test_junit_tells_an_error_of_either_arm_as_an_error() -> None:
    broken = of("tests/t.py::test_x", "error", 1, 1)
    arms = [ArmTests(arm=arm, tests=(broken,)) for arm in (Arm.BASE, Arm.FIXED)]
    suites = ET.fromstring(render_own(arms, compare.compare_arms(arms)))  # noqa: S314 - our own text
    assert [case.find("error") is not None for suite in suites for case in suite] == [True, True]


def test_junit_is_red_only_where_the_backport_or_the_run_is_wrong() -> None:
    bad = of("tests/t.py::test_x[\x1b[31m<&>]", "failed", 1, 1).model_copy(update={"message": "\x00]]> \x1b[0m"})
    both, flaky = of("b", "failed", 1, 1), of("f", "passed", 3, 1)
    arms = [
        ArmTests(arm=Arm.BASE, tests=(of(bad.test, "passed"), both, of("m", "failed", 1, 1))),
        ArmTests(arm=Arm.FIXED, tests=(bad, both, flaky, of("m", "passed"), of("h", "hung", 1, 1))),
    ]
    suites = ET.fromstring(render_own(arms, compare.compare_arms(arms)))  # noqa: S314 - our own text
    assert [suite.get("name") for suite in suites] == [
        "the target's own tests on base",
        "the target's own tests on fixed",
    ]
    red = [case.get("name", "") for suite in suites for case in suite if case.find("failure") is not None]
    assert len(red) == 1
    assert red[0].startswith("test_x[")
    assert [case.get("classname") for suite in suites for case in suite if case.find("error") is not None] == ["h"]
    outputs = {case.get("classname"): case.findtext("system-out") or "" for case in suites[1]}
    assert "flaky: failed 1 of 3 runs" in outputs["f"]
    assert "without the backport, too" in outputs["b"]


def test_names_in_junit() -> None:
    assert junit.name_own("tests/a/test_b.py::TestC::test_d[x::y.py]") == (
        "tests.a.test_b.TestC",
        "test_d[x::y.py]",
    )
