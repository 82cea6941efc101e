"""Which paths are the product and which go along with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathspec import GitIgnoreSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SECONDARY = (
    "/docs/",
    "/doc/",
    "/tests/",
    "/test/",
    "/.github/",
    "/release_notes/",
    "/examples/",
    "/benchmarks/",
    "mkdocs.yml",
    "*.md",
    "*.rst",
    "test_*.py",
    "*_test.py",
)
"""Documentation, tests and CI: 117 of 221 real conflicts of vllm-ascend lie only there."""


def make_path_filter(globs: Sequence[str]) -> Callable[[str], bool]:
    """A test for paths in gitignore's grammar."""
    spec = GitIgnoreSpec.from_lines(globs)

    def drops(path: str) -> bool:
        # pathspec's re2 backend cannot take a name that is not UTF-8; no glob can name its odd bytes anyway.
        return bool(spec.match_file(path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")))

    return drops


is_secondary = make_path_filter(SECONDARY)
