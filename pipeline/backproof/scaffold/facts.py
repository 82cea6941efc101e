"""The facts of a backport that a kit is made from, wherever they were read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.history.path_filter import make_path_filter

if TYPE_CHECKING:
    from backproof.records.proof import OtherCommit
    from backproof.scaffold.release import Release

# Where projects keep notes of a release: scriv, towncrier, reno, changie, and plain files.
NOTES = (
    "/release_notes/",
    "/releasenotes/",
    "/changelog.d/",
    "/changelogs/",
    "/newsfragments/",
    "/.changes/",
    "/changes/",
    "/CHANGELOG*",
    "/CHANGES*",
    "/NEWS*",
    "/HISTORY*",
)
_is_test = make_path_filter(("tests/", "test/", "test_*.py", "*_test.py"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """A backport as far as it can be read.

    `touched` has what each commit touches, `files` what is left of it in the whole; `branch` is empty where only
    a person can choose one, out of `branches`. `remote` is the one whose address gave `repo`, if one did.
    """

    source: str
    repo: str
    title: str
    pull: int | None
    original: int | None
    mainline: int | None = None
    wanted: tuple[str, ...]
    not_wanted: tuple[OtherCommit, ...] = ()
    touched: tuple[str, ...]
    files: tuple[str, ...]
    branch: str
    branches: tuple[str, ...] = ()
    release: Release
    remote: str = ""

    @property
    def name(self) -> str:
        """The name that files and checks carry: the number of the pull request, or of the original."""
        return str(self.pull or self.original or self.wanted[0][:12])

    @property
    def check(self) -> str:
        """The id of its check."""
        return f"pull-{self.name}" if self.pull or self.original else f"commit-{self.name}"

    @property
    def check_file(self) -> str:
        return f"checks/test_{self.name}.py"

    @property
    def drops(self) -> tuple[str, ...]:
        """The conventions of release notes that the commits touch."""
        paths = {*self.touched, *self.files}
        return tuple(note for note in NOTES if any(map(make_path_filter((note,)), paths)))

    @property
    def tests(self) -> tuple[str, ...]:
        return tuple(path for path in self.files if _is_test(path))

    @property
    def modules(self) -> tuple[str, ...]:
        return tuple(path for path in self.files if path.endswith(".py") and not _is_test(path))
