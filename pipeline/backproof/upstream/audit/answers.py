"""What a run says of a claim of a pull request: it confirms it, contradicts it, or does not cover it. Pure functions.

A run answers for the tests that it ran by name, and for the device that it was on; what others have counted or measured,
it did not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backproof.core.level import Level
from backproof.core.model import Arm, Outcome
from backproof.core.plural import format_count
from backproof.records.audit import ClaimAnswer

if TYPE_CHECKING:
    from backproof.records.upstream_tests import OwnTest
    from backproof.rundir.loaded_run import LoadedRun

_TEST = re.compile(r"[\w/.-]{1,200}\.py(?:::[\w\[\]-]{1,200}){0,4}|\btest_\w{2,200}")
_WELL = re.compile(
    r"\b(?:pass\w*|verified|validated|tested|succe\w+|healthy|green|correct)\b|通过|验证|成功", re.IGNORECASE
)
_ILL = re.compile(
    r"\b(?:fail\w*|error\w*|broken|not|no|never|without|before)\b|\w+n['’]t\b|失败|未|没有|无法", re.IGNORECASE
)


def answer_claim(sentence: str, kinds: tuple[str, ...], devices: tuple[str, ...], run: LoadedRun) -> ClaimAnswer:
    """Hold one sentence to a run that was judged again."""
    if "not-run" in kinds or _ILL.search(sentence) or not _WELL.search(sentence):
        return _not_covered("it says of no test or device that it was well there")
    if names := _TEST.findall(sentence):
        return _answer_tests(tuple(names), run)
    if devices:
        return _answer_device(devices, run)
    return _not_covered("it names no test that the run ran, and no device")


def _answer_tests(names: tuple[str, ...], run: LoadedRun) -> ClaimAnswer:
    arms = run.upstream_tests.arms if run.upstream_tests else ()
    ran = [test for arm in arms if arm.arm is Arm.FIXED and not arm.strange for test in arm.tests]
    by_name = {name: [test for test in ran if _is_named(name, test)] for name in names}
    red = [test.test for tests in by_name.values() for test in tests if test.red]
    if red:
        return ClaimAnswer(says="contradicts", why=f"red on the backport: {', '.join(red[:5])}")
    if all(tests and all(test.outcome == "passed" for test in tests) for tests in by_name.values()):
        count = len({test.test for tests in by_name.values() for test in tests})
        return ClaimAnswer(says="confirms", why=f"{format_count(count, 'test')} of that name passed on the backport")
    return _not_covered("the run did not run all that it names, or could not")


def _is_named(name: str, test: OwnTest) -> bool:
    """Return whether a text names this test: by its file, its id, or its function."""
    path, _, rest = test.test.partition("::")
    if name.startswith("test_") and not name.endswith(".py") and ".py::" not in name:
        return name in re.split(r"::|\[", rest)
    file, _, wanted = name.partition("::")
    return (path == file or path.endswith(f"/{file}")) and f"{rest}::".startswith(f"{wanted}::" if wanted else "")


def _answer_device(devices: tuple[str, ...], run: LoadedRun) -> ClaimAnswer:
    chips = run.validate.device_facts.get("chips", "") if run.validate else ""
    is_same = bool(chips) and all(_squeeze(device) in _squeeze(chips) for device in devices)
    if not is_same or (run.run.level or 0) < Level.DEVICE:
        return _not_covered("the run was not on what it names, by the names that the chips give themselves")
    if run.run.outcome is Outcome.FAIL:
        return ClaimAnswer(says="contradicts", why="the run on that device ended with FAIL")
    if run.run.outcome is Outcome.PASS:
        return ClaimAnswer(says="confirms", why="the kit's checks passed on that device")
    return _not_covered("the run on that device could not tell")


def _squeeze(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def _not_covered(why: str) -> ClaimAnswer:
    return ClaimAnswer(says="does-not-cover", why=why)
