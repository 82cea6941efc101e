"""How one test ended: it says something about the code under test, or it could not be carried out.

The target reports the phase and the classes of what was raised; what they mean is decided here. An error is never red:
a base that is red because a fixture is missing shows no fault, and a backport is not bad because a host was busy.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from backproof.devices.check_result import TestResult
    from backproof.records.arm_tests import Ending
    from backproof.records.raised import Raised

RULES: Final = 3
"""Raised whenever these rules change: what other rules judged is judged again, not reused."""

_ASSERTIONS: Final = frozenset({"builtins.AssertionError", "builtins.Failed"})
"""`Failed` is what `pytest.fail` raises; pytest gives it that module."""
_NOT_MODELLED: Final = "backproof_target.faults.Unmodelled"
_NOT_CARRIED_OUT: Final = frozenset(
    {
        "builtins.ImportError",
        "builtins.MemoryError",
        "builtins.OSError",
        "_pytest.fixtures.FixtureLookupError",  # raised in the call by `request.getfixturevalue`
        "torch.OutOfMemoryError",
        # Before Python 3.11 these were no OSError; two of them still are none.
        "asyncio.exceptions.TimeoutError",
        "concurrent.futures._base.TimeoutError",
        "multiprocessing.context.TimeoutError",
        "subprocess.TimeoutExpired",
    }
)
"""The host, a module or fixture that is not there, or time: raised in the call, they say nothing about the code under test."""
_BENEATH: Final = frozenset(
    {_NOT_MODELLED, "builtins.MemoryError", "builtins.ConnectionRefusedError", "socket.gaierror"}
)
"""The same under an exception that wraps it. Fewer: code that handles an OSError wrongly has a fault of its own."""
_NO_SUCH_OPERATOR: Final = frozenset({"builtins.AttributeError", "builtins.NotImplementedError"})
"""What torch's own dispatch raises for an operator that is not registered, or not for this backend."""
_PHASES: Final = {"setup": "set-up", "call": "call", "teardown": "tear-down"}


def classify_ending(test: TestResult) -> Ending:
    """Return what a test says: `failed` by an assertion or by what the target's code raised in the call, or `error`."""
    if test.outcome not in {"failed", "error"}:
        return test.outcome
    if test.outcome == "error" or test.phase != "call" or _was_not_carried_out(test):
        return "error"
    return "fault" if test.faults else "failed"


def _was_not_carried_out(test: TestResult) -> bool:
    kinds = [frozenset(raised.classes) for raised in test.raised]
    if not kinds or any(_NOT_MODELLED in kind for kind in kinds):
        return bool(kinds)
    # A fault that the device recorded while the test ran is a finding, whatever was raised after it.
    if test.faults or kinds[0] & _ASSERTIONS:
        return False
    beneath = any(kind & _BENEATH for kind in kinds[1:])
    return beneath or bool(kinds[0] & _NOT_CARRIED_OUT) or _is_slip(test) or _lacks_operator(test.raised[0])


def _is_slip(test: TestResult) -> bool:
    """Return whether the check's own lines use a name that they do not have; in the target's code it is a fault."""
    own = PurePath(test.nodeid.partition("::")[0]).name
    return "builtins.NameError" in test.raised[0].classes and PurePath(test.raised[0].file).name == own


def _lacks_operator(raised: Raised) -> bool:
    return bool(_NO_SUCH_OPERATOR & set(raised.classes)) and PurePath(raised.file).parts[-2:] == ("torch", "_ops.py")


def describe_error(test: TestResult) -> str:
    """Return one line about a test that could not be carried out: phase, test, what was raised and its message."""
    message = " ".join(test.message.split()) or "no reason given"
    kind = test.raised[0].classes[0].rpartition(".")[2] if test.raised and test.raised[0].classes else ""
    text = message if not kind or message.startswith(kind) else f"{kind}: {message}"
    return f"error in {_PHASES[test.phase]} of {test.nodeid}: {text}"[:500]
