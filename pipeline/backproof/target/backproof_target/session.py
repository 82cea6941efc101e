"""One request from start to result: prepare the interpreter, run pytest on one file, write what happened."""

from __future__ import annotations

import os
import sys
import traceback
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from backproof_target import result
from backproof_target.launches import LaunchLog
from backproof_target.loaded import LoaderWatch
from backproof_target.reach import Reach

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from backproof_target.request import Request

_NOTHING_RAN = 5  # pytest's exit code for it


class NotReady(Exception):  # noqa: N818 - what it says about the host
    """The target interpreter cannot run checks on this device; ``what`` is a word for the caller to branch on."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(why)
        self.what = what


def run(request: Request) -> None:
    """Write the result whatever happens; first one that says that the process did not finish."""
    answer = result.blank(request)
    result.write(request.result, answer)
    log = LaunchLog()
    watch = LoaderWatch(request.files)
    try:
        _run(request, answer, log, watch)
    except NotReady as missing:
        answer["error"] = {"what": missing.what, "trace": str(missing)}
    except BaseException:  # noqa: BLE001 - a target may raise anything at import, SystemExit too
        answer["error"] = {"what": "crashed", "trace": result.bounded(traceback.format_exc(), result.DETAIL)}
    answer["loaded"] = watch.records()
    answer["launches"] = log.records()
    answer["versions"] = result.versions()
    answer["faults"] = result.count_faults(answer["tests"])
    result.write(request.result, answer)


def _run(request: Request, answer: dict[str, Any], log: LaunchLog, watch: LoaderWatch) -> None:
    sys.path.extend(request.carried)
    reach = Reach(request.files, wanted=request.cover)
    opened = _opened(request, answer, log, reach)
    watch.install()
    reach.start()
    try:
        _pytest(request, answer, opened)
    finally:
        answer["reached"] = reach.stop()
        answer["limits"] += [reach.why_not] if reach.why_not else []


def _opened(
    request: Request, answer: dict[str, Any], log: LaunchLog, reach: Reach
) -> Callable[[], AbstractContextManager[Any]]:
    """What makes the device of each test; nothing of another device is imported."""
    if request.device == "emulator":
        return _emulated(request, answer, log, reach)
    return _ascend(answer, log) if request.device == "ascend" else _cpu(answer)


def _cpu(answer: dict[str, Any]) -> Callable[[], AbstractContextManager[Any]]:
    from backproof_target import cpu

    answer["limits"] = list(cpu.LIMITS)
    return cpu.opened


def _emulated(
    request: Request, answer: dict[str, Any], log: LaunchLog, reach: Reach
) -> Callable[[], AbstractContextManager[Any]]:
    # Triton chooses between compiling and interpreting when a kernel is decorated.
    os.environ["TRITON_INTERPRET"] = "1"
    emulation = request.emulator
    if emulation is None:
        raise NotReady("request", "device 'emulator' needs the table 'emulator'")
    try:
        import torch
        import torch.utils.deterministic
    except ImportError as missing:
        raise NotReady("no-torch", f"torch cannot be imported in the target interpreter: {missing}") from missing
    # A net under poison.py: memory that is allocated where its hook does not see it is at least not a lucky zero. Not
    # through torch.use_deterministic_algorithms: that imports torch's compiler, which takes longer than all the rest.
    torch._C._set_deterministic_algorithms(True, warn_only=True)  # noqa: FBT003
    torch.utils.deterministic.fill_uninitialized_memory = True
    torch.set_num_threads(1)  # the tensors are small, the sums are the same each time, and arms may run side by side
    from backproof_target import emulator, kit_operators, stand_ins
    from backproof_target.tensor_mode import DeviceMode

    try:
        kit = kit_operators.load(emulation)
    except Exception as error:
        raise NotReady("operators", result.bounded(traceback.format_exc(), result.DETAIL)) from error
    _guard(log, reach)
    stand_ins.install(kit.modules, kit.skeletons, request.files)
    answer["model"] = kit.record()
    answer["limits"] = [*emulator.LIMITS, *kit.limits]

    @contextmanager
    def opened() -> Iterator[Any]:
        device = emulator.Emulator(model=kit.model, options=kit.options)
        with emulator.present(device), DeviceMode():
            yield device

    return opened


def _guard(log: LaunchLog, reach: Reach) -> None:
    """A target without Triton has no kernels to guard."""
    try:
        import triton  # noqa: F401
    except ImportError:
        return
    from backproof_target.triton_guard import KernelGuard

    KernelGuard(log, reach).install()


def _ascend(answer: dict[str, Any], log: LaunchLog) -> Callable[[], AbstractContextManager[Any]]:
    try:
        from backproof_target import ascend
    except ImportError as missing:
        raise NotReady("no-device", f"torch_npu cannot be imported: {missing}") from missing
    if not ascend.present():
        raise NotReady("no-device", "torch_npu sees no device")
    ascend.watch_launches(log)
    answer["limits"] = list(ascend.LIMITS)
    return ascend.opened


def _pytest(request: Request, answer: dict[str, Any], opened: Callable[[], AbstractContextManager[Any]]) -> None:
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

    plugin = CheckPlugin(opened, case_limit=request.case_limit)
    try:
        code = pytest.main(_arguments(request), plugins=[plugin])
    finally:
        answer["tests"] = plugin.records()
    answer["pytest_exit"] = int(code)
    answer["error"] = _error(int(code), plugin.broken, plugin.crash)


def _arguments(request: Request) -> list[str]:
    """Nothing of the current folder, of the check's folder or of the user's settings has a say."""
    request.work.mkdir(parents=True, exist_ok=True)
    settings = request.work / "empty.ini"
    settings.write_text("[pytest]\n", encoding="utf-8")
    selected = ["-k", request.check.select] if request.check.select else []
    return [
        str(request.check.file),
        *selected,
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


def _error(code: int, broken: list[str], crash: str) -> dict[str, str] | None:
    """Failing tests are a finding, not an error; a file that could not be collected, or nothing to run, is one."""
    if crash:
        return {"what": "crashed", "trace": crash}
    if broken:
        return {"what": "collection", "trace": result.bounded("\n".join(broken), result.DETAIL)}
    if code == _NOTHING_RAN:
        return {"what": "nothing-ran", "trace": "pytest found no test to run"}
    if code not in (0, 1):
        return {"what": "pytest", "trace": f"pytest ended with exit code {code}"}
    return None
