"""Run tests of the target's own repository: ``python run_upstream_tests.py REQUEST.json``.

What happens is written down line by line as it happens: a test that takes the process with it leaves its start. What is
tested is what the request puts on the path: the installed target, or the source tree of one arm.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import importlib.util
import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backproof_target.changed_lines import LineTrace  # the script's own folder is taken off the path later
from backproof_target.missing import Meetings, add_missing
from backproof_target.raised import describe_raised
from backproof_target.turns import fork_turns

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType


_OFF = {"xdist": ["-n0"], "pytest_cov": ["--no-cov"], "pytest_randomly": ["-p", "no:randomly"]}
"""Plugins that run tests elsewhere, trace them or change their order, and how each is told not to."""


class Events:
    """A pytest plugin that puts down each start and each end."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.handle = os.open(request["events"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.nonce = request["nonce"]
        self.watched = set(request["files"])
        self.seen: set[str] = set()
        self.raised: dict[str, list[dict[str, Any]]] = {}
        self.packages: list[str] = request.get("packages", [])
        self.root: str = request["root"]
        self.traced: set[str] = set()
        self.all_traced = False
        self.trace = LineTrace(request.get("lines", {}))
        self.meetings = Meetings()
        self.path: list[str] = request.get("path", [])
        self.turns = Path(request["turns"]) if request.get("turns") else None

    def pytest_runtestloop(self, session: Any) -> bool | None:
        """Where turns are asked for, only processes forked from this one run tests: True tells pytest that all is done."""
        if self.turns is None:
            return None

        def begin(turn: dict[str, Any]) -> None:
            os.close(self.handle)
            self.handle = os.open(turn["events"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            self.traced = set(turn["traced"])
            self.all_traced = bool(turn["all_traced"])
            left_out = set(turn["deselect"])
            session.items[:] = [item for item in session.items if item.nodeid not in left_out]

        return None if fork_turns(self.turns, begin) else True

    def put(self, **facts: Any) -> None:
        os.write(self.handle, f"{json.dumps({'nonce': self.nonce, **facts})}\n".encode())

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.put(event="uncollected", test=report.nodeid, message=str(report.longrepr)[-1000:])

    def pytest_collection_finish(self, session: Any) -> None:
        self.put(event="collected", tests=[item.nodeid for item in session.items])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.put(event="start", test=nodeid)

    def pytest_runtest_setup(self, item: Any) -> None:
        if self.all_traced or item.nodeid in self.traced:
            self.trace.start()

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        """Describe the exception before the report is made, which has its text only. pytest makes that: None is returned."""
        self.raised[item.nodeid] = describe_raised(call.excinfo.value if call.excinfo is not None else None)
        if call.when == "teardown":
            self.put_meetings(item)

    def put_meetings(self, item: Any) -> None:
        """Put down which changed lines a test executed, and which names it met or mentions that are missing here."""
        if self.all_traced or item.nodeid in self.traced:
            self.put(event="reached", test=item.nodeid, lines=self.trace.stop())
        code = getattr(getattr(item, "function", None), "__code__", None)
        met = {*self.meetings.take_met(), *(self.meetings.names & list_names(code))}
        if met:
            self.put(event="missing", test=item.nodeid, names=sorted(met))

    def pytest_runtest_logreport(self, report: Any) -> None:
        text = str(report.longrepr)[-1000:] if report.failed else ""
        facts = {"when": report.when, "outcome": report.outcome, "seconds": report.duration, "message": text}
        raised = self.raised.pop(report.nodeid, []) if report.failed else []
        self.put(event="report", test=report.nodeid, raised=raised, **facts)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.loaded()
        self.put(event="end", test=nodeid)

    def pytest_sessionfinish(self) -> None:
        """Put down the modules of the arm's packages that came from elsewhere."""
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            if file and self.is_ours(name) and not str(file).startswith(f"{self.root}{os.sep}"):
                self.put(event="foreign", module=name, file=str(file))

    def is_ours(self, name: str) -> bool:
        """Tell whether the arm's tree has a module; names that its code gives to other files are not asked for."""
        if name.partition(".")[0] not in self.packages:
            return False
        stem = name.replace(".", "/")
        forms = (f"{stem}.py", f"{stem}/__init__.py")
        return any(Path(folder, form).is_file() for folder in self.path for form in forms)

    def loaded(self) -> None:
        """Files of the patch that this process has loaded, with what is in them: it must be the arm's."""
        for module in list(sys.modules.values()):
            file = str(getattr(module, "__file__", None))
            if file in self.watched and file not in self.seen:
                self.seen.add(file)
                self.put(event="loaded", file=file, sha256=hashlib.sha256(Path(file).read_bytes()).hexdigest())


def list_names(code: CodeType | None) -> set[str]:
    """Return every name that a function mentions, in inner functions as well."""
    if code is None:
        return set()
    inner = [list_names(item) for item in code.co_consts if hasattr(item, "co_names")]
    return {*code.co_names, *(name for names in inner for name in names)}


def make_tolerant(events: Events) -> Any:
    """Return a plugin that lets a test module be collected where names of the arm's packages are missing."""
    import pytest
    from _pytest import runner

    class Tolerant:
        @pytest.hookimpl(hookwrapper=True)
        def pytest_make_collect_report(self, collector: Any) -> Iterator[None]:
            outcome: Any = yield
            report = outcome.get_result()
            while report.failed and add_missing(find_import_error(report), events.packages, events.meetings):
                report = runner.pytest_make_collect_report(collector)
            outcome.force_result(report)

    return Tolerant()


def find_import_error(report: Any) -> BaseException:
    """Return what an import raised: pytest wraps it in an error of its own."""
    error = report.call.excinfo.value
    return error.__cause__ if isinstance(error.__cause__, ImportError) else error


def die_with_caller() -> None:
    """Whoever asked is gone: nobody will read the result, and a device must not stay busy (prctl(2), Linux only)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)


def set_path(request: dict[str, Any]) -> None:
    """Tests import their own helpers as `tests.x`, so the root is on the path; what is tested comes before it."""
    here = Path(__file__).resolve().parent
    sys.path[:] = [item for item in sys.path if item and Path(item).resolve() not in {here, Path(request["root"])}]
    sys.path[:0] = request.get("path", [request["root"]])
    sys.path.extend(request["carried"])


def build_options(request: dict[str, Any]) -> list[str]:
    """Return pytest's options: the project's own configuration, or none where only its tests are here."""
    alone = ["-p", "no:cacheprovider", "--import-mode=importlib", f"--rootdir={request['root']}", "-c", os.devnull]
    options = [f"--rootdir={request['root']}", *request["options"]] if "options" in request else alone
    if "options" in request:
        options += [word for name, words in _OFF.items() if importlib.util.find_spec(name) for word in words]
    return [*options, "-q", *(f"--deselect={item}" for item in request["deselect"])]


def run_tests(arguments: list[str]) -> int:
    die_with_caller()
    request = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    # An installed target stays as it is; a source tree and its environment are ours.
    sys.dont_write_bytecode = "path" not in request
    set_path(request)
    import pytest

    events = Events(request)
    plugins = [events, make_tolerant(events)] if request.get("tolerant") else [events]
    return int(pytest.main([*build_options(request), *request["select"]], plugins=plugins))


if __name__ == "__main__":
    sys.exit(run_tests(sys.argv[1:]))
