"""Rules are data: one TOML table each, held to its own example by `backproof plan rules`. A new rule touches no Python."""

from __future__ import annotations

import tomllib
from collections import Counter
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
    from collections.abc import Iterator, Mapping, Sequence
    from importlib.resources.abc import Traversable
    from pathlib import Path

    from backproof.triage.line_header import Head

_Table = TypeVar("_Table", bound=Record)
Role = Literal["first-fault", "detail", "pointer", "secondary", "noise", "context"]


class Kind(Record):
    """A kind of first fault. See kinds.toml."""

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
    level: Literal["error", "any", "not-lower"] = Field(
        "error",
        description="of a plog line: errors, or all; other lines are tried, too, with `not-lower` unless they say a lower level",
    )
    kind: str | None = None
    priority: int = Field(50, description="the lowest that matches wins; equal ones in the order of the files")
    weight: int = Field(0, description="of a first fault: breaks ties and orders what has no clock")
    with_fault: bool = Field(default=False, description="noise that belongs to the dump of a fault beside it")
    fallback: bool = Field(default=False, description="a secondary error that is named when nothing better is there")
    timeout_default: int | None = Field(None, description="seconds to count back; a group `timeout` in the line wins")
    code: str = Field("", description="what a user sees of it, where the line does not say")
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
    """All rules, ready to match. `rules` is sorted: the first that matches wins."""

    rules: tuple[Rule, ...]
    kinds: Mapping[str, Kind]
    _sets: Mapping[str, tuple[Any, tuple[int, ...]]]

    def match_head(self, head: Head) -> int:
        """Return the index of the rule for a record, -1 for none."""
        matcher, numbers = self._sets[_get_lane(head)]
        hits = matcher.Match(head.subject)
        return numbers[min(hits)] if hits else -1

    def find_groups(self, number: int, subject: str) -> dict[str, str]:
        """Return the named groups of a rule's pattern in a subject that it matched."""
        pattern = self.rules[number].pattern
        hit = compile_pattern(pattern).search(subject) if "(?P<" in pattern else None
        return {name: value for name, value in hit.groupdict().items() if value} if hit else {}

    def get_kind(self, name: str | None) -> Kind | None:
        return self.kinds.get(name) if name else None


def _get_lane(head: Head) -> str:
    if head.form == "text":
        return "text-low" if head.level and not head.is_error else "text"
    if head.form == "kernel":
        return "kernel"
    return "plog" if head.is_error else "plog-any"


def _list_lanes(rule: Rule) -> tuple[str, ...]:
    lanes = ("plog", "text", "kernel") if rule.form == "any" else (rule.form,)
    low = ("text-low",) if "text" in lanes and rule.level != "not-lower" else ()
    return (*lanes, *low, *(("plog-any",) if rule.level == "any" and "plog" in lanes else ()))


@cache
def load_shipped_rules() -> RuleBook:
    """Return the rules that ship with the package."""
    return load_rules(resources.files("backproof.triage"))


def load_rules(folder: Traversable) -> RuleBook:
    """Load rules of `rules/*.toml` and kinds of `kinds.toml` in a folder; raises PlanError for a table that is none."""
    kinds = {
        name: _validate_table(Kind, "kinds.toml", value) for name, value in _read_tables(folder / "kinds.toml").items()
    }
    files = sorted(
        (file for file in (folder / "rules").iterdir() if file.name.endswith(".toml")), key=lambda file: file.name
    )
    rules = [_validate_table(Rule, file.name, value) for file in files for value in _read_tables(file).get("rule", [])]
    return _build_book(rules, kinds)


def _read_tables(file: Traversable) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except ValueError as error:  # no TOML, or no UTF-8
        raise _make_error(f"{file.name}: {error}") from error


def _validate_table(table: type[_Table], name: str, value: object) -> _Table:
    try:
        return table.model_validate(value)
    except ValidationError as error:
        raise _make_error(f"{name}: {error}") from error


def _make_error(why: str) -> PlanError:
    return PlanError(
        "A triage rule is invalid.", why=why, next_step="Correct the rule file, then run: backproof plan rules"
    )


def _build_book(unsorted: Sequence[Rule], kinds: Mapping[str, Kind]) -> RuleBook:
    rules = tuple(sorted(unsorted, key=lambda rule: rule.priority))
    sets = {name: _compile_set(rules, name) for name in ("plog", "plog-any", "text", "text-low", "kernel")}
    return RuleBook(rules=rules, kinds=kinds, _sets=sets)


@cache
def compile_pattern(pattern: str | bytes) -> Any:
    """Return the compiled pattern, the same object for the same pattern; that of bytes searches bytes."""
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)


def _compile_set(rules: Sequence[Rule], lane: str) -> tuple[Any, tuple[int, ...]]:
    numbers = tuple(number for number, rule in enumerate(rules) if lane in _list_lanes(rule))
    options = re2.Options()
    options.max_mem = 64 << 20  # the default of 8 MiB makes the automaton of all rules fall back to the slow engine
    options.log_errors = False
    matcher = re2.Set.SearchSet(options)
    for number in numbers:
        _add_rule(matcher, rules[number])
    matcher.Compile()
    return matcher, numbers


def _add_rule(matcher: Any, rule: Rule) -> None:
    try:
        matcher.Add(rule.pattern)
    except re2.error as refusal:
        raise _make_error(f"{rule.id}: {_explain_refusal(rule.pattern, refusal)}") from refusal


def _explain_refusal(pattern: str, refusal: Exception) -> object:
    """Return what is wrong with a pattern: a set only says that it did not take it."""
    try:
        compile_pattern(pattern)
    except re2.error as error:
        return error.args[0].decode()  # RE2 speaks in bytes
    return refusal


def check_rules(folder: Path | None = None) -> list[RuleFailure]:
    """Check every rule by itself and against the whole book: no other rule may take its example. Empty is good."""
    book = load_shipped_rules() if folder is None else load_rules(folder)
    ids = Counter(rule.id for rule in book.rules)
    twice = [RuleFailure(rule=name, problem="the id is used twice") for name in sorted(ids) if ids[name] > 1]
    return twice + [
        RuleFailure(rule=rule.id, problem=problem)
        for number, rule in enumerate(book.rules)
        for problem in _find_problems(book, number, rule)
    ]


def _find_problems(book: RuleBook, number: int, rule: Rule) -> Iterator[str]:
    if rule.kind is not None and rule.kind not in book.kinds:
        yield f"kind {rule.kind!r} is not in kinds.toml"
    if rule.role == "first-fault" and rule.kind is None:
        yield "a first fault needs a kind"
    winners = {book.match_head(head) for head in line_header.read_heads(rule.example.encode())}
    if not _matches_line(rule, rule.example):
        yield "does not match its example"
    elif number not in winners:
        yield f"its example is taken by {', '.join(book.rules[index].id for index in sorted(winners) if index >= 0)}"
    if _matches_line(rule, rule.counterexample):
        yield "matches its counterexample"


def _matches_line(rule: Rule, line: str) -> bool:
    pattern = compile_pattern(rule.pattern)
    heads = line_header.read_heads(line.encode())
    return any(_get_lane(head) in _list_lanes(rule) and pattern.search(head.subject) for head in heads)
