"""What Actions reads: commands of ours and nobody else's, within its limits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from backproof.core.model import Finding
from backproof.upstream.actions import ANNOTATIONS, SUMMARY_BYTES, Actions
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt


@pytest.fixture
def lines() -> list[str]:
    return []


@pytest.fixture
def actions(tmp_path: Path, lines: list[str]) -> Actions:
    return Actions(write=lines.append, summary_file=tmp_path / "summary", output_file=tmp_path / "output")


def finding(text: str, severity: str = "fail") -> Finding:
    return Finding.model_validate({"severity": severity, "text": text, "where": "a,b:c"})


def test_only_inside_actions() -> None:
    assert Actions.here(print, {}) is None
    assert Actions.here(print, {"GITHUB_ACTIONS": "true"}) is not None


def test_ten_of_a_kind_and_the_rest_is_counted(actions: Actions, lines: list[str]) -> None:
    actions.annotate_findings([*(finding(f"n{index}") for index in range(25)), finding("w", "warning")])
    errors = [line for line in lines if line.startswith("::error")]
    assert len(errors) == ANNOTATIONS
    assert "16 more" in errors[-1]
    assert [line for line in lines if line.startswith("::warning")] == ["::warning title=a%2Cb%3Ac::w"]


def test_exactly_ten_are_all_shown(actions: Actions, lines: list[str]) -> None:
    actions.annotate_findings(finding(f"n{index}") for index in range(10))
    assert len(lines) == 10
    assert not [line for line in lines if "more" in line]


@given(text=st.text(), where=st.text())
def test_an_annotation_is_one_line_and_one_command(text: str, where: str) -> None:
    lines: list[str] = []
    actions = Actions(write=lines.append, summary_file=None, output_file=None)
    actions.annotate_findings([Finding(severity="fail", text=text, where=where)])
    assert len(lines) == 1
    assert not re.search(r"[\r\n]", lines[0])
    assert re.fullmatch(r"::error title=[^,:]+::.*", lines[0], re.DOTALL)


def test_what_a_target_prints_is_fenced_by_a_word_nobody_can_guess(actions: Actions, lines: list[str]) -> None:
    for _ in range(2):
        with actions.fence_output():
            lines.append("::set-output name=x::y")
    words = [line.removeprefix("::stop-commands::") for line in lines[::3]]
    assert words[0] != words[1]
    assert all(len(each) == 32 for each in words)
    assert lines[2::3] == [f"::{each}::" for each in words]


def test_the_fence_closes_after_a_failure(actions: Actions, lines: list[str]) -> None:
    with pytest.raises(RuntimeError), actions.open_group("a\nb"), actions.fence_output():
        raise RuntimeError
    assert lines[0] == "::group::a%0Ab"
    assert lines[-1] == "::endgroup::"
    assert lines[-2] == "::" + lines[1].removeprefix("::stop-commands::") + "::"


def test_the_summary_is_appended_and_never_too_large(actions: Actions, tmp_path: Path) -> None:
    (tmp_path / "summary").write_text("of another step\n")
    actions.append_summary("# ours")
    actions.append_summary("````\n" + "x" * 80 + "\n" * 10 + ("日本語 line\n" * 120_000) + "````")
    actions.append_summary("no room is left for this, or only for a little")
    data = (tmp_path / "summary").read_bytes()
    assert data.startswith(b"of another step\n# ours")
    assert len(data) <= SUMMARY_BYTES
    text = data.decode()
    assert "_Cut: a job summary holds 1 MiB." in text
    cut = text[: text.index("_Cut:") + 5]
    fences = [each for each in MarkdownIt("commonmark").parse(cut) if each.type == "fence"]
    assert len(fences) == 1
    assert "_Cut:" not in fences[0].content, "the fence is closed before what follows"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(value=st.text())
def test_an_output_reads_back_whole(tmp_path: Path, value: str) -> None:
    path = tmp_path / "output"
    path.unlink(missing_ok=True)
    value = re.sub(r"[\r\x85\u2028\u2029\x0b\x0c\x1c-\x1e]", "", value.encode("utf-8", "ignore").decode())
    Actions(write=print, summary_file=None, output_file=path).set_outputs(report_path=value, other="1")
    text = path.read_text(encoding="utf-8")
    found = re.match(r"report-path<<(\w+)\n(.*?)\n\1\nother<<(\w+)\n1\n\3\n\Z", text, re.DOTALL)
    assert found is not None
    assert found[2] == value


def test_a_delimiter_in_a_value_is_refused(tmp_path: Path) -> None:
    actions = Actions(write=print, summary_file=None, output_file=tmp_path / "o", secret=lambda: "EOF")
    with pytest.raises(ValueError, match="delimiter"):
        actions.set_outputs(x="a\nEOF\nevil=1")


def test_a_mask_covers_each_line(actions: Actions, lines: list[str]) -> None:
    actions.mask_value("one\n\n50%")
    assert lines == ["::add-mask::one", "::add-mask::50%25"]
