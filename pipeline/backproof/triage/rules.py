"""Rules are data: one TOML table each, held to its own example when it is loaded. A new rule touches no Python."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import re2
from pydantic import Field, ValidationError

from backproof.core.errors import PlanError
from backproof.core.model import Record
from backproof.triage import line_header

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from importlib.resources.abc import Traversable
    from pathlib import Path

    from backproof.triage.line_header import Head

_Table = TypeVar("_Table", bound=Record)
Role = Literal["first-fault", "detail", "pointer", "secondary", "noise", "context"]


class Kind(Record):
    """What a first fault is. See kinds.toml."""

    family: str
    generic: bool = False
    survivable: bool = False
    meaning: str
    advice: str


class Rule(Record):
    """One shape of line. `pattern` is RE2 syntax and is searched in the subject of a head."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    pattern: str
    role: Role
    form: Literal["plog", "text", "kernel", "any"] = "any"
    level: Literal["error", "any"] = Field(
        "error", description="of a plog line; text and kernel lines are always tried"
    )
    kind: str | None = None
    priority: int = Field(50, description="the lowest that matches wins; equal ones in the order of the files")
    weight: int = Field(0, description="of a first fault: breaks ties and orders what has no clock")
    with_fault: bool = Field(default=False, description="noise that belongs to the dump of a fault beside it")
    fallback: bool = Field(default=False, description="a secondary error that is named when nothing better is there")
    timeout_default: int | None = Field(None, description="seconds to count back; a group `timeout` in the line wins")
    meaning: str
    advice: str = ""
    example: str
    counterexample: str
    source: str = ""


class RuleFailure(Record):
    """A rule that does not hold its own example."""

    rule: str
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleBook:
    """All rules, ready to match. `rules` is sorted: the first that matches is the answer."""

    rules: tuple[Rule, ...]
    kinds: Mapping[str, Kind]
    _sets: Mapping[str, tuple[Any, tuple[int, ...]]]
    _patterns: tuple[Any, ...]

    def match_head(self, head: Head) -> int:
        """Index of the rule for a record, -1 for none."""
        found, numbers = self._sets[_get_lane(head)]
        hits = found.Match(head.subject)
        return numbers[min(hits)] if hits else -1

    def find_groups(self, number: int, subject: str) -> dict[str, str]:
        """Named groups of a rule's pattern in a subject that it matched."""
        hit = self._patterns[number].search(subject)
        return {name: value for name, value in hit.groupdict().items() if value} if hit else {}

    def get_kind(self, name: str | None) -> Kind | None:
        return self.kinds.get(name) if name else None


def _get_lane(head: Head) -> str:
    if head.form != "plog":
        return head.form
    return "plog" if head.is_error else "plog-any"


def _list_lanes(rule: Rule) -> tuple[str, ...]:
    lanes = ("plog", "text", "kernel") if rule.form == "any" else (rule.form,)
    return (*lanes, "plog-any") if rule.level == "any" and "plog" in lanes else lanes


@cache
def load_shipped_rules() -> RuleBook:
    """The rules that ship with the package."""
    return load_rules(resources.files("backproof.triage"))


def load_rules(folder: Traversable) -> RuleBook:
    """Rules of `rules/*.toml` and kinds of `kinds.toml` in a folder; raises PlanError naming every broken rule."""
    kinds = {
        name: _validate_table(Kind, "kinds.toml", value) for name, value in _read_tables(folder / "kinds.toml").items()
    }
    files = sorted(
        (each for each in (folder / "rules").iterdir() if each.name.endswith(".toml")), key=lambda each: each.name
    )
    found = [_validate_table(Rule, each.name, value) for each in files for value in _read_tables(each).get("rule", [])]
    made = _build_book(found, kinds)
    broken = _check_rules(made)
    if broken:
        raise _make_error("; ".join(f"{each.rule}: {each.problem}" for each in broken))
    return made


def _read_tables(file: Traversable) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except ValueError as error:  # no TOML, or no UTF-8
        raise _make_error(f"{file.name}: {error}") from error


def _validate_table(what: type[_Table], name: str, value: object) -> _Table:
    try:
        return what.model_validate(value)
    except ValidationError as error:
        raise _make_error(f"{name}: {error}") from error


def _make_error(why: str) -> PlanError:
    return PlanError(
        "A triage rule is invalid.", why=why, next_step="Correct the rule file, then run: backproof plan rules"
    )


def _build_book(found: Sequence[Rule], kinds: Mapping[str, Kind]) -> RuleBook:
    rules = tuple(sorted(found, key=lambda rule: rule.priority))
    names = ("plog", "plog-any", "text", "kernel")
    patterns = tuple(_compile_rule(rule) for rule in rules)  # first, for it names the rule that is wrong
    return RuleBook(
        rules=rules,
        kinds=kinds,
        _sets={name: _compile_set(rules, name) for name in names},
        _patterns=patterns,
    )


def _compile_rule(rule: Rule) -> Any:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(rule.pattern, options)
    except re2.error as error:
        raise _make_error(f"{rule.id}: {error.args[0].decode()}") from error  # RE2 speaks in bytes


def _compile_set(rules: Sequence[Rule], lane: str) -> tuple[Any, tuple[int, ...]]:
    numbers = tuple(number for number, rule in enumerate(rules) if lane in _list_lanes(rule))
    options = re2.Options()
    options.max_mem = 64 << 20  # the default of 8 MiB makes the automaton of all rules fall back to the slow engine
    made = re2.Set.SearchSet(options)
    for number in numbers:
        made.Add(rules[number].pattern)
    made.Compile()
    return made, numbers


def _check_rules(made: RuleBook) -> list[RuleFailure]:
    """What is wrong with each rule by itself."""
    ids = [rule.id for rule in made.rules]
    broken = [
        RuleFailure(rule=each, problem="the id is used twice") for each in sorted({i for i in ids if ids.count(i) > 1})
    ]
    for number, rule in enumerate(made.rules):
        broken += [RuleFailure(rule=rule.id, problem=problem) for problem in _find_problems(made, number, rule)]
    return broken


def _find_problems(made: RuleBook, number: int, rule: Rule) -> list[str]:
    problems = []
    if rule.kind is not None and rule.kind not in made.kinds:
        problems.append(f"kind {rule.kind!r} is not in kinds.toml")
    if rule.role == "first-fault" and rule.kind is None:
        problems.append("a first fault needs a kind")
    if not _matches_line(made, number, rule, rule.example):
        problems.append("does not match its example")
    if _matches_line(made, number, rule, rule.counterexample):
        problems.append("matches its counterexample")
    return problems


def _matches_line(made: RuleBook, number: int, rule: Rule, line: str) -> bool:
    pattern = made._patterns[number]  # noqa: SLF001 - of this module's own class
    return any(
        _get_lane(head) in _list_lanes(rule) and pattern.search(head.subject)
        for head in line_header.read_heads(line.encode())
    )


def check_examples(folder: Path | None = None) -> list[RuleFailure]:
    """Every rule against the whole book: its example must be won by it, its counterexample must not. Empty is good."""
    made = load_shipped_rules() if folder is None else load_rules(folder)
    failures = []
    for number, rule in enumerate(made.rules):
        won = {made.match_head(head) for head in line_header.read_heads(rule.example.encode())}
        if number not in won:
            winner = ", ".join(made.rules[each].id for each in sorted(won) if each >= 0)
            failures.append(RuleFailure(rule=rule.id, problem=f"its example is taken by {winner}"))
    return failures
