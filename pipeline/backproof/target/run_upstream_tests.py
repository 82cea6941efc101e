"""Run tests of the target's own repository: ``python run_upstream_tests.py REQUEST.json``.

What happens is written down line by line as it happens: a test that takes the process with it leaves its start. The
repository's package folder is not on the path: the installed target is what is tested.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

from backproof_target.caller import die_with_caller  # the script's own folder is taken off the path later
from backproof_target.raised import describe_raised


class Events:
    """A pytest plugin that puts down each start and each end."""

    def __init__(self, file: Path, nonce: str, watched: list[str]) -> None:
        self.handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.nonce = nonce
        self.watched = set(watched)
        self.seen: set[str] = set()
        self.raised: dict[str, list[dict[str, Any]]] = {}

    def put(self, **facts: Any) -> None:
        os.write(self.handle, f"{json.dumps({'nonce': self.nonce, **facts})}\n".encode())

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.put(event="uncollected", test=report.nodeid, message=str(report.longrepr)[-1000:])

    def pytest_collection_finish(self, session: Any) -> None:
        self.put(event="collected", tests=[item.nodeid for item in session.items])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.put(event="start", test=nodeid)

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        """Describe the exception before the report is made, which has its text only. pytest makes that: None is returned."""
        self.raised[item.nodeid] = describe_raised(call.excinfo.value if call.excinfo is not None else None)

    def pytest_runtest_logreport(self, report: Any) -> None:
        text = str(report.longrepr)[-1000:] if report.failed else ""
        facts = {"when": report.when, "outcome": report.outcome, "seconds": report.duration, "message": text}
        raised = self.raised.pop(report.nodeid, []) if report.failed else []
        self.put(event="report", test=report.nodeid, raised=raised, **facts)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.loaded()
        self.put(event="end", test=nodeid)

    def loaded(self) -> None:
        """Files of the patch that this process has loaded, with what is in them: it must be the arm's."""
        for module in list(sys.modules.values()):
            file = getattr(module, "__file__", None)
            if file in self.watched and file not in self.seen:
                self.seen.add(file)
                self.put(event="loaded", file=file, sha256=hashlib.sha256(Path(file).read_bytes()).hexdigest())


def run_tests(arguments: list[str]) -> int:
    sys.dont_write_bytecode = True
    die_with_caller()
    request = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    here = Path(__file__).resolve().parent
    sys.path[:] = [item for item in sys.path if item and Path(item).resolve() not in {here, Path(request["root"])}]
    # Tests import their own helpers as `tests.x`; the root has nothing else in it.
    sys.path.insert(0, request["root"])
    sys.path.extend(request["carried"])
    import pytest

    plugin = Events(Path(request["events"]), request["nonce"], request["files"])
    options = ["-p", "no:cacheprovider", "--import-mode=importlib", f"--rootdir={request['root']}", "-c", os.devnull]
    options += ["-q", *(f"--deselect={item}" for item in request["deselect"])]
    return int(pytest.main([*options, *request["select"]], plugins=[plugin]))


if __name__ == "__main__":
    sys.exit(run_tests(sys.argv[1:]))
