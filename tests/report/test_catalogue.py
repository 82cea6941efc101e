"""The two languages of the comment: the same sentences with the same values, the same lines, the same evidence."""

from __future__ import annotations

import re
import string
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from backproof.core.model import Outcome
from backproof.devices import DEVICES
from backproof.report import render
from backproof.report.catalogue import CATALOGUES, LANGUAGES, OF_RECORDS, Language, list_entries, load_catalogue
from backproof.verdict.sentences import LEVEL_NAMES, level_names
from checkout import ROOT
from full_runs import full
from jinja2 import Environment, nodes
from run_kinds import ALL, hostile_folder, load_judged, on_device
from stories import Folder, plan, proved

from tests.verdict.test_levels import served_run

if TYPE_CHECKING:
    from backproof.devices.protocol import Device

REPORTS = ROOT / "reports"
TEMPLATES = ("comment.md.j2", "verdict.j2", "before.j2", "asked.j2", "screen.txt.j2", "hardware.md.j2")
ENTRIES = [
    entry for name in CATALOGUES for entry in list_entries(tomllib.loads((REPORTS / name).read_text(encoding="utf-8")))
]
WORDS = re.compile(r"translated\.(\w+)\.(.+)")
CUT = "about.cut"
"""The sentence that no template says: what had to go is known after rendering."""
FILES = re.compile(r"`[\w/.-]+\.\w+` `[0-9a-f]{64}`")


def fields(sentence: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name is not None}


def said(template: str) -> set[str]:
    """The keys of a template; one that is computed could not be looked up here."""
    calls = Environment(autoescape=True).parse((REPORTS / template).read_text(encoding="utf-8")).find_all(nodes.Call)
    keys = [call.args[0] for call in calls if isinstance(call.node, nodes.Name) and call.node.name == "say"]
    assert all(isinstance(key, nodes.Const) for key in keys)
    return {key.value for key in keys if isinstance(key, nodes.Const)}


def test_no_key_is_there_twice() -> None:
    assert len({key for key, _ in ENTRIES}) == len(ENTRIES) > 60


@pytest.mark.parametrize(("key", "sentence"), ENTRIES)
def test_each_sentence_is_there_in_each_language_with_the_same_values(key: str, sentence: dict[str, str]) -> None:
    # Records are in English, so nothing of theirs is translated into it.
    needed = set(LANGUAGES) - ({OF_RECORDS} if key.startswith("translated.") else set())
    assert set(sentence) == needed
    assert all(sentence.values())
    assert len({frozenset(fields(text)) for text in sentence.values()}) == 1


def test_every_sentence_is_said_and_none_is_missing() -> None:
    keys = {key for key, _ in ENTRIES if not WORDS.fullmatch(key)}
    assert set.union(*map(said, TEMPLATES)) | {CUT} == keys


def test_the_sentences_on_hardware_are_said_in_their_template_only() -> None:
    own = tomllib.loads((REPORTS / "hardware.toml").read_text(encoding="utf-8"))
    assert said("hardware.md.j2") == {key for key, _ in list_entries(own)}


def test_every_word_of_the_records_has_a_translation() -> None:
    words: dict[str, set[str]] = {}
    for match in filter(None, (WORDS.fullmatch(key) for key, _ in ENTRIES)):
        words.setdefault(match[1], set()).add(match[2])
    levels = set(LEVEL_NAMES.values())
    outcomes = {outcome.value for outcome in Outcome}
    severities = {"fail", "warning", "note"}
    assert words == {
        "headline": outcomes,
        "outcome": outcomes,
        "observed": {"fail"},
        "severity": severities,
        "level": levels,
    }


@pytest.mark.parametrize("device", DEVICES.values(), ids=DEVICES)
def test_a_device_brings_the_name_of_its_level_in_each_language(device: Device) -> None:
    assert set(device.WORDS.level) == set(LANGUAGES)
    name = level_names(device.NAME)[device.LEVEL]
    assert {language: load_catalogue(language).translate("level", name) for language in LANGUAGES} == device.WORDS.level


def test_a_value_that_a_sentence_does_not_hold_is_an_error() -> None:
    catalogue = load_catalogue("en")
    assert catalogue.fill("verdict.proved", subject="It", proofs=1).endswith("in 1 check.")
    assert catalogue.fill("verdict.proved", subject="It", proofs=2).endswith("in 2 checks.")
    with pytest.raises(ValueError, match="no place for more"):
        catalogue.fill("verdict.proved", subject="It", proofs=2, more="x")
    with pytest.raises(KeyError):
        catalogue.fill("verdict.proved", subject="It")


def hostile(path: Path) -> Folder:
    return hostile_folder(path, "x\n## y | [e9] <!-- @ann `")


@pytest.mark.parametrize("make", [hostile, on_device, full, served_run, *ALL])
def test_both_comments_have_the_same_lines_and_name_the_same_files(tmp_path: Path, make: Any) -> None:
    loaded = load_judged(make(tmp_path))
    english, chinese = (render.render_comment(loaded, plan(), language=language) for language in LANGUAGES)
    assert FILES.findall(chinese) == FILES.findall(english)
    for sign in ("- ", "| ", "<", "```", "**"):
        assert chinese.count(f"\n{sign}") == english.count(f"\n{sign}")
    assert re.search(r"[\u4e00-\u9fff]{4}", chinese)


def test_no_english_sentence_is_left(tmp_path: Path) -> None:
    folder = full(tmp_path)
    (tmp_path / "verify/loaded.json").write_text("else")
    text = render.render_comment(load_judged(folder), plan(), language="zh")
    for key, sentence in ENTRIES:
        pieces = [piece for piece, _, _, _ in string.Formatter().parse(sentence.get("en", "")) if len(piece) > 12]
        assert not [piece for piece in pieces if piece in text], key
    assert text.startswith("**合入请求 7（`release/1`）：")


@pytest.mark.parametrize(
    ("device", "words"), [("emulator", "等级 2（最高 4），已仿真"), ("cpu", "等级 2（最高 4），已在 CPU 上检查")]
)
def test_the_levels_have_the_names_of_the_device(tmp_path: Path, device: str, words: str) -> None:
    assert words in render.render_comment(load_judged(proved(tmp_path, device=device)), plan(), language="zh")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_cut_is_said_in_the_language_of_the_comment(language: Language) -> None:
    text = render.fit_sections([("limits", "x" * 600), ("verdict", "short")], 300, language)
    assert text.endswith({"en": "report.html of the run._\n", "zh": "report.html。_\n"}[language])
