"""What changed between two runs: the code, the environment, the outcome. Made from what both folders can still show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from backproof.core.model import Record
from backproof.core.plural import format_count
from backproof.report.arm_differences import flatten
from backproof.report.view import EVIDENCE_GONE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from backproof.records.proof import Case
    from backproof.report.view import RunView

Topic = Literal["code", "environment", "outcome"]


class Change(Record):
    """One thing that is not the same; None where a run does not have it."""

    topic: Topic
    name: str
    before: str | None
    after: str | None


class RunDiff(Record):
    """`backproof diff --json`."""

    schema_version: Literal[1] = 1
    before: str = Field(description="id of the first run")
    after: str
    sentence: str
    changes: tuple[Change, ...]
    same: dict[Topic, int] = Field(description="how many things of each topic were compared and are the same")
    notes: tuple[str, ...] = Field(default=(), description="what could not be compared, and why")


def compare_runs(before: RunView, after: RunView) -> RunDiff:
    """Put everything that both runs show beside each other."""
    changes: list[Change] = []
    same: dict[Topic, int] = {}
    for topic, read in _TOPICS.items():
        facts_before, facts_after = dict(read(before)), dict(read(after))
        differences = list(_list_changes(topic, facts_before, facts_after))
        changes += differences
        same[topic] = len({*facts_before, *facts_after}) - len(differences)
    return RunDiff(
        before=before.run.id,
        after=after.run.id,
        sentence=_write_sentence(before, after, changes),
        changes=tuple(changes),
        same=same,
        notes=(*_list_notes(before), *_list_notes(after)),
    )


def _list_changes(topic: Topic, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Change]:
    for name in dict.fromkeys((*before, *after)):
        if before.get(name) != after.get(name):
            yield Change(topic=topic, name=name, before=before.get(name), after=after.get(name))


def _read_code(view: RunView) -> Iterator[tuple[str, str]]:
    yield "kit", view.run.kit
    if pick := view.loaded.pick:
        yield "branch", pick.branch
        yield from (("tree of base", pick.base_tree), ("tree of pick", pick.head_tree))
        yield from ((f"commit {commit.wanted}", f"{commit.outcome} from {commit.source}") for commit in pick.commits)
        yield from ((f"dropped {path}", "yes") for commit in pick.commits for path in commit.dropped)
    if fixup := view.loaded.fixup:
        yield "tree of fixed", fixup.head_tree
        yield from ((f"fix-up {landed.id}", landed.outcome) for landed in fixup.fixups)
        yield from ((f"file {change.path}", change.after or "absent") for change in fixup.changes)


def _read_environment(view: RunView) -> Iterator[tuple[str, str]]:
    yield "tool", view.run.tool
    yield from ((name, getattr(view.run.settings, name)) for name in ("repo", "python", "device"))
    if install := view.loaded.install:
        yield "installed by", install.mode
    yield from ((fact.name, fact.value) for fact in view.environment)
    if inventory := view.loaded.inventory:
        yield from (("driver", inventory.driver), ("runtime", inventory.runtime))
        yield from inventory.versions.items()


def _read_outcome(view: RunView) -> Iterator[tuple[str, str]]:
    yield "run", view.run.outcome
    yield "level", _show_level(view)
    yield from ((f"stage {stage.result.stage}", stage.outcome) for stage in view.stages)
    yield from ((f"claim {claim.name}", claim.outcome if claim.holds else EVIDENCE_GONE) for claim in view.claims)
    for load in view.loaded.serve.rounds if view.loaded.serve else ():
        yield f"{load.serve} on {load.arm}, round {load.number}", f"{load.observed}, held up to {load.reached} at once"
    for judged in (cases := view.judged_cases):
        case = judged.case
        yield _name_case(case), f"{case.observed}, {case.verdict}: {judged.outcome}" if judged.holds else EVIDENCE_GONE
    for case in (judged.case for judged in cases if judged.holds):
        yield f"{_name_case(case)}, steps", f"{case.steps_failed} of {case.steps} failed"
        yield from ((f"{_name_case(case)}, {key}", value) for key, value in flatten(case.observations))


def _name_case(case: Case) -> str:
    return f"{case.check} under {case.model} on {case.arm}"


_TOPICS: Mapping[Topic, Callable[[RunView], Iterator[tuple[str, str]]]] = {
    "code": _read_code,
    "environment": _read_environment,
    "outcome": _read_outcome,
}


def _write_sentence(before: RunView, after: RunView, changes: list[Change]) -> str:
    def count(topic: Topic) -> str:
        number = sum(change.topic == topic for change in changes)
        return format_count(number, "difference") if number else "the same"

    old, new = (f"{view.run.outcome} at level {_show_level(view)}" for view in (before, after))
    verdict = f"{old} → {new}" if old != new else new
    return f"{verdict}; code: {count('code')}; environment: {count('environment')}; outcome: {count('outcome')}."


def _show_level(view: RunView) -> str:
    return "none" if view.run.level is None else str(view.run.level)


def _list_notes(view: RunView) -> Iterator[str]:
    return (f"run {view.run.id}: {path} is missing or altered, and was not compared" for path in view.altered)
