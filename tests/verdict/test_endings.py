"""What one test says: each exception that tests end with, raised for real and read as the target reports it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import multiprocessing
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from backproof.devices.check_result import Fault, TestResult
from backproof.records.raised import Raised
from backproof.verdict.endings import classify_ending, describe_error
from checkout import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

sys.path.append(str(ROOT / "pipeline" / "backproof" / "target"))

from backproof_target import faults, stand_ins
from backproof_target.raised import describe_raised

NODE = f"{Path(__file__).name}::test_it"
MTE = Fault(kind="mte-out-of-range", task=1, engine="operator", name="update", text="row 5")


def caught(function: Callable[[], Any]) -> tuple[Raised, ...]:
    """What the target would report of this call."""
    try:
        function()
    except BaseException as error:  # noqa: BLE001 - pytest's own are no Exception
        return tuple(Raised.model_validate(record) for record in describe_raised(error))
    raise AssertionError(function)


def of(function: Callable[[], Any], *, nodeid: str = "test_other.py::test_it", **facts: Any) -> TestResult:
    return TestResult(nodeid=nodeid, outcome="failed", raised=caught(function), **facts)


def throw(error: BaseException) -> Callable[[], None]:
    def function() -> None:
        raise error

    return function


def wrapped(inner: BaseException, outer: BaseException, *, how: str = "context") -> Callable[[], None]:
    def function() -> None:
        try:
            raise inner  # noqa: TRY301 - what is tested
        except BaseException as error:  # noqa: BLE001 - as a client wraps it
            if how == "context":
                raise outer  # noqa: B904 - what is tested
            raise outer from (error if how == "cause" else None)

    return function


def _raises_nothing() -> None:
    with pytest.raises(ValueError, match="x"):
        int("1")


CARRIED_OUT = {
    "assert": throw(AssertionError("41 is not 42")),
    "pytest.fail": lambda: pytest.fail("written wrongly"),
    "pytest.raises": _raises_nothing,
    "an assertion about a refused connection": wrapped(ConnectionRefusedError(), AssertionError()),
    "a value": throw(ValueError("x")),
    "an index": lambda: list[int]()[0],
    "a type": throw(TypeError("x")),
    "a name in the target": throw(NameError("x")),
    "an attribute": throw(AttributeError("x")),
    "not implemented in the target": throw(NotImplementedError("no MTP")),
    "exit": throw(SystemExit(1)),
    "a bug in the handling of a lost connection": wrapped(ConnectionResetError(), AttributeError("x")),
    "a bug in the way without a module": wrapped(ImportError(), KeyError("x")),
    "a refused connection that has no part in it": wrapped(ConnectionRefusedError(), ValueError("x"), how="none"),
}
NOT_CARRIED_OUT = {
    "import": throw(ImportError("cannot import name 'x'")),
    "module": throw(ModuleNotFoundError("No module named 'x'")),
    "memory": throw(MemoryError()),
    "refused": throw(ConnectionRefusedError(111, "refused")),
    "disk": throw(OSError(28, "No space left on device")),
    "no file": lambda: Path("/nonexistent/file").read_bytes(),
    "time": throw(TimeoutError()),
    "time of a socket": throw(socket.timeout()),  # noqa: UP041 - its own class before Python 3.10
    "time in asyncio": throw(asyncio.TimeoutError()),  # noqa: UP041 - its own class before Python 3.11
    "time of a future": throw(concurrent.futures.TimeoutError()),
    "time of a pool": throw(multiprocessing.TimeoutError()),
    "time of a process": throw(subprocess.TimeoutExpired("x", 1)),
    "refused, wrapped": wrapped(ConnectionRefusedError(), RuntimeError("retries exceeded")),
    "refused, the cause": wrapped(ConnectionRefusedError(), RuntimeError("x"), how="cause"),
    "no such host, wrapped": wrapped(socket.gaierror(), RuntimeError("x")),
    "refused, in a group": throw(ExceptionGroup("x", [ConnectionRefusedError()])),
    "not modelled": throw(faults.Unmodelled("index 99")),
    "not modelled, wrapped": wrapped(faults.Unmodelled("index 99"), ValueError("x")),
    "not modelled, then an assertion": wrapped(faults.Unmodelled("index 99"), AssertionError("x"), how="cause"),
    "no stand-in": throw(stand_ins.StandInMissing("x")),
    "no name in a stand-in": throw(stand_ins.NameMissing("x")),
}


@pytest.mark.parametrize("name", CARRIED_OUT)
def test_what_the_code_under_test_shows_in_the_call_is_a_failure(name: str) -> None:
    assert classify_ending(of(CARRIED_OUT[name])) == "failed"


@pytest.mark.parametrize("name", NOT_CARRIED_OUT)
def test_what_keeps_a_test_from_being_carried_out_is_an_error(name: str) -> None:
    assert classify_ending(of(NOT_CARRIED_OUT[name])) == "error"


@pytest.mark.parametrize("phase", ["setup", "teardown"])
@pytest.mark.parametrize("name", CARRIED_OUT)
def test_outside_the_call_everything_is_an_error_even_an_assertion(name: str, phase: str) -> None:
    assert classify_ending(of(CARRIED_OUT[name], phase=phase)) == "error"
    assert classify_ending(of(CARRIED_OUT[name], phase=phase, faults=(MTE,))) == "error"


def test_a_name_that_the_checks_own_lines_lack_is_an_error() -> None:
    assert classify_ending(of(throw(NameError("x")), nodeid=NODE)) == "error"
    assert classify_ending(of(throw(UnboundLocalError("x")), nodeid=NODE)) == "error"
    assert classify_ending(of(throw(AttributeError("x")), nodeid=NODE)) == "failed"


@pytest.mark.parametrize(
    ("kind", "file", "word"),
    [
        ("AttributeError", "/site/torch/_ops.py", "error"),
        ("NotImplementedError", "/site/torch/_ops.py", "error"),
        ("RuntimeError", "/site/torch/_ops.py", "failed"),
        ("AttributeError", "/site/demo/_ops.py", "failed"),
        ("AttributeError", "", "failed"),
    ],
)
def test_an_operator_that_torch_does_not_have_is_not_modelled(kind: str, file: str, word: str) -> None:
    what = Raised(classes=(f"builtins.{kind}",), file=file)
    assert classify_ending(TestResult(nodeid="t.py::t", outcome="failed", raised=(what,))) == word


def test_a_fault_of_the_device_is_a_fault_whatever_follows_it() -> None:
    for name in ("a value", "assert"):
        assert classify_ending(of(CARRIED_OUT[name], faults=(MTE,))) == "fault"
    assert classify_ending(of(NOT_CARRIED_OUT["disk"], faults=(MTE,))) == "fault"
    assert classify_ending(of(NOT_CARRIED_OUT["not modelled"], faults=(MTE,))) == "error"


def test_what_ended_otherwise_is_what_pytest_calls_it() -> None:
    """Without an exception: an xfail that passes is a failure; a test without an end of its own is an error."""
    words = {"passed": "passed", "skipped": "skipped", "failed": "failed", "error": "error"}
    assert {
        word: classify_ending(TestResult.model_validate({"nodeid": "t", "outcome": word})) for word in words
    } == words


def test_one_line_tells_phase_test_class_and_message() -> None:
    no_disk = of(NOT_CARRIED_OUT["disk"], message="OSError: [Errno 28]\n  No space", phase="teardown")
    assert describe_error(no_disk) == "error in tear-down of test_other.py::test_it: OSError: [Errno 28] No space"
    lookup = of(throw(LookupError("x")), message="fixture 'rows' not found", phase="setup")
    assert describe_error(lookup) == "error in set-up of test_other.py::test_it: LookupError: fixture 'rows' not found"
    bare = TestResult(nodeid="t.py::t", outcome="error", message="x" * 900)
    assert describe_error(bare) == f"error in call of t.py::t: {'x' * 900}"[:500]
    unnamed = bare.model_copy(update={"raised": (Raised(classes=()),), "message": "y"})
    assert describe_error(unnamed) == "error in call of t.py::t: y"


def test_what_is_reported_is_bounded_and_never_goes_round() -> None:
    first, second = ValueError("a"), ValueError("b")
    first.__context__, second.__context__ = second, first
    assert [record["classes"][0] for record in describe_raised(first)] == ["builtins.ValueError"] * 2
    deep = ValueError("top")
    now: BaseException = deep
    for _ in range(50):
        now.__cause__ = now = ValueError("beneath")
    assert len(describe_raised(deep)) == 12
    assert describe_raised(None) == []
    long = type("X" * 900, (ValueError,), {})
    assert all(len(name) <= 300 for record in describe_raised(long("x")) for name in record["classes"])


NATIVE = """NOTE: Incompatible Exception Representation, displaying natively:

testtools.testresult.real._StringException: pythonlogging: {{{Traceback (most recent call last): of a log}}}

Traceback (most recent call last):
  File "/target/arms/base/shop/price.py", line 7, in price
    return table[key]
           ~~~~~^^^^^
KeyError: 'a'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/target/arms/base/tests/test_price.py", line 301, in test_price
    self.assertEqual(expected, price(key))
  File "/env/lib/testtools/testcase.py", line 394, in assertEqual
    raise mismatch_error
END
"""


@pytest.mark.parametrize(
    ("end", "classes", "text", "ending"),
    [
        ("AssertionError: !=:\nreference = 1\nactual = 2", "builtins.AssertionError", "!=:", "failed"),
        (
            "AttributeError: module 'shop' has no attribute 'x'",
            "builtins.AttributeError",
            "module 'shop' has no",
            "failed",
        ),
        ("OSError: [Errno 28] No space left on device", "builtins.OSError", "[Errno 28]", "error"),
        ("json.decoder.JSONDecodeError: Extra data", "json.decoder.JSONDecodeError", "Extra data", "failed"),
        ("gone.Error: went", "gone.Error", "went", "failed"),
    ],
)
def test_a_test_class_that_keeps_only_the_text_of_its_exception_is_read(
    end: str, classes: str, text: str, ending: str
) -> None:
    result = of(throw(pytest.fail.Exception(NATIVE.replace("END", end), pytrace=False)))
    (record,) = result.raised
    assert record.classes[0] == classes
    assert record.text.startswith(text)
    assert record.frames == (
        ("/target/arms/base/tests/test_price.py", 301),
        ("/env/lib/testtools/testcase.py", 394),
    )
    assert (record.file, record.line) == record.frames[-1]
    assert classify_ending(result) == ending
