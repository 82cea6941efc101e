"""One request from start to result: prepare the interpreter, run pytest on one file, write what happened."""

from __future__ import annotations

import os
import sys
import traceback
from typing import TYPE_CHECKING, Any

from backproof_target import result
from backproof_target.launches import LaunchLog
from backproof_target.loaded import LoaderWatch
from backproof_target.reach import Reach
from backproof_target.sessions import NotReady, Setting, load_session

if TYPE_CHECKING:
    from backproof_target.answer import Answer
    from backproof_target.request import Request
    from backproof_target.sessions import OpenDevice

_NOTHING_RAN = 5  # pytest's exit code for it


def run_session(request: Request, to: Answer) -> None:
    """Answer whatever happens; first that the process did not finish."""
    to.keep_own()
    answer = result.blank_result(request)
    to.put(answer)
    _extend_path(request)
    reach = Reach(request.files, wanted=request.cover)
    setting = Setting(request=request, answer=answer, log=LaunchLog(), reach=reach)
    watch = LoaderWatch(request.files)
    try:
        _run_checks(setting, watch)
    except NotReady as missing:
        answer["error"] = {"what": missing.what, "trace": str(missing)}
    except BaseException:  # noqa: BLE001 - a target may raise anything at import, SystemExit too
        answer["error"] = {"what": "crashed", "trace": result.bound_text(traceback.format_exc(), result.DETAIL)}
    answer["loaded"] = watch.records()
    answer["launches"] = setting.log.records()
    answer["versions"] = result.list_versions()
    answer["faults"] = result.count_faults(answer["tests"])
    to.put(answer)


def _extend_path(request: Request) -> None:
    sys.path[:] = [*request.ahead, *sys.path, *request.carried]
    if request.ahead:
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [*request.ahead, os.environ.get("PYTHONPATH")]))


def _run_checks(setting: Setting, watch: LoaderWatch) -> None:
    opened = load_session(setting.request.session).prepare(setting)
    watch.install()
    setting.reach.start()
    try:
        _run_pytest(setting.request, setting.answer, opened)
    finally:
        setting.answer["reached"] = setting.reach.stop()
        setting.answer["limits"] += [setting.reach.why_not] if setting.reach.why_not else []


def _run_pytest(request: Request, answer: dict[str, Any], opened: OpenDevice) -> None:
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ.pop("PYTEST_ADDOPTS", None)
    os.environ.pop("PYTEST_PLUGINS", None)
    try:
        import pytest
    except ImportError as missing:
        raise NotReady(
            "no-pytest", f"pytest is neither in the target nor among what was carried: {missing}"
        ) from missing
    from backproof_target.check_plugin import CheckPlugin

    plugin = CheckPlugin(opened)
    try:
        code = pytest.main(_pytest_arguments(request), plugins=[plugin])
    finally:
        answer["tests"] = plugin.list_records()
    answer["pytest_exit"] = int(code)
    answer["error"] = _describe_error(int(code), plugin.broken, plugin.crash)


def _pytest_arguments(request: Request) -> list[str]:
    """Nothing of the current folder, of the check's folder or of the user's settings has a say."""
    request.work.mkdir(parents=True, exist_ok=True)
    settings = request.work / "empty.ini"
    settings.write_text("[pytest]\n", encoding="utf-8")
    check = request.check
    file = str(check.file)
    selected = [file, "-k", check.select] if check.select else [file]
    return [
        *([f"{file}::{test.partition('::')[2]}" for test in check.only] or selected),
        *(["--exitfirst"] if request.stop else []),
        "-q",
        "--tb=native",  # the pretty ones read and highlight source for each frame: a third of the run time
        "--no-header",
        f"-c={settings}",
        f"--rootdir={request.check.file.parent}",
        f"--basetemp={request.work / 'tmp'}",
        "--import-mode=importlib",
        "--noconftest",
        "-p",
        "no:cacheprovider",
    ]


def _describe_error(code: int, broken: list[str], crash: str) -> dict[str, str] | None:
    """Failing tests are a finding, not an error; a file that could not be collected, or nothing to run, is one."""
    if crash:
        return {"what": "crashed", "trace": crash}
    if broken:
        return {"what": "collection", "trace": result.bound_text("\n".join(broken), result.DETAIL)}
    if code == _NOTHING_RAN:
        return {"what": "nothing-ran", "trace": "pytest found no test to run"}
    if code not in (0, 1):
        return {"what": "pytest", "trace": f"pytest ended with exit code {code}"}
    return None
