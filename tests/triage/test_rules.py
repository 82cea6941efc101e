"""Rules as data: what ships holds, what is broken is refused by name, a new one needs no Python."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import pipeline.triage
from pipeline.errors import PlanError
from pipeline.triage import codes, heads, joins, rules

PACKAGE = Path(pipeline.triage.__file__).parent
NEW = """
[[rule]]
id = "frob-jam"
pattern = 'the frobnicator is jammed'
role = "first-scene"
kind = "driver"
meaning = "jam"
example = '[ERROR] FV(520,):2027-02-14-10:00:00.000.000 [frob.cc:12]520 Frob:the frobnicator is jammed'
counterexample = '[ERROR] FV(520,):2027-02-14-10:00:00.000.000 [frob.cc:12]520 Frob:fine'
"""


def copy(tmp_path: Path, text: str) -> Path:
    shutil.copytree(PACKAGE / "rules", tmp_path / "rules")
    shutil.copy(PACKAGE / "kinds.toml", tmp_path)
    (tmp_path / "rules" / "99-new.toml").write_text(text, encoding="utf-8")
    return tmp_path


def test_every_rule_wins_its_example() -> None:
    assert rules.selftest() == []


def test_a_rule_that_another_takes_is_found(tmp_path: Path) -> None:
    late = NEW.replace("the frobnicator is jammed'\nrole", "context is abort'\nrole").replace(
        "Frob:the frobnicator is jammed", "Frob:context is abort"
    )
    failures = rules.selftest(copy(tmp_path, late))
    assert [each.rule for each in failures] == ["frob-jam"]
    assert "context-abort" in failures[0].problem


def test_a_new_rule_is_one_table(tmp_path: Path) -> None:
    book = rules.load(copy(tmp_path, NEW))
    line = b"[ERROR] FV(9,):2027-02-14-11:00:00.000.000 [frob.cc:12]9 Frob:the frobnicator is jammed"
    assert book.rules[book.match(heads.read(line)[0])].id == "frob-jam"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("frobnicator is jammed'\nrole", "frobnicator is jammed$x'\nrole", "does not match its example"),
        ("Frob:fine", "Frob:the frobnicator is jammed", "matches its counterexample"),
        ('kind = "driver"', 'kind = "drivr"', "not in kinds.toml"),
        ('kind = "driver"\n', "", "needs a kind"),
        ("pattern = 'the", "pattern = '(the", "frob-jam"),
        ('meaning = "jam"', 'meening = "jam"', "meening"),
        ('id = "frob-jam"', 'id = "context-abort"', "used twice"),
        ("[[rule]]", "[[rule]", "99-new.toml"),
    ],
)
def test_a_broken_rule_is_refused_by_name(tmp_path: Path, before: str, after: str, said: str) -> None:
    assert before in NEW
    with pytest.raises(PlanError) as caught:
        rules.load(copy(tmp_path, NEW.replace(before, after)))
    assert said in str(caught.value)


def test_every_kind_is_used() -> None:
    book = rules.book()
    used = {rule.kind for rule in book.rules} | set(codes.tables()["ts_kind"].entries.values())
    used |= set(codes.tables()["aicore_kind"].entries.values()) | {"unknown"}
    assert set(book.kinds) - used == set()


@pytest.mark.parametrize(
    ("status", "result", "queue", "task"),
    [("0x103a000c", 1, 58, 12), ("0x14db0028", 1, 1243, 40), ("0x2000ffff", 2, 0, 65535)],
)
def test_status_words(status: str, result: int, queue: int, task: int) -> None:
    assert joins.pointer(status) == joins.Pointer(result=result, queue=queue, task=task)


def test_a_chain_is_completed() -> None:
    found = codes.chain(codes.seen("Kernel task happen error, retCode=0x31, [vector core exception]."))
    assert [code.code for code in found] == ["0x31", "0x715005e", "507035"]
    assert all(code.source for code in found)


def test_codes_are_normal() -> None:
    assert codes.decode("inner", "0x07150050").meaning == codes.decode("inner", "0x7150050").meaning != ""
    assert codes.decode("acl", "999999").meaning == ""
