"""The script of a run is run: it gives the same trees, or says where it does not."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from backproof.core.errors import PlanError
from backproof.history import reproduce
from backproof.records.proof import PickRecord, Settings
from backproof.rundir import loaded_run
from backproof.rundir.ledger import Ledger
from backproof.stages import REGISTRY, fixup, pick
from backproof.verdict import run_verdict
from contexts import context_of
from kits import write_kit

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.rundir.loaded_run import LoadedRun
    from repositories import Repository

CODE = "def f():\n    x = 1\n    return x\n"
FIXUP = """
[[fixup]]
id = "more"
file = "fixups/more.patch"
reason = "it's needed"
"""
PATCH = """--- a/code.py
+++ b/code.py
@@ -1,3 +1,4 @@
 def f():
     x = 2
+    y = "$(touch ran)é\\r"
     return x
"""


def ran(tmp_path: Path, repository: Repository, commits: list[str], *, options: str = "") -> Ledger:
    kit = tmp_path / "kit"
    (kit / "fixups").mkdir(parents=True)
    (kit / "fixups" / "more.patch").write_text(PATCH)
    write_kit(kit, commits, pick=options, more=FIXUP)
    ledger = Ledger(tmp_path / "run it's")
    settings = Settings(
        kit=str(kit), repo=str(repository.folder), branch="release", python="", device="emulator", signoff=True
    )
    ctx = context_of(ledger, kit, settings)
    results = [pick.run(ctx)]
    if not ctx.require_record(PickRecord).conflicts:
        results.append(fixup.run(ctx))
    run = ctx.run.model_copy(update={"id": "r1", "title": "evil\n touch ran\u2028touch ran"})
    ledger.save_run(run.model_copy(update={"stages": tuple(results)}))
    return ledger


def loaded(ledger: Ledger) -> LoadedRun:
    return run_verdict.read_evidence(ledger, loaded_run.require_run(ledger), REGISTRY)


def bash(tmp_path: Path, script: bytes, *args: str) -> subprocess.CompletedProcess[bytes]:
    path = tmp_path / "reproduce.sh"
    path.write_bytes(script)
    return subprocess.run(["bash", str(path), *args], cwd=tmp_path, capture_output=True, check=False)


def tree_of(folder: Path) -> str:
    return subprocess.run(
        ["git", "-C", str(folder), "rev-parse", "HEAD^{tree}"], check=True, capture_output=True, text=True
    ).stdout.strip()


def prepared(repository: Repository) -> list[str]:
    """A clean pick, one whose note conflicts and is dropped, and one that is there already."""
    repository.commit("base", {"code.py": CODE, "notes/it's.md": "n\n"})
    repository.switch("release")
    repository.commit("own", {"notes/it's.md": "release\n", "there.py": "t = 1\n"})
    repository.switch("main", "main")
    one = repository.commit("one", {"code.py": CODE.replace("x = 1", "x = 2"), "notes/new.md": "n\n"})
    two = repository.commit("two", {"two.py": "2\n", "notes/it's.md": "main\n"})
    three = repository.commit("three", {"there.py": "t = 1\n"})
    return [one, two, three]


def test_the_script_gives_the_trees_of_the_run(tmp_path: Path, upstream: Repository) -> None:
    ledger = ran(tmp_path, upstream, prepared(upstream))
    fixed = loaded(ledger).fixup
    assert fixed
    done = bash(tmp_path, reproduce.render_script(ledger, loaded(ledger)), "again")
    assert done.returncode == 0, done.stderr.decode()
    assert tree_of(tmp_path / "again") == fixed.head_tree
    assert done.stdout.decode().count("as in the run") == 4
    assert not list(tmp_path.rglob("ran"))
    log = subprocess.run(
        ["git", "-C", str(tmp_path / "again"), "log", "-4", "--format=%B"], check=True, capture_output=True, text=True
    ).stdout
    assert log.count("cherry picked from commit") == 2
    assert log.count("Signed-off-by") >= 2


def test_a_tree_that_differs_stops_the_script(tmp_path: Path, upstream: Repository) -> None:
    ledger = ran(tmp_path, upstream, prepared(upstream))
    picked = loaded(ledger).pick
    assert picked
    script = reproduce.render_script(ledger, loaded(ledger)).replace(picked.head_tree.encode(), b"0" * 40)
    done = bash(tmp_path, script, "again")
    assert done.returncode == 1
    assert b"and should be 0000" in done.stderr


def test_a_merge_commits_main_line_is_found_from_the_tree(tmp_path: Path, upstream: Repository) -> None:
    upstream.commit("base", {"code.py": CODE})
    upstream.switch("release")
    upstream.switch("topic", "main")
    upstream.commit("topic", {"code.py": CODE.replace("x = 1", "x = 2")})
    upstream.git("checkout", "--quiet", "main")
    upstream.commit("main", {"m.py": "m = 1\n"})
    upstream.git("merge", "--quiet", "--no-ff", "-m", "merge", "topic")
    ledger = ran(tmp_path, upstream, [upstream.git("rev-parse", "HEAD")], options="mainline = 1")
    done = bash(tmp_path, reproduce.render_script(ledger, loaded(ledger)), "again")
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("where", ["id", "title", "repo"])
@pytest.mark.parametrize(
    "hostile",
    ["x\ntouch PWNED\n", "$(touch PWNED)", "`touch PWNED`", "'; touch PWNED; '", "--upload-pack=touch PWNED;false"],
)
def test_what_stands_in_a_run_folder_is_no_command(
    tmp_path: Path, upstream: Repository, where: str, hostile: str
) -> None:
    ledger = ran(tmp_path, upstream, prepared(upstream))
    made = loaded(ledger)
    changed = made.run.model_copy(update={where: hostile})
    if where == "repo":
        changed = made.run.model_copy(update={"settings": made.run.settings.model_copy(update={"repo": hostile})})
    bash(tmp_path, reproduce.render_script(ledger, replace(made, run=changed)), "again")
    assert not list(tmp_path.rglob("PWNED"))


@pytest.mark.parametrize("where", ["base", "base_tree", "head", "head_tree"])
@pytest.mark.parametrize("hostile", ["main", "$(touch PWNED)", "x\ntouch PWNED", "--exec=touch PWNED", ""])
def test_what_is_no_hash_is_refused(tmp_path: Path, upstream: Repository, where: str, hostile: str) -> None:
    ledger = ran(tmp_path, upstream, prepared(upstream))
    made = loaded(ledger)
    assert made.pick
    with pytest.raises(PlanError, match="is no hash"):
        reproduce.render_script(
            ledger, replace(made, records={**made.records, PickRecord: made.pick.model_copy(update={where: hostile})})
        )


def test_a_run_that_stopped_has_nothing_to_reproduce(tmp_path: Path, upstream: Repository) -> None:
    upstream.commit("base", {"code.py": CODE})
    upstream.switch("release")
    upstream.commit("own", {"code.py": CODE.replace("x = 1", "x = 9")})
    upstream.switch("main", "main")
    fix = upstream.commit("fix", {"code.py": CODE.replace("x = 1", "x = 2")})
    ledger = ran(tmp_path, upstream, [fix])
    with pytest.raises(PlanError, match="nothing to reproduce"):
        reproduce.render_script(ledger, loaded(ledger))
