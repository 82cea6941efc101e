"""Mutation of a fix, on a real backport in a real environment: what is caught, what is not, and what is no catch."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from backproof.records.mutation import MutationRecord
from plain_job import PlainJob, make_job

if TYPE_CHECKING:
    from pathlib import Path

CONV = "src/demo/ops/conv.py"
ROWS = "src/demo/ops/rows.py"
# A fix with a loop that a small mistake makes endless, and a branch that the proof does not take.
FIX = b"""from demo.ops.rows import ROWS

STEP = 1


def answer(doubled=None):
    left = 42
    while left > 41:
        left = left - 1
    return (left + 1) * ROWS if doubled is None else doubled * 2
"""


# Green without the fix, so no proof: what it alone notices is not caught by one.
BESIDE = """

def test_beside(device):
    from demo.ops import conv

    assert conv.STEP == 1
"""


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> PlainJob:
    """A finished run of such a fix, with its mutants tried."""
    job = make_job(tmp_path_factory.mktemp("mutate") / "job")
    first = job.upstream.git("rev-parse", "main").strip()
    fix = job.upstream.commit("fix the answer in a loop", {CONV: FIX})
    plan = job.kit / "plan.toml"
    text = plan.read_text(encoding="utf-8").replace(f'["{first}"]', f'["{first}", "{fix}"]')
    plan.write_text(text.replace("[check.expect.cpu]", "timeout = 5\n[check.expect.cpu]"), encoding="utf-8")
    check = job.kit / "checks" / "test_answers.py"
    check.write_text(check.read_text(encoding="utf-8") + BESIDE, encoding="utf-8")
    done = job.backproof(*job.arguments(), "--mutate")
    assert done.returncode == 0, done.stdout + done.stderr
    return job


def read(job: PlainJob) -> MutationRecord:
    return MutationRecord.model_validate_json((job.run_folder / "mutate" / "mutate.json").read_bytes())


def find(job: PlainJob, after: str) -> dict[str, Any]:
    (mutant,) = [item for item in read(job).mutants if item.after == after and item.operator != "in-part"]
    return mutant.model_dump()


@pytest.mark.parametrize(
    ("after", "ending", "why"),
    [
        ("return (left + 2) * ROWS if doubled is None else doubled * 2", "caught", "test_answers: "),
        ("while left >= 41:", "caught", "test_answers: "),
        ("return (left + 1) * ROWS if doubled is None else doubled * 3", "survived", ""),
        ("left = left + 1", "timeout", "stopped after"),
        ("return (left + 1) * ROWS if doubled is not None else doubled * 2", "caught", "TypeError"),
        ("ROWS = 2", "caught", "test_answers: "),
        ("STEP = 2", "survived", ""),
    ],
)
def test_what_becomes_of_a_wrong_version(job: PlainJob, after: str, ending: str, why: str) -> None:
    mutant = find(job, after)
    assert mutant["ending"] == ending, mutant
    assert why in mutant["why"]
    assert mutant["by"] == ("" if ending == "survived" else "answers under cpu")


def test_the_sentence_counts_them_all(job: PlainJob) -> None:
    record = read(job)
    (stage,) = [stage for stage in job.story()["stages"] if stage["stage"] == "mutate"]
    caught = sum(item.ending == "caught" for item in record.mutants)
    late = sum(item.ending == "timeout" for item in record.mutants)
    assert late
    said = f"{caught} of {len(record.mutants)} wrong versions of this fix are caught, {late} ran into a time limit"
    assert stage["sentence"] == said
    assert (stage["outcome"], job.story()["outcome"], job.story()["level"]) == ("pass", "pass", 2)


def test_the_comment_and_the_page_name_what_is_not_caught(job: PlainJob) -> None:
    comment = (job.run_folder / "comment.md").read_text(encoding="utf-8")
    caught = sum(item.ending == "caught" for item in read(job).mutants)
    assert f"{caught} of {len(read(job).mutants)} wrong versions of this fix are caught" in comment
    assert f"{CONV}:11" in comment.replace("\\", "")
    page = (job.run_folder / "report.html").read_text(encoding="utf-8")
    assert "else doubled * 3" in page
    shown = job.backproof("ci", "present", str(job.run_folder), "--lang", "zh").stdout
    assert f"{len(read(job).mutants)} 个" in shown


def test_every_version_is_a_patch_that_applies_to_the_fix(job: PlainJob, tmp_path: Path) -> None:
    """Whoever doubts a figure can make each version again."""
    file = tmp_path / CONV
    file.parent.mkdir(parents=True)
    text = (job.run_folder / "mutate" / "mutants.patch").read_text(encoding="utf-8")
    parts = {part[:8]: part for part in text.split("# ")[1:]}
    assert set(parts) == {item.id for item in read(job).mutants}
    first = next(item for item in read(job).mutants if item.path == CONV and item.line == 11)
    assert f"-    {first.before}\n+    {first.after}\n" in parts[first.id]


def test_nothing_stays_behind(job: PlainJob) -> None:
    """The versions ran beside the installed package, which is the release's again."""
    assert b"return 42" not in (job.target.site / "demo" / "ops" / "conv.py").read_bytes()
    assert sorted(path.name for path in (job.run_folder / "mutate").iterdir()) == ["mutants.patch", "mutate.json"]


def test_time_that_ran_out_is_said(job: PlainJob) -> None:
    done = job.backproof("mutate", str(job.run_folder), "--budget", "0.001s")
    record = read(job)
    assert {item.ending for item in record.mutants} == {"not-tried"}
    assert (
        f"0 of {len(record.mutants)} wrong versions of this fix are caught, {len(record.mutants)} not tried"
        in done.stdout
    )
    assert done.returncode == 4


def test_what_the_plan_declares_equivalent_stays_counted(job: PlainJob) -> None:
    plan = job.kit / "plan.toml"
    text = plan.read_text(encoding="utf-8")
    record = read(job)
    survivor = next(item for item in record.mutants if item.after.endswith("else doubled * 3"))
    caught = next(item for item in record.mutants if "left + 2" in item.after)
    tables = [(survivor.id, "nobody doubles"), (caught.id, "a mistake"), ("0" * 8, "there is no such version")]
    more = "".join(f'[[equivalent]]\nmutant = "{name}"\nreason = "{why}"\n' for name, why in tables)
    plan.write_text(text + more, encoding="utf-8")
    declared = replace(job, out="declared")
    done = declared.backproof(*declared.arguments(), "--mutate", "--json")
    plan.write_text(text, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    (stage,) = [stage for stage in json.loads(done.stdout)["stages"] if stage["stage"] == "mutate"]
    assert ", 1 declared equivalent" in stage["sentence"]
    assert (
        find(declared, "return (left + 1) * ROWS if doubled is None else doubled * 3")["equivalent"] == "nobody doubles"
    )
    texts = [finding["text"] for finding in stage["findings"]]
    assert f"the plan declares {caught.id} equivalent, and a proof catches it" in texts
    assert "the plan declares a mutant equivalent that there is not: 00000000" in texts
    assert not any(survivor.id in text for text in texts)


def test_a_run_that_did_not_pass_has_no_mutants(tmp_path: Path) -> None:
    job = make_job(tmp_path / "job")
    (job.kit / "checks" / "test_answers.py").write_text(
        "def test_answers(device):\n    from demo.ops import conv\n\n    conv.answer()\n", encoding="utf-8"
    )
    job.run()
    done = job.backproof("mutate", str(job.run_folder))
    assert done.returncode == 4
    assert "it needs validate, which ended with" in done.stdout
