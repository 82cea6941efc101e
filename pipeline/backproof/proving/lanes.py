"""Which paths of a fix are tests, which are code, and which are neither: tests are a lane of their own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from backproof.history.path_filter import SECONDARY, make_path_filter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from backproof.kit.recipe import Recipe

_TESTS: Final = (
    "/test/",
    "/tests/",
    "/testing/",
    "/unittests/",
    "/*/tests/",
    "/*/*/tests/",
    "**/tests/",
    "test_*.py",
    "*_test.py",
    "conftest.py",
)
"""`testing/` at the top only: below a package it is code that users import."""
_COMPILED: Final = ("*.pyx", "*.pxd", "*.c", "*.cc", "*.cpp", "*.h", "*.hpp", "*.rs", "*.cu")
_ASIDE: Final = (
    *SECONDARY,
    "/tools/",
    "/changelog/",
    "/CHANGES/",
    "/CHANGES*",
    "/CHANGELOG*",
    "/AUTHORS*",
    "/CONTRIBUTORS*",
)
_HAS_TESTS: Final = re.compile(rb"^\s*(async\s+)?def\s+test|^\s*class\s+\w*Test", re.MULTILINE)
_NO_TESTS: Final = ("conftest.py", "__init__.py")


@dataclass(frozen=True, kw_only=True)
class Lanes:
    """The lanes of one target."""

    recipe: Recipe

    @cached_property
    def is_test(self) -> Callable[[str], bool]:
        """Tells a test or what tests use: conftest, data, helpers."""
        return make_path_filter((*_TESTS, *self.recipe.tests))

    def is_code(self, path: str) -> bool:
        return not self.is_test(path) and not _is_aside(path)

    def list_compiled(self, paths: Iterable[str]) -> list[str]:
        """Return the sources that only a build turns into what runs."""
        return [path for path in paths if self.is_code(path) and _is_compiled(path)]

    def explain_elsewhere(self, path: str) -> str:
        """Return why the tests of a file cannot run here; empty where they can."""
        reasons = (why for glob, why in self.recipe.elsewhere.items() if make_path_filter([glob])(path))
        return next(reasons, "")

    def has_tests(self, path: str, content: bytes) -> bool:
        """Tell whether pytest may find tests in a file that is named to it."""
        return path.endswith(".py") and not path.endswith(_NO_TESTS) and bool(_HAS_TESTS.search(content))


_is_aside = make_path_filter(_ASIDE)
_is_compiled = make_path_filter(_COMPILED)
