"""The pytest plugin: a fresh device for each test, and one record for each test in the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from backproof_target.raised import describe_raised
from backproof_target.result import DETAIL, MESSAGE, bound_text, fault_records, make_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from contextlib import AbstractContextManager


class CheckPlugin:
    """Collects what happened; ``opened`` makes a device that is present for one test."""

    def __init__(self, opened: Callable[[], AbstractContextManager[Any]]) -> None:
        self._opened = opened
        self._devices: dict[str, Any] = {}
        self.tests: dict[str, dict[str, Any]] = {}
        self.broken: list[str] = []
        self.crash = ""

    @pytest.fixture
    def device(self, request: pytest.FixtureRequest) -> Iterator[Any]:
        """The device of this test: its own memory, faults and task counter."""
        with self._opened() as device:
            self._devices[request.node.nodeid] = device
            yield device

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken.append(bound_text(str(report.longrepr), DETAIL))

    def pytest_internalerror(self, excrepr: object) -> None:
        """A target that leaves by SystemExit when it is imported ends up here."""
        self.crash = bound_text(str(excrepr)[-DETAIL:], DETAIL)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        """A test that met a fault has not passed, even when nothing it compared was touched by it."""
        result = yield
        device = self._devices.get(item.nodeid)
        if device is not None:
            device.verdict()
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        """Describe the exception itself: a report has its text only."""
        report = yield
        report.raised = describe_raised(call.excinfo.value if call.excinfo is not None else None)
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        entry = self.tests.setdefault(report.nodeid, _new_entry(report.nodeid))
        entry["seconds"] = round(entry["seconds"] + report.duration, 4)
        outcome = _phase_outcome(report)
        if outcome is not None and entry["outcome"] in {None, "passed"}:
            entry["outcome"] = outcome
            entry["message"], entry["detail"] = _describe_report(report)
            entry["phase"], entry["raised"] = report.when, getattr(report, "raised", []) if report.failed else []
        if report.when == "teardown":
            self._close_device(entry)

    def _close_device(self, entry: dict[str, Any]) -> None:
        """The device has been closed by now; its records have not gone away."""
        device = self._devices.pop(entry["nodeid"], None)
        if device is not None:
            entry["faults"] = fault_records(device.faults)
            entry["observations"] = {name: make_plain(value) for name, value in device.observations.items()}

    def list_records(self) -> list[dict[str, Any]]:
        return [{**entry, "outcome": entry["outcome"] or "error"} for entry in self.tests.values()]


def _new_entry(nodeid: str) -> dict[str, Any]:
    return {
        "nodeid": nodeid,
        "outcome": None,
        "seconds": 0.0,
        "phase": "setup",
        "faults": [],
    }


def _phase_outcome(report: pytest.TestReport) -> str | None:
    """What one phase says about the whole test: a set-up or tear-down that fails is an error, not a failure."""
    if report.failed:
        return "failed" if report.when == "call" else "error"
    if report.skipped:
        return "xfailed" if hasattr(report, "wasxfail") else "skipped"
    return "passed" if report.when == "call" else None


def _describe_report(report: pytest.TestReport) -> tuple[str, str]:
    if report.passed:
        return "", ""
    if report.skipped and isinstance(report.longrepr, tuple):
        return bound_text(str(report.longrepr[2]), MESSAGE), ""
    crash = getattr(report.longrepr, "reprcrash", None)
    # A fixture that is not there has no crash, but a sentence before the list of those that are.
    message = crash.message if crash is not None else getattr(report.longrepr, "errorstring", str(report.longrepr))
    # From its end: a traceback starts in pytest and ends where it happened.
    return bound_text(message, MESSAGE), bound_text(report.longreprtext[-DETAIL:], DETAIL)
