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
from stories import SOURCE, Folder, case, plan, proved, three

from tests.verdict.test_levels import served_run

if TYPE_CHECKING:
    from backproof.rundir import loaded_run

GOLDEN = TESTS / "report" / "golden"
TEMPLATES = ROOT / "reports"
HARDWARE = re.compile(r"\b(npu|a2|a3|ascend|hardware|910\w*|verified on)\b", re.IGNORECASE)
NOT_CLAIMS = ("Not established", "Run it again", "Evidence:")


def draft_comment(folder: Folder, **changes: Any) -> str:
    return render.render_comment(load_judged(folder), plan(**changes))


def claim_lines(text: str) -> list[str]:
    """Bullets and table rows, without those of the sections that claim nothing and without table heads."""
    lines, section = [], ""
    for line, after in zip(text.splitlines(), [*text.splitlines()[1:], ""], strict=True):
        if line.startswith(("### ", "<summary>")):
            section = line.removeprefix("### ").removeprefix("<summary>")
        head = line.startswith("|") and after.startswith("| ---")
        if line.startswith(("- ", "|")) and not line.startswith("| ---") and not head:
            lines += [] if section.startswith(NOT_CLAIMS) else [line]
    return lines


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("name", "make"), [("level-2", proved), ("everything", full), ("served", served_run)])
def test_each_comment_is_the_golden_one(tmp_path: Path, name: str, make: Any, language: Language) -> None:
    made = render.render_comment(load_judged(make(tmp_path)), plan(), language=language)
    text = re.sub(r"\b[0-9a-f]{64}\b", "SHA256", made)
    golden = GOLDEN / f"comment-{name}.{language}.md"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("make", ALL)
def test_every_claim_ends_with_its_evidence(tmp_path: Path, make: Any) -> None:
    text = draft_comment(make(tmp_path))
    listed = set(re.findall(r"^- \[(e\d+)\]", text, re.MULTILINE))
    for line in claim_lines(text):
        assert re.search(r"(\[e\d+\])+( \|)?$", line), line
        assert set(re.findall(r"\[(e\d+)\]", line)) <= listed


def test_a_claim_without_any_evidence_cannot_be_written(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    with pytest.raises(ValueError, match="has no evidence"):
        DocumentView.of(load_judged(folder), plan(), short=True).ground((), "validate")


def test_fail_and_error_use_different_words(tmp_path: Path) -> None:
    fail, error = draft_comment(failed(tmp_path / "1")), draft_comment(no_device(tmp_path / "2"))
    assert "**FAIL: the backport does not hold. validate: validate did its work.**" in fail
    assert "could not tell" not in fail
    assert "**ERROR: no verdict, we could not tell. validate: there is no device.**" in error
    assert "does not hold" not in error
    assert "- validate: error: there is no device" in error
    assert "3 device checks not reached" in error


def test_not_discriminating_is_no_pass(tmp_path: Path) -> None:
    text = draft_comment(undecided(tmp_path))
    assert "**INCONCLUSIVE: what ran decides nothing. " in text
    assert (
        "| base | pass | **no** | green in every case that must be; not as the plan expects: 1 not-discriminating |"
        in text
    )
    assert "PASS" not in text


def test_a_conflict_asks_for_a_person(tmp_path: Path) -> None:
    text = draft_comment(stopped(tmp_path))
    assert "**A PERSON IS NEEDED: no verdict yet. " in text
    assert "- Conflict (content): `pkg/rows.py` [e1]" in text
    assert "- verify: not run" in text
    assert "0 picked not reached" in text


def test_a_reconstruction_is_said_loudly(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.pick(commit={"reconstructed": True})
    text = draft_comment(folder)
    assert text.index("> **Not upstream's own commits.**") < text.index("### What landed")
    assert f"- `{SOURCE[:7]}` was reconstructed as `{SOURCE}` [e1]" in text


def test_where_a_fixup_changes_nothing_it_says_so(tmp_path: Path) -> None:
    text = draft_comment(proved(tmp_path))
    assert (
        "- rows under raw, raw-bare, skip: pick and fixed show the same; the fix-up zero-row changes nothing observable here"
        in text
    )
    assert "- rows under compute: the fix-up zero-row changes observed: fail → pass;" in text
    assert "rows under raw-bare: the output of a skipped row stays uninitialised [e15]" in text


def test_a_fixup_that_changes_no_outcome_is_not_given_more_than_it_does(tmp_path: Path) -> None:
    cases = three("raw", FAULT, "pass", "pass")
    cases[2] = cases[2].model_copy(update={"observations": {"null_row": {"zero": 24}}})
    text = draft_comment(proved(tmp_path, cases))
    assert "the same outcome with and without it; the fix-up zero-row changes inactive_rows.zero: 24 → none;" in text


def test_paths_of_this_machine_become_the_words_of_the_commands(tmp_path: Path) -> None:
    folder = proved(tmp_path)
    command = f"/opt/target/python {Path(render.__file__).parent}/x.py {tmp_path}/out {Path.home()}/y"
    folder.stage("triage", evidence=(folder.proof("triage/x.txt", "x", "a claim", command),))
    finding = Finding(severity="warning", text="look")
    folder.stages[-1] = folder.stages[-1].model_copy(update={"findings": (finding,)})
    for text in (draft_comment(folder), render.render_page(load_judged(folder), plan())):
        assert "PYTHON BACKPROOF/backproof/report/x.py RUN/out ~/y" in text
        assert str(tmp_path) not in text


def test_a_claim_that_was_not_tried_rests_on_the_record(tmp_path: Path) -> None:
    folder = no_device(tmp_path)
    found = load_judged(folder)
    assert found.verify
    untried = Claim(name="reached", sentence="not asked for", outcome=Outcome.SKIP)
    record = found.verify.model_copy(update={"claims": (*found.verify.claims[:2], untried)})
    text = render.render_comment(replace(found, records={**found.records, VerifyRecord: record}), plan())
    assert "- reached — **skip**: not asked for [e5]" in text


def test_what_no_caller_can_see_is_not_called_observable(tmp_path: Path) -> None:
    cases = three("raw", FAULT, "pass", "pass")
    cases[1] = cases[1].model_copy(update={"observations": {"inner_row": {"poison": 24}}})
    cases[2] = cases[2].model_copy(update={"observations": {"inner_row": {"zero": 24}}})
    text = draft_comment(proved(tmp_path, cases))
    assert "changes nothing observable here; inside, it changes row.poison: 24 → none; row.zero: none → 24" in text


def test_reuse_and_the_command_are_said(tmp_path: Path) -> None:
    text = draft_comment(proved(tmp_path))
    assert "Reused from an earlier run with equal inputs: fixup." in text
    assert 'backproof run patches/small --repo "$REPO" --branch release/1' in text
    assert "/opt/target" not in text


@pytest.mark.parametrize(
    "altered", ["pick/pick.json", "verify/loaded.json", "validate/validate.json", "validate/0.json"]
)
def test_what_rests_on_altered_evidence_is_not_shown(tmp_path: Path, altered: str) -> None:
    folder = proved(tmp_path)
    (tmp_path / altered).write_text("{}")
    text = draft_comment(folder)
    assert "**ERROR: no verdict, we could not tell." in text
    assert f"- evidence missing or altered, and not counted: {altered}" in text
    gone = {
        "pick/pick.json": "### What landed",
        "verify/loaded.json": "loaded: 1 of 1 files",
        "validate/validate.json": "| rows |",
        "validate/0.json": "| out-of-range 24 | [e10] |",
    }
    assert gone[altered] not in text


def test_no_template_but_its_own_has_words_of_hardware() -> None:
    names = {each.name for each in TEMPLATES.iterdir()}
    own = {"hardware.md.j2", "hardware.html.j2", "hardware.toml"}
    assert {"comment.md.j2", "report.html.j2", "sentences.toml"} | own <= names
    for name in names - own:
        body = re.sub(r"(?s)\{#.*?#\}|(?m:^# .*$)", "", (TEMPLATES / name).read_text(encoding="utf-8"))
        body = re.sub(r'\{% include "hardware\.[a-z.]+j2" %\}|section\("hardware"\)', "", body)
        assert not HARDWARE.search(body), name


@pytest.mark.parametrize("make", ALL)
def test_below_level_3_no_word_of_hardware_is_printed(tmp_path: Path, make: Any) -> None:
    folder = make(tmp_path)
    assert (load_judged(folder).run.level or 0) < 3
    assert not HARDWARE.search(draft_comment(folder))
    assert not HARDWARE.search(render.render_page(load_judged(folder), plan()))


def test_at_level_3_the_words_come_with_the_inventory(tmp_path: Path) -> None:
    text = draft_comment(on_device(tmp_path))
    assert "verified on device `ascend`, host `h1`: driver `26.1`, runtime `9.2`" in text
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
    assert {each.count("|") for each in rows} <= {6, 7, 5}
    assert sum(each.type == "fence" for each in tokens) == 1
    assert sum(each.type == "heading_open" for each in tokens) == 10
    assert sum(each.type == "table_open" for each in tokens) == 3


def test_each_hostile_example_alone(tmp_path: Path) -> None:
    for index, text in enumerate(NASTY):
        tokens = flat(draft_comment(hostile_folder(tmp_path / str(index), text)))
        assert sum(each.type == "heading_open" for each in tokens) == 10, text


def big(path: Path) -> Folder:
    findings = tuple(
        Finding(severity="warning", text=f"{index} `{'x' * 2000}", where="a/b " * 300) for index in range(10_000)
    )
    folder = Folder(path)
    folder.pick(commit={"dropped": tuple(f"notes/{index}{'y' * 300}" for index in range(1000))})
    folder.fixup()
    folder.install()
    folder.verify(findings=findings)
    cases = [
        case(
            f"model-{index}-{'z' * 200}",
            Arm.FIXED,
            "fail",
            "pass",
            verdict="failed" if index == 9_999 else "as-expected",
        )
        for index in range(10_000)
    ]
    folder.validate(cases, facts={f"fact {index}": "v" * 500 for index in range(1000)})
    return folder


@pytest.fixture(scope="module")
def big_run(tmp_path_factory: pytest.TempPathFactory) -> loaded_run.LoadedRun:
    return load_judged(big(tmp_path_factory.mktemp("big")))


def test_ten_thousand_of_everything_fit_a_comment(big_run: loaded_run.LoadedRun) -> None:
    text = render.render_comment(big_run, plan())
    assert len(text) <= render.COMMENT_LIMIT
    assert "**FAIL: the backport does not hold. rows under model-9999-" in text
    assert re.search(r"_9940 more cases: see report.html", text)
    assert "_Cut to fit a comment: " in text
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    assert tokens[-1].type == "paragraph_close"
    assert text.count("<details>") == text.count("</details>")
    # The worst case comes first where not all are shown.
    assert text.index("model-9999-", text.index("### Checks")) < text.index("model-0-", text.index("### Checks"))


def test_the_page_of_ten_thousand_stays_small(big_run: loaded_run.LoadedRun) -> None:
    assert len(render.render_page(big_run, plan())) < 12_000_000


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
