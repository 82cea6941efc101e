"""The drafted comment: every claim has its evidence, FAIL is not ERROR, nothing from outside is alive, and it fits."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from backproof.core.model import Arm, Finding, Outcome
from backproof.records.proof import Claim, VerifyRecord
from backproof.report import render
from backproof.report.catalogue import LANGUAGES, Language
from backproof.report.document import DocumentView
from checkout import ROOT, TESTS
from full_runs import full
from hostile_text import ALIVE, HOSTILE, NASTY, flat, words
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from run_kinds import (
    ALL,
    FAULT,
    failed,
    hostile_folder,
    load_judged,
    no_device,
    on_device,
    stopped,
    undecided,
)
from stories import FIXED, SOURCE, Folder, case, plan, proved, three

from tests.verdict.test_levels import served_run

if TYPE_CHECKING:
    from backproof.rundir import loaded_run

GOLDEN = TESTS / "report" / "golden"
TEMPLATES = ROOT / "reports"
HARDWARE = re.compile(r"\b(npu|a2|a3|ascend|hardware|910\w*|verified on)\b", re.IGNORECASE)


def draft_comment(folder: Folder, **changes: Any) -> str:
    return render.render_comment(load_judged(folder), plan(**changes))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("name", "make"), [("level-2", proved), ("everything", full), ("served", served_run)])
def test_each_comment_is_the_golden_one(tmp_path: Path, name: str, make: Any, language: Language) -> None:
    made = render.render_comment(load_judged(make(tmp_path)), plan(), language=language)
    text = re.sub(r"\b[0-9a-f]{64}\b", "SHA256", made)
    golden = GOLDEN / f"comment-{name}.{language}.md"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_a_claim_without_any_evidence_cannot_be_written(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    with pytest.raises(ValueError, match="has no evidence"):
        DocumentView.of(load_judged(folder), plan()).ground((), "validate")


def test_fail_and_error_use_different_words(tmp_path: Path) -> None:
    fail, error = draft_comment(failed(tmp_path / "1")), draft_comment(no_device(tmp_path / "2"))
    assert "**Pull request 7 on `release/1`: FAIL: the backport does not hold.**" in fail
    assert "do not merge it as it is" in fail
    assert "could not tell" not in fail
    assert "**Pull request 7 on `release/1`: ERROR: no verdict, we could not tell.**" in error
    assert "this run settles nothing" in error
    assert "does not hold" not in error
    assert "do not merge" not in error
    assert "- validate: error: there is no device" in error
    assert "Level 1 of 4, loaded: not shown on a device." in error


def test_not_discriminating_is_no_pass(tmp_path: Path) -> None:
    text = draft_comment(undecided(tmp_path))
    assert "INCONCLUSIVE: what ran decides nothing.**" in text
    assert "pass, 36 steps, **not-discriminating**, expected fault:out-of-range" in text
    assert "PASS" not in text


def test_a_conflict_asks_for_a_person(tmp_path: Path) -> None:
    text = draft_comment(stopped(tmp_path))
    assert "A PERSON IS NEEDED: no verdict yet.**" in text
    assert "**Asked of you:** resolve the conflict in `pkg/rows.py`." in text
    assert "- verify: not run" in text
    assert "Level" not in text


def test_a_reconstruction_is_said_in_the_first_lines(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.pick(commit={"reconstructed": True})
    text = draft_comment(folder)
    assert "The commits are reconstructed: compare them with your head first." in text.splitlines()[:4]
    assert f"- Commit `{SOURCE[:7]}` (source `{SOURCE}`)" in text


def test_a_pick_that_needs_more_or_leaves_something_is_not_called_enough(tmp_path: Path) -> None:
    raw = three("raw", FAULT, "pass", "pass")
    whole = draft_comment(proved(tmp_path / "1", raw))
    assert "what fails without it passes with it, in 1 check.**" in whole
    assert "Not fixed" not in whole
    needs = draft_comment(proved(tmp_path / "2", [*raw, *three("compute", "fail", "fail", "pass")]))
    assert "is not enough alone. With 1 fix-up on top, what fails without it passes, in 2 checks.**" in needs
    limit = draft_comment(proved(tmp_path / "3", [*raw, *three("raw-bare", FAULT, "fail", "fail", role="limit")]))
    assert "Not fixed by it: 1 declared limit." in limit
    assert "| 48 of 72 out-of-range | **24 of 72 fail** | **24 of 72 fail** |" in limit
    assert "rows under raw-bare: the output of a skipped row stays uninitialised" in limit


def test_the_lines_of_a_fixup_are_a_suggestion_where_it_only_adds(tmp_path: Path) -> None:
    def patched(path: Path, hunk: str) -> str:
        folder = Folder(path)
        folder.pick()
        folder.fixup(
            f"From {FIXED} Mon Sep 17 00:00:00 2001\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n{hunk}"
        )
        folder.install()
        folder.verify()
        folder.validate(three("raw", FAULT, "pass", "pass"))
        return draft_comment(folder)

    text = patched(tmp_path / "1", " a\n+    rows[-1] = 0\n+    more()\n")
    assert "land `zero-row`, too: A review asked for it." in text
    assert "\n```suggestion\nrows[-1] = 0\nmore()\n```\n" in text
    assert "suggestion" not in patched(tmp_path / "2", "-a\n+b\n")
    assert "suggestion" not in patched(tmp_path / "3", "+line\n" * 9)


def test_what_reviewers_asked_for_and_did_not_get_is_asked_again(tmp_path: Path) -> None:
    text = draft_comment(full(tmp_path))
    assert "bob asked for `x = n` at `pkg/rows.py:4-6`: marked resolved, not in the head." in text
    assert "ann asked for" not in text, "the fix-up closes it"
    assert "Reverted upstream by pull request 8." in text
    assert text.count("A claim of the pull request that names a device model is its own and was not rerun here") == 2
    assert "The pull request says, of itself: the ci-only claim" in text


def test_paths_of_this_machine_become_the_words_of_the_commands(tmp_path: Path) -> None:
    folder = proved(tmp_path)
    command = f"/opt/target/python {Path(render.__file__).parent}/x.py {tmp_path}/out {Path.home()}/y"
    folder.stage("triage", evidence=(folder.proof("triage/x.txt", "x", "a claim", command),))
    finding = Finding(severity="warning", text="look")
    folder.stages[-1] = folder.stages[-1].model_copy(update={"findings": (finding,), "sentence": command})
    for text in (draft_comment(folder), render.render_page(load_judged(folder), plan())):
        assert str(tmp_path) not in text
    assert "PYTHON BACKPROOF/backproof/report/x.py RUN/out ~/y" in text


def test_a_claim_that_was_not_tried_rests_on_the_record(tmp_path: Path) -> None:
    folder = no_device(tmp_path)
    found = load_judged(folder)
    assert found.verify
    untried = Claim(name="reached", sentence="not asked for", outcome=Outcome.SKIP)
    record = found.verify.model_copy(update={"claims": (*found.verify.claims[:2], untried)})
    text = render.render_comment(replace(found, records={**found.records, VerifyRecord: record}), plan())
    assert "- skip: not asked for" in text
    assert "With it:" not in text


def test_what_no_caller_can_see_is_not_called_observable(tmp_path: Path) -> None:
    cases = three("raw", FAULT, "pass", "pass")
    cases[1] = cases[1].model_copy(update={"observations": {"inner_row": {"poison": 24}}})
    cases[2] = cases[2].model_copy(update={"observations": {"inner_row": {"zero": 24}}})
    text = render.render_page(load_judged(proved(tmp_path, cases)), plan())
    assert "changes nothing observable here; inside, it changes row.poison: 24 → none; row.zero: none → 24" in text


def test_where_a_fixup_changes_nothing_the_page_says_so(tmp_path: Path) -> None:
    text = render.render_page(load_judged(proved(tmp_path)), plan())
    assert (
        "rows under raw, raw-bare, skip: pick and fixed show the same; the fix-up zero-row changes nothing observable here"
        in text
    )
    assert "rows under compute: the fix-up zero-row changes observed: fail → pass;" in text


def test_a_fixup_that_changes_no_outcome_is_not_given_more_than_it_does(tmp_path: Path) -> None:
    cases = three("raw", FAULT, "pass", "pass")
    cases[2] = cases[2].model_copy(update={"observations": {"null_row": {"zero": 24}}})
    text = render.render_page(load_judged(proved(tmp_path, cases)), plan())
    assert "the same outcome with and without it; the fix-up zero-row changes inactive_rows.zero: 24 → none;" in text


def test_reuse_and_one_line_that_runs_it_again_are_said(tmp_path: Path) -> None:
    loaded = load_judged(proved(tmp_path))
    line = "backproof run patches/small --repo https://github.com/example/project --branch release/1 --python PYTHON"
    text = render.render_comment(loaded, plan())
    assert "Reused from an earlier run with equal inputs: fixup." in text
    assert f"Run it again with the sources of backproof 0.1.0: `{line} --device emulator`" in text
    assert "/opt/target" not in text
    released = replace(loaded, run=loaded.run.model_copy(update={"origin": "backproof==0.1.0"}))
    target = {"requirement": "project==1", "packages": []}
    text = render.render_comment(released, plan(target=target))
    assert (
        f"Run it again: `pip install backproof==0.1.0 && {line}" in text
    )  # a run of the branch, though a demo is possible
    subject = loaded.run.subject.model_copy(update={"published": True})
    demo = replace(released, run=released.run.model_copy(update={"subject": subject}))
    text = render.render_comment(demo, plan(target=target))
    assert "Run it again: `pip install backproof==0.1.0 && backproof demo small`" in text
    cloned = replace(loaded, run=loaded.run.model_copy(update={"origin": f"backproof @ git+https://x.org/b@{SOURCE}"}))
    assert f"`pip install 'backproof @ git+https://x.org/b@{SOURCE}' && {line}" in render.render_comment(cloned, plan())


@pytest.mark.parametrize(
    "altered", ["pick/pick.json", "verify/loaded.json", "validate/validate.json", "validate/base/rows.raw.json"]
)
def test_what_rests_on_altered_evidence_is_not_shown(tmp_path: Path, altered: str) -> None:
    folder = proved(tmp_path)
    (tmp_path / altered).write_text("{}")
    text = draft_comment(folder)
    assert "ERROR: no verdict, we could not tell.**" in text
    assert f"- evidence missing or altered, and not counted: {altered}" in text
    gone = {
        "pick/pick.json": "- Branch `release/1`",
        "verify/loaded.json": "loaded: 1 of 1 files",
        "validate/validate.json": "| rows are right |",
        "validate/base/rows.raw.json": "fault:out-of-range in 24 of 36 steps | pass, 36 steps | pass, 36 steps |\n| rows | raw-bare |",
    }
    assert gone[altered] not in text


def test_no_template_but_its_own_has_words_of_hardware() -> None:
    names = {each.name for each in TEMPLATES.iterdir()}
    own = {"hardware.md.j2", "hardware.html.j2", "hardware.toml"}
    assert {"comment.md.j2", "report.html.j2", "sentences.toml"} | own <= names
    for name in names - own:
        body = re.sub(r"(?s)\{#.*?#\}|(?m:^# .*$)", "", (TEMPLATES / name).read_text(encoding="utf-8"))
        body = re.sub(r'\{% include "hardware\.[a-z.]+j2" %\}', "", body)
        assert not HARDWARE.search(body), name


@pytest.mark.parametrize("make", ALL)
def test_below_level_3_no_word_of_hardware_is_printed(tmp_path: Path, make: Any) -> None:
    folder = make(tmp_path)
    assert (load_judged(folder).run.level or 0) < 3
    assert not HARDWARE.search(draft_comment(folder))
    assert not HARDWARE.search(render.render_page(load_judged(folder), plan()))


def test_at_level_3_the_words_come_with_the_inventory(tmp_path: Path) -> None:
    text = draft_comment(on_device(tmp_path))
    assert "Verified on device `ascend`, host `h1`: driver `26.1`, runtime `9.2`, in the same boot." in text
    assert "Not run: a served model under load." in text
    assert "real device" not in text


TAGS = {"<details>", "</details>", "<summary>", "</summary>"}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(HOSTILE, st.just("".join(NASTY))))
def test_hostile_text_stays_text(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    made = draft_comment(hostile_folder(tmp_path_factory.mktemp("run"), text), title=text.strip() or "x")
    tokens = flat(made)
    assert not ALIVE.search(words(tokens))
    assert not {each.type for each in tokens} & {"link_open", "image", "html_inline", "code_block", "hr", "s_open"}
    blocks = "".join(each.content for each in tokens if each.type == "html_block")
    assert set(re.findall(r"<[^>]*>", blocks)) <= TAGS
    rows = [each for each in made.splitlines() if each.startswith("|")]
    assert {each.count("|") for each in rows} <= {5, 7}
    assert not [each for each in tokens if each.type in {"fence", "heading_open"}]
    assert sum(each.type == "table_open" for each in tokens) == 2


def test_each_hostile_example_alone(tmp_path: Path) -> None:
    for index, text in enumerate(NASTY):
        tokens = flat(draft_comment(hostile_folder(tmp_path / str(index), text)))
        assert not [each for each in tokens if each.type == "heading_open"], text
        assert sum(each.type == "table_open" for each in tokens) == 2, text


def big(path: Path) -> Folder:
    findings = tuple(
        Finding(severity="warning", text=f"{index} `{'x' * 2000}", where="a/b " * 300) for index in range(10_000)
    )
    folder = Folder(path)
    folder.pick(commit={"dropped": tuple(f"notes/{index}{'y' * 300}" for index in range(1000))})
    folder.fixup()
    folder.install()
    folder.verify(findings=findings)
    cases = [case(f"model-{index}-{'z' * 200}", Arm.FIXED, "fail", "pass") for index in range(9_999)]
    worst = f"model-9999-{'z' * 200}"
    cases.append(case(worst, Arm.BASE, "pass", role="guard"))
    cases.append(case(worst, Arm.FIXED, "fail", "pass", role="guard", verdict="failed"))
    folder.validate(cases, facts={f"fact {index}": "v" * 500 for index in range(1000)})
    return folder


@pytest.fixture(scope="module")
def big_run(tmp_path_factory: pytest.TempPathFactory) -> loaded_run.LoadedRun:
    return load_judged(big(tmp_path_factory.mktemp("big")))


def test_ten_thousand_of_everything_fit_a_comment(big_run: loaded_run.LoadedRun) -> None:
    text = render.render_comment(big_run, plan())
    assert len(text) <= render.COMMENT_LIMIT
    assert "FAIL: the backport does not hold.**" in text
    assert "_9960 more: see the report._" in text  # rows, each with all of its arms
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    assert tokens[-1].content == "</details>\n"
    assert text.count("<details>") == text.count("</details>")
    # The worst case comes first where not all are shown.
    table = text[text.index("<summary>All cases") :]
    assert table.index("model-9999-") < table.index("model-0-")


def test_the_page_of_ten_thousand_stays_small(big_run: loaded_run.LoadedRun) -> None:
    assert len(render.render_page(big_run, plan())) < 16_000_000


@given(st.lists(st.tuples(st.sampled_from([*render.CUT_FIRST, "verdict"]), st.text(max_size=300)), max_size=15))
def test_a_cut_takes_whole_sections_and_says_which(sections: list[tuple[str, str]]) -> None:
    whole = render.fit_sections(sections, 10**6)
    text = render.fit_sections(sections, 500)
    assert text == whole or "_Cut to fit a comment: " in text
    for name, body in sections:
        assert body in text or f"{name} (" in text


def test_a_secret_of_the_environment_is_masked_before_it_is_escaped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "s3*cret_|x|@y")
    folder = Folder(tmp_path)
    folder.pick(commit={"subject": "uses s3*cret_|x|@y", "author": "ghp_\x1b[0m" + "a" * 30})
    text, page = draft_comment(folder), render.render_page(load_judged(folder), plan())
    for each in (text, page):
        assert "s3*cret" not in each.replace("\\", "")
        assert "a" * 30 not in each.replace("a" * 40, "")
        assert "uses ***" in each


def test_another_release_than_the_branch_is_said_with_the_verdict(tmp_path: Path) -> None:
    files = ("pkg/other.py", "pkg/more.py", "pkg/third.py")
    folder = Folder(tmp_path, "emulator", facts={"differs": files, "version": "3.13.2"})
    for stage in (folder.pick, folder.fixup, folder.install, folder.verify):
        stage()
    text = draft_comment(folder)
    assert "Ran on project 3.13.2; 3 other files not as in the branch, the first is `pkg/other.py`." in text
    assert text.index("Ran on") < text.index("<details>")


def test_a_row_of_cases_is_shown_whole_or_not_at_all(tmp_path: Path) -> None:
    """All arms of each model ran: where there are too many rows, none of them may read as if an arm had not."""
    cases = [one for number in range(45) for one in three(f"m{number}", FAULT, "pass", "pass")]
    folded = draft_comment(proved(tmp_path, cases)).partition("<summary>All cases")[2].partition("</details>")[0]
    rows = [line for line in folded.splitlines() if line.startswith("| rows |")]
    assert rows
    assert "more: see the report" in folded
    assert not [row for row in rows if "not run" in row]
