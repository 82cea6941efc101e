"""A landed backport against its original: every verdict, and the calls that a clean pick brings in vain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from backproof.core.errors import HostError
from backproof.history.compare import Backport, compare_backport
from backproof.history.fixups import apply_fixups
from backproof.history.path_filter import make_path_filter
from backproof.history.picks import Picker
from backproof.records.picks import PickOutcome

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.history.records import CompareRecord
    from repositories import Opened, Repository

BODY = "".join(f"line {number}\n" for number in range(30))
FIXED = BODY.replace("line 9\n", "nine\n")


def compared(
    repository: Repository,
    opened: Opened,
    backport: str,
    *originals: str,
    adapted: str = "",
    fixups: list[Path] | None = None,
) -> CompareRecord:
    with Picker(opened(repository)) as picker:
        return compare_backport(
            picker,
            Backport.parse(picker, backport, lambda name: repository.git("rev-parse", name)),
            originals,
            drop=make_path_filter(["/notes/"]),
            adapted=make_path_filter([adapted] if adapted else []),
            amend=(lambda tree: apply_fixups(picker.store, tree, fixups)) if fixups else None,
        )


def both(repository: Repository, landed: dict[str, str | bytes | None], message: str = "backport") -> tuple[str, str]:
    """A fix on main and what landed for it on a branch: (backport, original)."""
    repository.commit("base", {"code.py": BODY, "notes/a.md": "a\n"})
    repository.switch("release")
    repository.commit("own", {"own.py": "o = 1\n"})
    backport = repository.commit(message, landed)
    repository.switch("main", "main")
    return backport, repository.commit("fix (#9)", {"code.py": FIXED, "notes/a.md": "b\n"})


def test_the_same_tree_is_identical(upstream: Repository, opened: Opened) -> None:
    backport, fix = both(upstream, {"code.py": FIXED})
    upstream.git("checkout", "--quiet", "main")
    code_only = upstream.commit("code only (#10)", {"code.py": FIXED + "tail\n"})
    upstream.git("checkout", "--quiet", "release")
    landed = upstream.commit("tail", {"code.py": FIXED + "tail\n"})
    record = compared(upstream, opened, landed, code_only)
    assert (record.verdict, record.range_diff) == ("identical", "")
    assert compared(upstream, opened, backport, fix).verdict == "identical-after-declared"


def test_an_undeclared_difference_is_a_mismatch(upstream: Repository, opened: Opened) -> None:
    backport, fix = both(upstream, {"code.py": FIXED, "own.py": "o = 2\n"})
    record = compared(upstream, opened, backport, fix)
    assert (record.verdict, record.undeclared) == ("mismatch", ("own.py",))
    assert "own.py" in record.sentence
    assert "o = 2" in record.range_diff


def test_a_part_that_was_left_out_is_a_mismatch(upstream: Repository, opened: Opened) -> None:
    backport, fix = both(upstream, {"own.py": "o = 2\n"})
    assert compared(upstream, opened, backport, fix).undeclared == ("code.py", "own.py")


@pytest.mark.parametrize("by", ["option", "trailer"])
def test_a_declared_difference_is_adapted(upstream: Repository, opened: Opened, by: str) -> None:
    message = "backport\n\nAdapted: own.py the release calls it otherwise\n" if by == "trailer" else "backport"
    backport, fix = both(upstream, {"code.py": FIXED, "own.py": "o = 2\n"}, message)
    record = compared(upstream, opened, backport, fix, adapted="own.py" if by == "option" else "")
    assert (record.verdict, record.declared) == ("adapted", ("own.py",))


def test_a_resolved_conflict_must_be_declared(upstream: Repository, opened: Opened) -> None:
    upstream.commit("base", {"code.py": BODY})
    upstream.switch("release")
    upstream.commit("own", {"code.py": BODY.replace("line 9\n", "ours\n")})
    backport = upstream.commit("backport", {"code.py": BODY.replace("line 9\n", "both\n")})
    upstream.switch("main", "main")
    fix = upstream.commit("fix (#9)", {"code.py": FIXED})
    record = compared(upstream, opened, backport, fix)
    assert (record.verdict, record.simulated) == ("mismatch", PickOutcome.CONFLICT)
    assert "the pick conflicts there: code.py" in record.sentence
    assert compared(upstream, opened, backport, fix, adapted="/code.py").verdict == "adapted"


def test_declared_fixups_of_both_kinds_count(tmp_path: Path, upstream: Repository, opened: Opened) -> None:
    landed = "def f():\n    x = 1\n    y = 2\n"
    upstream.commit("base", {"code.py": "def f():\n    pass\n"})
    upstream.switch("release")
    base = upstream.git("rev-parse", "HEAD")
    upstream.commit("pick", {"code.py": "def f():\n    x = 1\n"})
    upstream.commit("fix-up", {"code.py": landed})
    upstream.switch("main", "main")
    fix = upstream.commit("fix (#9)", {"code.py": "def f():\n    x = 1\n"})
    toml = tmp_path / "add.toml"
    toml.write_text('schema = 1\nfile = "code.py"\nscope = "f"\nafter = "x = 1"\ninsert = "y = 2"\n')
    patch = tmp_path / "add.patch"
    patch.write_text(upstream.git("diff", "release~1", "release") + "\n")
    span = f"{base}..{upstream.git('rev-parse', 'release')}"
    assert compared(upstream, opened, span, fix).verdict == "mismatch"
    for fixup in (toml, patch):
        assert compared(upstream, opened, span, fix, fixups=[fixup]).verdict == "identical-after-declared"


def test_several_originals_are_picked_in_order(upstream: Repository, opened: Opened) -> None:
    upstream.commit("base", {"code.py": BODY})
    upstream.switch("release")
    backport = upstream.commit("both", {"code.py": FIXED.replace("nine", "NINE")})
    upstream.switch("main", "main")
    one = upstream.commit("one (#1)", {"code.py": FIXED})
    two = upstream.commit("two (#2)", {"code.py": FIXED.replace("nine", "NINE")})
    assert compared(upstream, opened, backport, one, two).verdict == "identical"


def test_what_is_not_there_is_said(upstream: Repository, opened: Opened) -> None:
    root = upstream.git("rev-list", "--max-parents=0", "HEAD")
    with pytest.raises(HostError, match="commit before it"):
        compared(upstream, opened, root, root)


LIBRARY = (
    "class Worker:\n    def step(self, size, *, mode='a'):\n        return size\n\n\ndef helper(a, b):\n    return a\n"
)
CALLER = "import lib\nfrom lib import Worker, helper\n\ndef run():\n    return 0\n"


@pytest.mark.parametrize(
    ("call", "main_library", "word"),
    [
        (
            "helper(1, 2, 3)",
            LIBRARY.replace("helper(a, b)", "helper(a, b, c)"),
            "Expected 2 positional arguments, got 3",
        ),
        ("helper(1)", LIBRARY.replace("helper(a, b)", "helper(a)"), "Missing argument `b`"),
        (
            "Worker().step(1, fast=True)",
            LIBRARY.replace("mode='a'", "mode='a', fast=False"),
            "Unexpected keyword argument `fast`",
        ),
        ("lib.newer(1)", LIBRARY + "\n\ndef newer(a):\n    return a\n", "No attribute `newer` in module `lib`"),
        ("helper(1, 2)", LIBRARY, ""),
        ("helper(*range(3))", LIBRARY.replace("helper(a, b)", "helper(a, b, c)"), ""),
        ("len([1])", LIBRARY + "\n\ndef len(a):\n    return a\n", ""),
        ("helper(1, 2, 3, 4)", LIBRARY, ""),
    ],
)
def test_a_clean_pick_with_a_call_that_the_release_does_not_take(
    upstream: Repository, opened: Opened, call: str, main_library: str, word: str
) -> None:
    upstream.commit("base", {"lib.py": LIBRARY, "caller.py": CALLER})
    upstream.switch("release")
    landed = upstream.commit("backport", {"caller.py": CALLER.replace("return 0", f"return {call}")})
    upstream.switch("main", "main")
    upstream.commit("library (#1)", {"lib.py": main_library})
    fix = upstream.commit("fix (#2)", {"caller.py": CALLER.replace("return 0", f"return {call}")})
    record = compared(upstream, opened, landed, fix)
    assert record.verdict == "identical"
    if word:
        assert len(record.suspects) == 1
        assert word in record.suspects[0]
        assert record.suspects[0].startswith("caller.py:5: ")
    else:
        assert record.suspects == ()


def test_a_method_of_self_is_looked_up_in_its_own_class(upstream: Repository, opened: Opened) -> None:
    def module(parameters: str, call: str = "pass") -> str:
        return (
            f"class Other:\n    def step(self, a):\n        pass\n\n\n"
            f"class Worker:\n    def step(self, {parameters}):\n        pass\n\n"
            f"    def spare(self):\n        pass\n\n    def run(self):\n        {call}\n"
        )

    upstream.commit("base", {"w.py": module("a, b")})
    upstream.switch("release")
    landed = upstream.commit("backport", {"w.py": module("a, b", "self.step(1)")})
    upstream.switch("main", "main")
    upstream.commit("fewer (#1)", {"w.py": module("a")})
    fix = upstream.commit("fix (#2)", {"w.py": module("a", "self.step(1)")})
    record = compared(upstream, opened, landed, fix)
    assert record.suspects == ("w.py:14: Missing argument `b` in function `Worker.step`; main has it",)


def test_without_the_checker_it_says_so(
    upstream: Repository, opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    backport, fix = both(upstream, {"code.py": FIXED, "notes/a.md": "a\n"})
    record = compared(upstream, opened, backport, fix)
    assert record.suspects == ()
    assert "install backproof[names]" in record.limits[0]


def test_the_settings_of_the_target_and_its_links_do_not_steer_the_check(upstream: Repository, opened: Opened) -> None:
    settings = "[tool.pyrefly]\nproject-excludes = ['**/*']\n[tool.pyrefly.errors]\nmissing-argument = false\n"
    upstream.commit("base", {"lib.py": LIBRARY, "caller.py": CALLER, "pyproject.toml": settings})
    (upstream.folder / "linked.py").symlink_to("/dev/zero")
    upstream.git("add", "--all")
    upstream.git("commit", "--quiet", "--message", "link")
    upstream.switch("release")
    landed = upstream.commit("backport", {"caller.py": CALLER.replace("return 0", "import linked; return helper(1)")})
    upstream.switch("main", "main")
    upstream.commit("library (#1)", {"lib.py": LIBRARY.replace("helper(a, b)", "helper(a)")})
    fix = upstream.commit("fix (#2)", {"caller.py": CALLER.replace("return 0", "import linked; return helper(1)")})
    assert [text.split(": ")[1] for text in compared(upstream, opened, landed, fix).suspects] == [
        "Missing argument `b` in function `lib.helper`; main has it"
    ]
