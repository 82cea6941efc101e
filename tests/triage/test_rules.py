"""Rules as data: what ships holds, what is broken is refused by name, a new one needs no Python."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
import zipfile
from pathlib import Path

import backproof.triage
import pytest
from backproof.core.errors import PlanError
from backproof.triage import codes, line_header, rules
from backproof.triage.line_header import Head

PACKAGE = Path(backproof.triage.__file__).parent
NEW = """
[[rule]]
id = "frob-jam"
pattern = 'the frobnicator is jammed'
role = "first-fault"
kind = "driver"
meaning = "jam"
example = '[ERROR] FV(520,):2027-02-14-10:00:00.000.000 [frob.cc:12]520 Frob:the frobnicator is jammed'
counterexample = '[ERROR] FV(520,):2027-02-14-10:00:00.000.000 [frob.cc:12]520 Frob:fine'
"""


def copy(tmp_path: Path, text: str) -> Path:
    shutil.copytree(PACKAGE / "rules", tmp_path / "rules")
    shutil.copy(PACKAGE / "kinds.toml", tmp_path)
    (tmp_path / "rules" / "99-new.toml").write_text(text, encoding="utf-8", errors="surrogateescape")
    return tmp_path


def test_every_rule_wins_its_example() -> None:
    assert rules.check_rules() == []


def test_a_rule_that_another_takes_is_found(tmp_path: Path) -> None:
    late = NEW.replace("the frobnicator is jammed'\nrole", "context is abort'\nrole").replace(
        "Frob:the frobnicator is jammed", "Frob:context is abort"
    )
    failures = rules.check_rules(copy(tmp_path, late))
    assert failures == [rules.RuleFailure(rule="frob-jam", problem="its example is taken by context-abort")]


def test_a_new_rule_is_one_table(tmp_path: Path) -> None:
    book = rules.load_rules(copy(tmp_path, NEW))
    line = b"[ERROR] FV(9,):2027-02-14-11:00:00.000.000 [frob.cc:12]9 Frob:the frobnicator is jammed"
    assert book.rules[book.match_head(line_header.read_heads(line)[0])].id == "frob-jam"


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (
            "frobnicator is jammed'\nrole",
            "frobnicator is jammed$x'\nrole",
            r"frob-jam: does not match its example",
        ),
        ("Frob:fine", "Frob:the frobnicator is jammed", r"frob-jam: matches its counterexample"),
        ('kind = "driver"', 'kind = "drivr"', r"frob-jam: kind 'drivr' is not in kinds\.toml"),
        ('kind = "driver"\n', "", r"frob-jam: a first fault needs a kind"),
        (
            'kind = "driver"\nmeaning = "jam"\nexample = \'[ERROR]',
            'meaning = "jam"\nexample = \'[INFO]',
            r"frob-jam: a first fault needs a kind; frob-jam: does not match its example",
        ),
        ('id = "frob-jam"', 'id = "context-abort"', r"context-abort: the id is used twice"),
    ],
)
def test_a_broken_rule_is_named(tmp_path: Path, before: str, after: str, message: str) -> None:
    assert before in NEW
    failures = rules.check_rules(copy(tmp_path, NEW.replace(before, after)))
    assert re.fullmatch(message, describe(failures))


def describe(failures: list[rules.RuleFailure]) -> str:
    return "; ".join(f"{failure.rule}: {failure.problem}" for failure in failures)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("pattern = 'the", "pattern = '(the", r"frob-jam: missing \): \(the frobnicator is jammed"),
        ('meaning = "jam"', 'meening = "jam"', r"99-new\.toml: (?s:.*)meening(?s:.*)"),
        ("[[rule]]", "[[rule]", r"99-new\.toml: (?s:.*)"),
        ("[[rule]]", "[rule]", r"99-new\.toml: (?s:.*)"),
        ('"jam"', '"\udcff"', r"99-new\.toml: .*utf-8.*"),
    ],
)
def test_what_is_no_rule_is_refused_by_name(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], before: str, after: str, message: str
) -> None:
    assert before in NEW
    with pytest.raises(PlanError) as caught:
        rules.load_rules(copy(tmp_path, NEW.replace(before, after)))
    error = caught.value
    assert re.fullmatch(message, error.why), error.why
    assert error.what == "A triage rule is invalid."
    assert error.next_step == "Correct the rule file, then run: backproof plan rules"
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [("[driver", r"kinds\.toml: .*"), ("[driver]\nfamily = 3", r"kinds\.toml: (?s:.*)family(?s:.*)")],
)
def test_broken_kinds_are_refused_by_name(tmp_path: Path, text: str, message: str) -> None:
    folder = copy(tmp_path, NEW)
    (folder / "kinds.toml").write_text(text, "utf-8")
    with pytest.raises(PlanError) as caught:
        rules.load_rules(folder)
    assert re.fullmatch(message, caught.value.why), caught.value.why


KINDS = '[driver]\nfamily = "driver"\nmeaning = "é"\nadvice = "look"\n'


def table(name: str, **changed: str) -> str:
    """A rule of its own: its pattern is its name."""
    rule = {
        "id": name,
        "pattern": name,
        "role": "secondary",
        "meaning": "é",
        "example": f"[ERROR] FV(5,):x {name}",
        "counterexample": "nothing",
    }
    return "[[rule]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in (rule | changed).items())


def written(folder: Path, **files: str) -> Path:
    (folder / "rules").mkdir()
    (folder / "kinds.toml").write_text(KINDS, "utf-8")
    for name, text in files.items():
        (folder / "rules" / name.replace("__", ".")).write_text(text, "utf-8")
    return folder


def test_ids_that_are_used_twice_are_named_once_each_in_order(tmp_path: Path) -> None:
    text = "".join(table(name) for name in ["c", "a", "b", "a", "b", "c", "c", "once"])
    failures = rules.check_rules(written(tmp_path, x__toml=text))
    assert describe(failures[:3]) == "; ".join(f"{name}: the id is used twice" for name in "abc")


def test_the_lowest_priority_wins_then_the_order_of_the_files(tmp_path: Path) -> None:
    rule_book = rules.load_rules(
        written(
            tmp_path,
            b__toml=table("five") + table("six"),
            a__toml=table("four"),
            c__toml=table("seven").replace("[[rule]]", "[[rule]]\npriority = 51")
            + table("first").replace("[[rule]]", "[[rule]]\npriority = 49"),
            d__toml="",
            a__txt="no rules",
        )
    )
    assert [rule.id for rule in rule_book.rules] == ["first", "four", "five", "six", "seven"]
    for subject, number in [("seven six five", 2), ("seven", 4), ("six seven first", 0), ("none", -1)]:
        assert rule_book.match_head(Head(form="text", subject=subject)) == number


class Archive(zipfile.Path):
    """A package in an archive: its files have no order of their own, and text is not UTF-8 unless that is said."""

    def read_text(self, encoding: str | None = None) -> str:  # type: ignore[override]
        return self.read_bytes().decode(encoding or "ascii")


def test_rules_are_read_from_a_package_in_an_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "package.zip", "w") as packed:
        packed.writestr("kinds.toml", KINDS)
        packed.writestr("rules/b.toml", table("late"))
        packed.writestr("rules/a.toml", table("early"))
    rule_book = rules.load_rules(Archive(tmp_path / "package.zip"))
    assert [rule.id for rule in rule_book.rules] == ["early", "late"]
    assert rule_book.get_kind("driver") == rules.Kind(family="driver", meaning="é", advice="look")
    assert (rule_book.get_kind("none such"), rule_book.get_kind(None), rule_book.get_kind("")) == (None, None, None)


HEADS = {
    "plog": Head(form="plog", level="ERROR", subject="x"),
    "critical": Head(form="plog", level="CRITICAL", subject="x"),
    "plog-any": Head(form="plog", level="INFO", subject="x"),
    "text": Head(form="text", level="INFO", subject="x"),
    "kernel": Head(form="kernel", subject="x"),
}


@pytest.mark.parametrize(
    ("form", "level", "matched"),
    [
        ("any", "error", {"plog", "critical", "text", "kernel"}),
        ("any", "any", {"plog", "critical", "plog-any", "text", "kernel"}),
        ("plog", "error", {"plog", "critical"}),
        ("plog", "any", {"plog", "critical", "plog-any"}),
        ("text", "error", {"text"}),
        ("text", "any", {"text"}),
        ("kernel", "error", {"kernel"}),
        ("kernel", "any", {"kernel"}),
    ],
)
def test_a_rule_is_tried_on_its_form_and_level_only(tmp_path: Path, form: str, level: str, matched: set[str]) -> None:
    """By the book, and by the check of its example, which says so where the form is another."""
    rule_book = rules._build_book(
        [rules.Rule.model_validate(tomllib.loads(table("x", form=form, level=level))["rule"][0])], {}
    )
    assert {name for name, head in HEADS.items() if rule_book.match_head(head) == 0} == matched
    examples = {"plog": "[ERROR] F(5,):x", "plog-any": "[INFO] F(5,):x", "text": "x", "kernel": "[ 1.5] x"}
    text = "".join(
        table(name, pattern="x", form=form, level=level, example=line) for name, line in sorted(examples.items())
    )
    wrong = [f"{name}: does not match its example" for name in sorted(examples) if name not in matched]
    failures = rules.check_rules(written(tmp_path, x__toml=text))
    assert [line for line in map(describe, ([one] for one in failures)) if "taken by" not in line] == wrong


def test_groups_of_a_rule_are_those_that_were_there(tmp_path: Path) -> None:
    texts = (table("x"), table("y", pattern="y(?P<a>[0-9])(?P<b>[0-9])?(?P<c>z*)", example="y1"))
    rule_book = rules.load_rules(written(tmp_path, x__toml="".join(texts)))
    assert rule_book.find_groups(1, "a y12zz") == {"a": "1", "b": "2", "c": "zz"}
    assert rule_book.find_groups(1, "a y1") == {"a": "1"}
    assert rule_book.find_groups(1, "x") == {}
    assert rule_book.find_groups(0, "x") == {}


def test_an_example_that_others_take_names_all_of_them(tmp_path: Path) -> None:
    """An example of three records: two are taken, one is nobody's; the rule itself comes last of those that match."""
    two = "[ERROR] A(5,):first late[ERROR] B(5,):fine[ERROR] C(5,):second"
    text = table("first") + table("second") + table("late", example=two) + table("own")
    failures = rules.check_rules(written(tmp_path, x__toml=text))
    assert failures == [rules.RuleFailure(rule="late", problem="its example is taken by first, second")]


def test_every_kind_is_used() -> None:
    book = rules.load_shipped_rules()
    used = {rule.kind for rule in book.rules} | {"unknown"}
    for name, table in codes.load_tables().items():
        used |= set(table.entries.values()) if name.endswith("_kind") else set()
    assert set(book.kinds) - used == set()


def test_a_chain_is_completed() -> None:
    chain = codes.build_chain(codes.find_codes("Kernel task happen error, retCode=0x31, [vector core exception]."))
    assert [code.code for code in chain] == ["0x31", "0x715005e", "507035"]
    assert all(code.source for code in chain)


def test_codes_are_normal() -> None:
    assert codes.decode_code("inner", "0x07150050").meaning == codes.decode_code("inner", "0x7150050").meaning != ""
    assert codes.decode_code("acl", "999999").meaning == ""


def test_all_three_members_of_an_aicore_error_are_decoded() -> None:
    def decode(text: str) -> list[tuple[str, str | None]]:
        return [(code.table, codes.find_kind(code)) for code in codes.find_codes(f"The extend info: errcode:({text})")]

    assert decode("0x800000, 0, 0") == [("aicore", "mte-out-of-range")]
    assert decode("0, 0x200000000000000, 0") == [("aicore2", "mte-out-of-range")]
    assert decode("0, 0, 0x10000000") == [("aicore3", "memory-ecc")]
    assert decode("0, 0, 0") == [("aicore", None)]


@pytest.mark.parametrize(
    ("code", "kind"),
    [("0x80CF8009", "sdma"), ("0x80E18402", "memory-ecc"), ("0x81078603", "link"), ("0x8C084E00", None)],
)
def test_a_device_event_is_taken_apart(code: str, kind: str | None) -> None:
    event = codes.decode_code("event", code)
    assert event.meaning
    assert codes.find_kind(event) == kind


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("EI0001", "hccl-config"), ("EI0012", "sdma"), ("EJ0001", "driver"), ("EL0008", "resource"), ("EL0004", "oom"),
        ("E40020", "environment"), ("E90001", "compile"), ("EZ3002", "unsupported"), ("E60118", "aclnn-param"), ("E89999", None),
    ],
)  # fmt: skip
def test_an_alarm_has_the_kind_of_its_title(code: str, kind: str | None) -> None:
    assert codes.find_kind(codes.decode_code("alarm_code", code)) == kind
