"""What changed between two runs: the code, the environment, the outcome. Made from what both folders can still show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from backproof.core.model import Record
from backproof.report.arm_differences import flat
from backproof.verdict.run_verdict import case_outcome, stage_outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from backproof.records.proof import Case
    from backproof.rundir.loaded_run import LoadedRun

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


def compare(before: LoadedRun, after: LoadedRun) -> RunDiff:
    """Everything that both runs say of themselves, beside each other."""
    changes: list[Change] = []
    same: dict[Topic, int] = {}
    for topic, read in _TOPICS.items():
        mine, theirs = dict(read(before)), dict(read(after))
        found = list(_changes(topic, mine, theirs))
        changes += found
        same[topic] = len({*mine, *theirs}) - len(found)
    return RunDiff(
        before=before.run.id,
        after=after.run.id,
        sentence=_sentence(before, after, changes),
        changes=tuple(changes),
        same=same,
        notes=(*_notes(before), *_notes(after)),
    )


def _changes(topic: Topic, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Change]:
    for name in dict.fromkeys((*before, *after)):
        if before.get(name) != after.get(name):
            yield Change(topic=topic, name=name, before=before.get(name), after=after.get(name))


def _code(story: LoadedRun) -> Iterator[tuple[str, str]]:
    yield "kit", story.run.kit
    if story.pick:
        yield "branch", story.pick.branch
        yield from (("tree of base", story.pick.base_tree), ("tree of pick", story.pick.head_tree))
        yield from ((f"commit {each.wanted}", f"{each.outcome} from {each.source}") for each in story.pick.commits)
        yield from ((f"dropped {path}", "yes") for each in story.pick.commits for path in each.dropped)
    if story.fixup:
        yield "tree of fixed", story.fixup.head_tree
        yield from ((f"fix-up {each.id}", each.outcome) for each in story.fixup.fixups)
        yield from ((f"file {each.path}", each.after or "absent") for each in story.fixup.changes)


def _environment(story: LoadedRun) -> Iterator[tuple[str, str]]:
    yield "tool", story.run.tool
    yield from ((name, getattr(story.run.settings, name)) for name in ("repo", "python", "device"))
    if story.install:
        yield story.install.distribution, story.install.version
        yield "installed by", story.install.mode
    if story.validate:
        yield from story.validate.device_facts.items()
    if story.inventory:
        yield from (("driver", story.inventory.driver), ("runtime", story.inventory.runtime))
        yield from story.inventory.versions.items()


def _outcome(story: LoadedRun) -> Iterator[tuple[str, str]]:
    yield "run", story.run.outcome
    yield "level", "none" if story.run.level is None else str(story.run.level)
    yield from ((f"stage {each.stage}", stage_outcome(each, story)) for each in story.stages)
    yield from ((f"claim {each.name}", each.outcome) for each in story.claims)
    for each in story.serve.rounds if story.serve else ():
        yield f"{each.serve} on {each.arm}, round {each.number}", f"{each.observed}, held up to {each.reached} at once"
    for case in story.cases:
        yield _name(case), f"{case.observed}, {case.verdict}: {case_outcome(case)}"
    for case in story.cases:
        yield f"{_name(case)}, steps", f"{case.steps_failed} of {case.steps} failed"
        yield from ((f"{_name(case)}, {key}", value) for key, value in flat(case.observations))


def _name(case: Case) -> str:
    return f"{case.check} under {case.model} on {case.arm}"


_TOPICS: Mapping[Topic, Callable[[LoadedRun], Iterator[tuple[str, str]]]] = {
    "code": _code,
    "environment": _environment,
    "outcome": _outcome,
}


def _sentence(before: LoadedRun, after: LoadedRun, changes: list[Change]) -> str:
    def reads(topic: Topic) -> str:
        count = sum(each.topic == topic for each in changes)
        return f"{count} {'difference' if count == 1 else 'differences'}" if count else "the same"

    verdict = f"{_verdict(before)} → {_verdict(after)}" if _verdict(before) != _verdict(after) else _verdict(after)
    return f"{verdict}; code: {reads('code')}; environment: {reads('environment')}; outcome: {reads('outcome')}."


def _verdict(story: LoadedRun) -> str:
    return f"{story.run.outcome} at level {'none' if story.run.level is None else story.run.level}"


def _notes(story: LoadedRun) -> Iterator[str]:
    for path in sorted(story.altered):
        yield f"run {story.run.id}: {path} is missing or altered, and was not compared"
