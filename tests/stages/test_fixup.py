"""Fix-ups: placed once, refused without their anchor, said when already there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from backproof.adapters.git import Store
from backproof.core.errors import NeedsReview, PlanError
from backproof.core.model import Outcome
from backproof.devices import DEVICES
from backproof.kit import insertion as anchored
from backproof.kit.loader import load_plan
from backproof.records.proof import FixupRecord
from backproof.stages import fixup, pick
from hypothesis import given
from hypothesis import strategies as st

from tests.stages.test_pick import context, fix_on_main

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.rundir.context import Context
    from repositories import Repository

SOURCE = "def f(n):\n    # a comment\n    a = g(n + 1,\n          'k')  # why\n    return a\n"
INSERTION = 'schema = 1\nfile = "pkg/f.py"\nscope = "f"\nafter = "a = g(n + 1, \\"k\\")"\ninsert = "a[-1].zero_()"\n'
PATCH = "--- a/pkg/f.py\n+++ b/pkg/f.py\n@@ -4,2 +4,3 @@\n           'k')  # why\n+    a[-1].zero_()\n     return a\n"
FIXUP = '[[fixup]]\nid = "zero"\nfile = "{file}"\nreason = "the row is never written"\n'


def landed(tmp_path: Path, repository: Repository, fix: str, files: dict[str, str]) -> tuple[Context, FixupRecord]:
    ctx = context(tmp_path, repository, [fix])
    for name, text in files.items():
        (ctx.kit / name).write_text(text)
    path = ctx.kit / "plan.toml"
    path.write_text(path.read_text() + "".join(FIXUP.format(file=name) for name in files))
    ctx = replace(ctx, loaded_plan=load_plan(ctx.kit, DEVICES))
    assert pick.run(ctx).outcome is Outcome.PASS
    result = fixup.run(ctx)
    assert result.outcome is Outcome.PASS
    assert result.evidence
    record = ctx.ledger.read_record("fixup/fixup.json", FixupRecord)
    assert record is not None
    return ctx, record


@pytest.mark.parametrize(("name", "text"), [("zero.toml", INSERTION), ("zero.patch", PATCH)])
def test_a_fixup_is_a_commit_of_its_own_with_its_reason(
    tmp_path: Path, upstream: Repository, name: str, text: str
) -> None:
    fix = fix_on_main(upstream, {"pkg/f.py": SOURCE})
    ctx, record = landed(tmp_path, upstream, fix, {name: text})
    assert [fixup.outcome for fixup in record.fixups] == ["applied"]
    store = Store(ctx.ledger.store)
    commit = store.objects.read_commit(record.head)
    assert "the row is never written" in commit.message
    assert store.list_changes(commit.parents[0], commit.sha)[0].path == "pkg/f.py"
    after = next(change.after for change in record.changes if change.path == "pkg/f.py")
    assert after is not None
    assert store.objects.read_object(after, "blob").decode() == SOURCE.replace("# why\n", "# why\n    a[-1].zero_()\n")


@pytest.mark.parametrize(("name", "text"), [("zero.toml", INSERTION), ("zero.patch", PATCH)])
def test_a_fixup_that_is_there_is_said_and_not_repeated(
    tmp_path: Path, upstream: Repository, name: str, text: str
) -> None:
    fix = fix_on_main(upstream, {"pkg/f.py": SOURCE.replace("# why\n", "# why\n    a[-1].zero_()\n")})
    _, record = landed(tmp_path, upstream, fix, {name: text})
    assert [(fixup.outcome, fixup.landed) for fixup in record.fixups] == [("already-there", None)]


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(SOURCE.replace("n + 1", "n"), id="missing"),
        pytest.param(SOURCE.replace("    return", "    a = g(n + 1, 'k')\n    return"), id="twice"),
        pytest.param(SOURCE.replace("def f(", "def h("), id="other-scope"),
        pytest.param("def f(:\n", id="not-python"),
    ],
)
def test_a_fixup_without_its_one_anchor_is_refused(tmp_path: Path, upstream: Repository, source: str) -> None:
    fix = fix_on_main(upstream, {"pkg/f.py": source})
    with pytest.raises(NeedsReview, match="cannot be placed"):
        landed(tmp_path, upstream, fix, {"zero.toml": INSERTION})


def test_a_patch_that_does_not_apply_is_refused(tmp_path: Path, upstream: Repository) -> None:
    fix = fix_on_main(upstream, {"pkg/f.py": SOURCE.replace("'k'", "'m'")})
    with pytest.raises(NeedsReview, match="does not apply"):
        landed(tmp_path, upstream, fix, {"zero.patch": PATCH})


def test_a_fixup_cannot_leave_the_worktree(tmp_path: Path, upstream: Repository) -> None:
    fix = fix_on_main(upstream, {"pkg/f.py": SOURCE})
    victim = tmp_path / "victim.py"
    victim.write_text(SOURCE)
    outside = INSERTION.replace("pkg/f.py", str(victim))
    with pytest.raises(NeedsReview):
        landed(tmp_path, upstream, fix, {"zero.toml": outside})
    assert victim.read_text() == SOURCE


@pytest.mark.parametrize("text", ["schema = 1", "schema = 1\nbroken", INSERTION.replace("a = g", "a = g(\\n")])
def test_an_invalid_fixup_names_its_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.toml").write_text(text)
    with pytest.raises(PlanError, match=r"bad\.toml"):
        anchored.load_insertion(tmp_path / "bad.toml")


@given(
    before=st.lists(st.sampled_from(["x = 1", "y = 2  # z", "if a:\n        b = 1", "pass"]), max_size=4),
    after=st.lists(st.sampled_from(["q = 1", "for i in j:\n        k()", "return 3"]), max_size=3),
    newline=st.sampled_from(["\n", "\r\n"]),
)
def test_every_other_byte_stays(before: list[str], after: list[str], newline: str) -> None:
    insertion = anchored.Insertion(schema=1, file="f.py", scope="f", after="anchor(1)", insert="new()")
    lines = ["def f():", *(f"    {sha}" for sha in [*before, "anchor( 1 )  # here", *after])]
    source = newline.join([*"\n".join(lines).split("\n"), ""]).encode()
    anchor = f"    anchor( 1 )  # here{newline}".encode()
    assert anchored.insert_statement(source, insertion) == source.replace(
        anchor, anchor + f"    new(){newline}".encode()
    )
