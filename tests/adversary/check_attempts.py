"""Rows 3, 4, 5, 6, 9 and 12: checks that show less than their plan says."""

from __future__ import annotations

from textwrap import indent
from typing import TYPE_CHECKING

from scene import Attempt, Said, Scene

if TYPE_CHECKING:
    from collections.abc import Callable

HEAD = """
import os, pathlib, shutil, socket, sys
import pytest
from demo.ops import conv

GOOD = conv.answer() == 42
COUNT = pathlib.Path("@FOLDER@/counter.txt")


def count():
    number = int(COUNT.read_text()) + 1 if COUNT.exists() else 1
    COUNT.write_text(str(number))
    return number


def test_other(device):
    assert True

"""
BROKEN = (3, 4)


def _check(body: str, **plan: str) -> Callable[[Scene], Said]:
    """A run whose check is this; another step of it is green on every arm."""
    return lambda scene: scene.write_check(HEAD + body, **plan).run_again()


def _test(*lines: str) -> str:
    return "\ndef test_answers(device):\n" + indent("\n".join(lines), "    ") + "\n"


FAILS = "assert conv.answer() == 42"
UNSHOWN = {
    "skipped with the fix": _test("if GOOD:", "    pytest.skip('later')", FAILS),
    "expected to fail with the fix": _test("if GOOD:", "    pytest.xfail('later')", FAILS),
    "marked as skipped with the fix": "\n@pytest.mark.skipif(GOOD, reason='later')" + _test(FAILS),
    "marked as expected to fail with the fix": (
        "\n@pytest.mark.xfail(GOOD, reason='later')" + _test(FAILS, "assert not GOOD")
    ),
    "not there with the fix": "\nif not GOOD:\n" + indent(_test(FAILS), "    "),
    "not parametrised with the fix": (
        "\n@pytest.mark.parametrize('step', [1] if GOOD else [1, 2])\n"
        "def test_answers(device, step):\n    assert GOOD or step == 1\n"
    ),
    "under another name with the fix": (
        "\n@pytest.mark.parametrize('step', ['new' if GOOD else 'old'])\n"
        "def test_answers(device, step):\n    assert GOOD\n"
    ),
}
ERRORS = {
    "a fixture that is not there": "\ndef test_answers(device, rows):\n    pass\n",
    "no memory in a fixture": (
        "\n@pytest.fixture\ndef rows():\n    raise MemoryError\n\n\ndef test_answers(device, rows):\n    pass\n"
    ),
    "a refused connection": _test("socket.create_connection(('127.0.0.1', 1), timeout=5)"),
    "a module that is not there": _test("import demo.ops.nothing_there"),
    "a file that is not there": _test("open('/nothing/there')"),
    "a name of the check that is not there": _test("nothing_there()"),
    "a tear-down that fails": (
        "\n@pytest.fixture\ndef rows():\n    yield\n    raise ValueError\n\n\ndef test_answers(device, rows):\n    pass\n"
    ),
    "a process that ends": _test("os._exit(1)"),
}
ON_BASE = {name: body.replace("    pass\n", "    assert not GOOD\n") for name, body in ERRORS.items()}


def _only_on_base(body: str) -> str:
    """The same error, where the fix is not."""
    green = "\ndef test_answers(device):\n    assert GOOD\n"
    return f"\nif GOOD:\n{indent(green, '    ')}\nelse:\n{indent(body.lstrip(), '    ')}\n"


REMOVALS = {
    "the environment": "shutil.rmtree(sys.prefix)",
    "the interpreter": "os.unlink(os.path.join(sys.prefix, 'bin', 'python'))",
    "site-packages": "shutil.rmtree(pathlib.Path(conv.__file__).parents[2])",
    "the package": "shutil.rmtree(pathlib.Path(conv.__file__).parents[1])",
    "the patched file": "os.unlink(conv.__file__)",
}
FLAKY = {
    "red every second time": _test("assert GOOD or count() % 2"),
    "red the first time only": _test("assert GOOD or count() > 1"),
    "red the second time only": _test("assert GOOD or count() != 2"),
    "one step of twenty, another each time": (
        "\n@pytest.mark.parametrize('step', range(20))\ndef test_answers(device, step):\n"
        "    number = count()\n    assert GOOD or number % 21 != 7\n"
    ),
    "green with the fix, and then red": _test("assert GOOD", "assert count() == 1"),
    "red with the fix, and then green": _test("assert GOOD", "assert count() > 1"),
    "there every second time": "\nif GOOD or count() % 2:\n" + indent(_test(FAILS), "    "),
}
THIN = {
    "a check that never calls the fix": "\ndef test_answers(device):\n    assert not hasattr(conv, 'STEP') or conv.LIMIT == 42\n",
    "a check that looks at a constant": "\ndef test_answers(device):\n    assert getattr(conv, 'LIMIT', 0) == 42\n",
    "a check that reads the source": (
        "\ndef test_answers(device):\n    assert 'LIMIT' in pathlib.Path(conv.__file__).read_text()\n"
    ),
    "a check that asks for the module's name": "\ndef test_answers(device):\n    assert 'LIMIT' in dir(conv)\n",
    "a check that asks what was loaded": "\ndef test_answers(device):\n    assert 'demo.ops.rows' in sys.modules\n",
}
THIN_HEAD = "import pathlib, sys\nfrom demo.ops import conv\n"


def _thin(body: str) -> Callable[[Scene], Said]:
    """The check tells the arms apart and calls nothing: its plan expects the pick as red as base where only the fix-up is seen."""
    red_pick = "LIMIT" in body
    change = {"pick": 'pick = "fail"'} if red_pick else {}
    return lambda scene: scene.write_check(THIN_HEAD + body, **change).run_again()


ATTEMPTS = (
    *(Attempt(row=3, name=name, act=_check(body), codes=BROKEN) for name, body in UNSHOWN.items()),
    *(
        Attempt(row=4, name=f"on base, {name}", act=_check(_only_on_base(body)), codes=BROKEN)
        for name, body in ERRORS.items()
    ),
    *(Attempt(row=5, name=f"on all arms, {name}", act=_check(body), codes=BROKEN) for name, body in ERRORS.items()),
    *(
        Attempt(row=6, name=f"{name} is removed by the check", act=_check(_test(removal, FAILS)), codes=BROKEN)
        for name, removal in REMOVALS.items()
    ),
    *(Attempt(row=9, name=name, act=_thin(body), codes=BROKEN, words=("not reached",)) for name, body in THIN.items()),
    *(Attempt(row=12, name=name, act=_check(body), codes=BROKEN) for name, body in FLAKY.items()),
)
