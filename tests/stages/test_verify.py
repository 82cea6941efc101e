"""The verify stage in real environments: every way in which other code than the patch would run is named."""

from __future__ import annotations

import os
import py_compile
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from backproof.core.errors import PlanError, TargetError
from backproof.core.model import Outcome
from backproof.install import overlay
from backproof.kit.plan import Service
from backproof.records.proof import Claim, VerifyRecord
from backproof.stages import install as installing
from backproof.stages import verify as stage
from installed_kit import NEW, Prepared, prepare
from target_env import CONV, FILES, FIXED, install

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from repositories import Repository


@pytest.fixture
def prepared(tmp_path: Path, upstream: Repository) -> Iterator[Prepared]:
    """The patch is in the target until the test ends."""
    made = prepare(tmp_path, upstream)
    held = replace(made.ctx, hold=True)
    installing.run(held)
    held.effects.close()
    yield made
    overlay.undo_overlay(made.target.site, force=True)


def _verify(prepared: Prepared, **service: object) -> dict[str, Claim]:
    plan = prepared.ctx.plan
    asked = Service.model_validate({"cwd": str(prepared.target.folder), **service})
    changed = plan.model_copy(update={"verify": plan.verify.model_copy(update={"service": asked})})
    ctx = replace(prepared.ctx, loaded_plan=changed)
    result = stage.run(ctx)
    record = ctx.ledger.read_record("verify/verify.json", VerifyRecord)
    assert record is not None
    assert result.evidence
    assert all(ctx.ledger.holds(each) for each in result.evidence)
    claims = {each.name: each for each in record.claims}
    assert (result.outcome is Outcome.PASS) == all(
        each.outcome in (Outcome.PASS, Outcome.SKIP) for each in record.claims
    )
    return {str(name): each for name, each in claims.items()}


def _texts(claim: Claim, severity: str) -> str:
    return "\n".join(f"{each.where}: {each.text}" for each in claim.findings if each.severity == severity)


def _copy_of_the_release(folder: Path, content: bytes = FILES[CONV]) -> Path:
    for name, data in {**FILES, CONV: content}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def test_the_patch_is_loaded_and_complete(prepared: Prepared) -> None:
    claims = _verify(prepared)
    assert [each.outcome for each in claims.values()] == [Outcome.PASS, Outcome.PASS, Outcome.SKIP]
    assert claims["loaded"].sentence == "all 2 modules of the patch would be loaded from the patched files"
    assert claims["complete"].sentence == "all 2 files of the patch are installed, each equal to its git blob"


def test_after_the_overlay_was_taken_out_nothing_is_claimed(prepared: Prepared) -> None:
    overlay.undo_overlay(prepared.target.site)
    with pytest.raises(PlanError, match="the patch is not in the target") as caught:
        _verify(prepared)
    assert "--only install" in caught.value.next_step


def test_all_files_reverted_by_hand_fail_both_claims_and_are_named(prepared: Prepared) -> None:
    prepared.target.write(CONV, FILES[CONV])
    (prepared.target.site / NEW).unlink()
    claims = _verify(prepared)
    assert claims["loaded"].outcome is claims["complete"].outcome is Outcome.FAIL
    assert "still the release's own file" in _texts(claims["complete"], "fail")
    assert f"src/{NEW}" in _texts(claims["complete"], "fail")
    assert "demo.ops.rows would not be found" in _texts(claims["loaded"], "fail")


def test_one_file_reverted_by_hand_is_named(prepared: Prepared) -> None:
    prepared.target.write(CONV, FILES[CONV])
    claims = _verify(prepared)
    assert claims["complete"].outcome is Outcome.FAIL
    assert claims["complete"].sentence == f"1 of 2 files lacks the patch: src/{CONV}"
    assert "is not the patched file" in _texts(claims["loaded"], "fail")


def test_one_line_reverted_by_hand_is_named(prepared: Prepared) -> None:
    prepared.target.write(CONV, FIXED.replace(b"42", b"43"))
    claims = _verify(prepared)
    assert "neither the release's nor the patch's" in _texts(claims["complete"], "fail")


def test_a_shadow_copy_on_pythonpath_is_named(prepared: Prepared, tmp_path: Path) -> None:
    shadow = _copy_of_the_release(tmp_path / "shadow")
    claims = _verify(prepared, env={"PYTHONPATH": str(shadow)})
    assert claims["loaded"].outcome is Outcome.FAIL
    assert f"{shadow / CONV} (from PYTHONPATH" in claims["loaded"].sentence
    assert "shadows the patched file" in claims["loaded"].sentence
    assert claims["complete"].outcome is Outcome.PASS


def test_the_callers_pythonpath_counts(prepared: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(_copy_of_the_release(tmp_path / "shadow")))
    assert "from PYTHONPATH" in _verify(prepared)["loaded"].sentence


def test_one_lone_file_first_on_pythonpath_is_named(prepared: Prepared, tmp_path: Path) -> None:
    lone = tmp_path / "shadow" / CONV
    lone.parent.mkdir(parents=True)
    lone.write_bytes(FILES[CONV])
    claims = _verify(prepared, env={"PYTHONPATH": str(tmp_path / "shadow")})
    assert claims["loaded"].outcome is Outcome.FAIL
    assert f"{lone} (from PYTHONPATH" in claims["loaded"].sentence
    assert "stands before" in claims["loaded"].sentence


def test_the_same_code_first_on_pythonpath_is_a_warning(prepared: Prepared, tmp_path: Path) -> None:
    lone = tmp_path / "shadow" / CONV
    lone.parent.mkdir(parents=True)
    lone.write_bytes(FIXED)
    claims = _verify(prepared, env={"PYTHONPATH": str(tmp_path / "shadow")})
    assert claims["loaded"].outcome is Outcome.PASS
    assert f"{lone} (from PYTHONPATH" in _texts(claims["loaded"], "warning")


def test_a_copy_behind_is_a_note(prepared: Prepared, tmp_path: Path) -> None:
    behind = _copy_of_the_release(tmp_path / "behind")
    prepared.target.write("behind.pth", f"{behind}\n".encode())
    claims = _verify(prepared)
    assert claims["loaded"].outcome is Outcome.PASS
    assert f"{behind / CONV} (by a line of {prepared.target.site / 'behind.pth'})" in _texts(claims["loaded"], "note")


def test_the_current_folder_of_a_module_launch_is_named(prepared: Prepared, tmp_path: Path) -> None:
    checkout = _copy_of_the_release(tmp_path / "checkout")
    claims = _verify(prepared, launch="module", cwd=str(checkout))
    assert f"{checkout / CONV} (current folder)" in claims["loaded"].sentence
    assert _verify(prepared, launch="script", cwd=str(checkout))["loaded"].outcome is Outcome.PASS


def test_a_pth_line_that_wins_is_named(prepared: Prepared, tmp_path: Path) -> None:
    checkout = _copy_of_the_release(tmp_path / "checkout")
    pth = prepared.target.write("early.pth", f"import sys; sys.path.insert(0, {str(checkout)!r})\n".encode())
    claims = _verify(prepared)
    assert claims["loaded"].outcome is Outcome.FAIL
    assert str(checkout / CONV) in claims["loaded"].sentence
    pth.unlink()
    prepared.target.write("plain.pth", f"{checkout}\n".encode())
    (prepared.target.site / "demo").rename(prepared.target.site / "demo_moved")
    claims = _verify(prepared)
    (prepared.target.site / "demo_moved").rename(prepared.target.site / "demo")
    assert f"(by a line of {prepared.target.site / 'plain.pth'})" in claims["loaded"].sentence


FINDER = b"""
import sys
from importlib.util import spec_from_file_location
class _EditableFinder:
    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        if fullname == "demo":
            return spec_from_file_location(fullname, FOLDER + "/demo/__init__.py")
"""


def test_an_editable_finder_that_wins_is_named(prepared: Prepared, tmp_path: Path) -> None:
    checkout = _copy_of_the_release(tmp_path / "checkout")
    code = FINDER + f"FOLDER = {str(checkout)!r}\nsys.meta_path.insert(0, _EditableFinder)\n".encode()
    prepared.target.write("__editable___demo_1_0_finder.py", code)
    pth = prepared.target.write("__editable__.demo-1.0.pth", b"import __editable___demo_1_0_finder\n")
    claims = _verify(prepared)
    assert claims["loaded"].outcome is Outcome.FAIL
    assert f"{checkout / CONV} (by the finder __editable___demo_1_0_finder._EditableFinder" in claims["loaded"].sentence
    assert str(pth) in claims["loaded"].sentence


def test_a_stale_compiled_file_is_named(prepared: Prepared) -> None:
    path = prepared.target.site / CONV
    path.write_bytes(FILES[CONV])
    py_compile.compile(str(path), doraise=True)
    old = path.stat()
    path.write_bytes(FIXED)
    os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))
    claims = _verify(prepared)
    assert claims["loaded"].outcome is Outcome.FAIL
    assert "conv.cpython" in claims["loaded"].sentence
    assert "it is other code" in claims["loaded"].sentence
    assert claims["complete"].outcome is Outcome.PASS


def test_an_unchecked_compiled_file_is_named(prepared: Prepared) -> None:
    path = prepared.target.site / CONV
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    path.write_bytes(FILES[CONV])
    py_compile.compile(str(path), doraise=True, invalidation_mode=unchecked)
    path.write_bytes(FIXED)
    claims = _verify(prepared)
    assert claims["loaded"].outcome is Outcome.FAIL
    assert "unchecked-hash" in claims["loaded"].sentence
    py_compile.compile(str(path), doraise=True, invalidation_mode=unchecked)
    claims = _verify(prepared)
    assert claims["loaded"].outcome is Outcome.PASS
    assert "never compared" in _texts(claims["loaded"], "note")


def test_two_distributions_are_a_warning(prepared: Prepared) -> None:
    install(prepared.target, name="Demo", version="0.9", files={})
    claims = _verify(prepared)
    assert claims["loaded"].outcome is Outcome.PASS
    assert "2 installations of the distribution" in _texts(claims["loaded"], "warning")


def test_a_banner_or_a_crash_on_import_does_not_matter(prepared: Prepared) -> None:
    prepared.target.write("demo/__init__.py", b"print('x' * 10000)\nraise RuntimeError('no device')\n")
    assert _verify(prepared)["loaded"].outcome is Outcome.PASS


def test_an_interpreter_that_crashes_is_an_error(prepared: Prepared) -> None:
    prepared.target.write("breaks.pth", b"import os; os._exit(9)\n")
    with pytest.raises(TargetError, match="code 9"):
        _verify(prepared)


def test_a_process_that_is_older_than_the_patch_is_told(tmp_path: Path, upstream: Repository) -> None:
    made = prepare(tmp_path, upstream)
    command = [str(made.target.python), "-c", "import time; time.sleep(60)  # --api-token ghp_" + "a" * 30]
    with subprocess.Popen(command) as old:
        try:
            subprocess.run(["sleep", "0.1"], check=True)
            installing.run(made.ctx)
            warnings = _texts(_verify(made)["loaded"], "warning")
            assert f"process {old.pid} started" in warnings
            assert "ghp_" not in warnings
        finally:
            old.kill()
    assert "process" not in _texts(_verify(made)["loaded"], "warning")
    made.ctx.effects.close()


def test_a_process_that_is_younger_is_not_told(prepared: Prepared) -> None:
    with subprocess.Popen([str(prepared.target.python), "-c", "import time; time.sleep(60)"]) as young:
        try:
            assert "process" not in _texts(_verify(prepared)["loaded"], "warning")
        finally:
            young.kill()


def test_a_library_that_was_not_built_again_leaves_the_patch_unproved(prepared: Prepared) -> None:
    library = prepared.target.write("demo/_C.so", b"")
    os.utime(library, (1_700_000_000, 1_700_000_000))
    claim = _verify(prepared)["complete"]
    assert claim.outcome is Outcome.INCONCLUSIVE
    assert claim.sentence.startswith(f"not proved: {library} is older than the change of csrc/conv.cpp")
    assert f"csrc/conv.cpp: {library} is older than the change of csrc/conv.cpp" in _texts(claim, "warning")
    os.utime(library)
    assert _verify(prepared)["complete"].outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("source", "counts"),
    [
        ("src/demo/_parser.pyx", True),
        ("src/demo/_parser.pxd", True),
        ("src/demo/native.rs", True),
        ("src/demo/kernel.cu", True),
        ("csrc/notes.txt", True),
        ("tests/native/helper.c", False),
        ("docs/example.c", False),
        ("src/demo/words.txt", False),
    ],
)
def test_what_only_a_build_turns_into_code(tmp_path: Path, upstream: Repository, source: str, counts: bool) -> None:
    made = prepare(tmp_path, upstream, change={f"src/{CONV}": FIXED, source: "changed\n"})
    library = made.target.write("demo/_parser.cpython-311.so", b"built before")
    os.utime(library, (1_700_000_000, 1_700_000_000))
    installing.run(made.ctx)
    outcome = _verify(made)["complete"].outcome
    made.ctx.effects.close()
    assert outcome is (Outcome.INCONCLUSIVE if counts else Outcome.PASS)


def test_a_module_beyond_the_patch_is_checked_too(prepared: Prepared) -> None:
    plan = prepared.ctx.plan
    verify = plan.verify.model_copy(update={"modules": ("demo.ops.other", "demo.ops")})
    asked = replace(prepared, ctx=replace(prepared.ctx, loaded_plan=plan.model_copy(update={"verify": verify})))
    assert _verify(asked)["loaded"].sentence.startswith("all 4 modules")
    prepared.target.write("demo/ops/other.py", b"changed = 1\n")
    assert "other.py (site-packages) is not the patched file" in _verify(asked)["loaded"].sentence
    wrong = plan.verify.model_copy(update={"modules": ("demo.nothing",)})
    with pytest.raises(PlanError, match=r"demo\.nothing is no module"):
        stage.run(replace(prepared.ctx, loaded_plan=plan.model_copy(update={"verify": wrong})))


def test_a_deleted_module_must_be_gone(tmp_path: Path, upstream: Repository) -> None:
    made = prepare(tmp_path, upstream, change={"src/demo/ops/other.py": None})
    installing.run(made.ctx)
    claims = _verify(made)
    assert claims["loaded"].outcome is claims["complete"].outcome is Outcome.PASS
    made.target.write("demo/ops/other.py", b"back = 1\n")
    claims = _verify(made)
    assert "the patch deletes demo.ops.other" in claims["loaded"].sentence
    assert claims["complete"].outcome is Outcome.FAIL
    (made.target.site / "demo/ops/other.py").unlink()
    made.ctx.effects.close()


def test_reach_is_not_tried_where_the_patch_is_not(tmp_path: Path, upstream: Repository) -> None:
    made = prepare(tmp_path, upstream, verify='reach = ["works"]')
    installing.run(made.ctx)
    made.target.write(CONV, FILES[CONV])
    assert _verify(made)["reached"].outcome is Outcome.ABORTED
    made.ctx.effects.close()


def test_a_check_that_cannot_run_is_an_error(tmp_path: Path, upstream: Repository) -> None:
    made = prepare(tmp_path, upstream, verify='reach = ["works"]')
    installing.run(made.ctx)
    reached = _verify(made)["reached"]  # this environment has nothing that the device needs
    assert reached.outcome is Outcome.ERROR
    assert "check works" in reached.sentence
    assert reached.evidence
    made.ctx.effects.close()
