"""Rule out hypotheses by the server's numbers: two of them refute a whole class of suspicions (post-mortem, section 4.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from backproof.records.triage import Hypothesis, Sample, Server
from backproof.triage import serverlog, timestamps

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backproof.core.vllm_statistics import EngineStatistics
    from backproof.triage.serverlog import ServerMark

Pace = Literal["running", "slow", "stuck", "unknown"]
_MEMORY: Final = "the device ran out of memory"
_LAST: Final = 6
_SAMPLES: Final = 500
_FULL: Final = 90.0
_LOW: Final = 50.0
_FRAMES: Final = 30


def describe_server(marks: Sequence[ServerMark], *, kind: str | None, fault: int | None) -> Server | None:
    """Return the server's part of the result; None when no server log was read. `fault` in microseconds."""
    if not marks:
        return None
    loads = [(mark.time, mark.statistics) for mark in marks if mark.statistics is not None]
    before = [load for at, load in loads if fault is None or at is None or at <= fault]
    pace, why = _judge_pace(before, stalls=sum(mark.name == "stall" for mark in marks))
    raised = {mark.rank for mark in marks if mark.name in {"frame", "raised"} and mark.rank is not None}
    healthy = next((mark.time for mark in marks if mark.name == "healthy"), None)
    return Server(
        samples=tuple(
            Sample.model_validate(
                {"us": at} | {name: getattr(load, name) for name in Sample.model_fields if name != "us"}
            )
            for at, load in loads[-_SAMPLES:]
        ),
        healthy_at=None if healthy is None else timestamps.format_time(healthy),
        pace=pace,
        pace_why=why,
        stack=_find_stack(marks),
        ranks=tuple(sorted(raised)),
        spread=_measure_spread(raised, {mark.rank for mark in marks if mark.rank is not None}),
        hypotheses=tuple(_judge_hypotheses(before[-_LAST:], kind)),
    )


def _find_stack(marks: Sequence[ServerMark]) -> tuple[str, ...]:
    """Return the frames of the first process that raised, as it printed them."""
    frames = [mark for mark in marks if mark.name == "frame"]
    own_frames = [mark for mark in frames if (mark.pid, mark.rank) == (frames[0].pid, frames[0].rank)]
    return tuple(frame for mark in own_frames[:_FRAMES] if (frame := serverlog.format_frame(mark.text)))


def _measure_spread(
    ranks: set[int], logged: set[int]
) -> Literal["single rank", "several ranks", "all ranks", "unknown"]:
    if len(ranks) < 2:
        return "single rank" if ranks else "unknown"
    return "all ranks" if len(ranks) == max(ranks) + 1 and ranks == logged else "several ranks"


def _judge_pace(loads: Sequence[EngineStatistics], stalls: int) -> tuple[Pace, str]:
    """Tell slow from stuck (post-mortem, section 8.3), as far as a log can say it: utilisation is not in it."""
    last = loads[-_LAST:]
    idle = [load.generation == 0 and load.running > 0 for load in last]
    if stalls and not last:
        return "stuck", f"{stalls} reports that a worker did not answer for 60 s"
    if not last:
        return "unknown", "no statistics"
    if stalls or (len(idle) > 1 and all(idle[-2:])):
        shares = f"{sum(idle)} of the last {len(last)} statistics"
        return "stuck", f"{shares} show requests running and no tokens, {stalls} stalls"
    best, now = max(load.generation for load in loads), last[-1].generation
    if last[-1].running and now < best / 4:
        return "slow", f"{now} tokens/s now, {best} tokens/s at best"
    return "running", f"{now} tokens/s with {last[-1].running} running"


def _judge_hypotheses(last: Sequence[EngineStatistics], kind: str | None) -> Iterator[Hypothesis]:
    """Judge what the last statistics before the fault speak for or against; what they leave open is not named."""
    if kind == "oom":
        yield Hypothesis(hypothesis=_MEMORY, evidence="the first fault is a refused allocation", verdict="confirmed")
    if not last:
        return
    yield from _judge_cache([load.cache for load in last if load.cache is not None], last, kind)
    counted = [load.preemptions for load in last if load.preemptions is not None]
    waiting, running = max(load.waiting for load in last), max(load.running for load in last)
    yield Hypothesis(
        hypothesis="requests were preempted",
        evidence=f"{max(counted)} preemptions" if any(counted) else f"{waiting} waiting at most",
        verdict="confirmed" if any(counted) else "ruled out" if counted or not waiting else "possible",
    )
    yield Hypothesis(
        hypothesis="the fault needs concurrency",
        evidence=f"{running} running at most",
        verdict="possible" if running > 1 else "ruled out",
    )


def _judge_cache(caches: Sequence[float], last: Sequence[EngineStatistics], kind: str | None) -> Iterator[Hypothesis]:
    if not caches:
        return
    top, waiting = max(caches), max(load.waiting for load in last)
    evidence = f"cache {top}% at most, {waiting} waiting at most"
    if top >= _FULL or (top < _LOW and not waiting):
        yield Hypothesis(
            hypothesis="KV cache or state pool is full",
            evidence=evidence,
            verdict="possible" if top >= _FULL else "ruled out",
        )
    if kind != "oom" and (kind is not None or top < _LOW):
        evidence = f"no refused allocation before the fault, cache {top}% at most"
        yield Hypothesis(hypothesis=_MEMORY, evidence=evidence, verdict="ruled out")
