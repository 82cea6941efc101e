"""Rule out hypotheses by the server's numbers: two of them refute a whole class of suspicions (post-mortem, section 4.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from backproof.records.triage import Hypothesis, Sample, Server
from backproof.triage import serverlog, timestamps
from backproof.triage.timestamps import SECOND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.core.vllm_statistics import EngineStatistics
    from backproof.triage.serverlog import ServerMark

Verdict = Literal["ruled out", "possible", "confirmed", "unknown"]
Pace = Literal["running", "slow", "stuck", "unknown"]
_LAST: Final = 6
_SILENCE: Final = 60 * SECOND
_SAMPLES: Final = 500
_FULL: Final = 90.0
_LOW: Final = 50.0
_FRAMES: Final = 30


def describe_server(
    loads: Sequence[tuple[int | None, EngineStatistics]],
    marks: Sequence[tuple[int | None, ServerMark]],
    *,
    kind: str | None,
    fault: int | None,
) -> Server | None:
    """Return the server's part of the result; None when no server log was read. Times in microseconds."""
    if not loads and not marks:
        return None
    before = [pair for pair in loads if fault is None or pair[0] is None or pair[0] <= fault]
    pace, why = _judge_pace(before, marks)
    ranks = tuple(
        sorted({mark.rank for _, mark in marks if mark.name in {"frame", "raised"} and mark.rank is not None})
    )
    healthy = next((at for at, mark in marks if mark.name == "healthy"), None)
    return Server(
        samples=tuple(_make_sample(at, load) for at, load in loads[-_SAMPLES:]),
        healthy_at=None if healthy is None else timestamps.format_time(healthy),
        pace=pace,
        pace_why=why,
        stack=_find_stack([mark for _, mark in marks]),
        ranks=ranks,
        spread=_measure_spread(ranks, marks),
        hypotheses=tuple(_judge_hypotheses([load for _, load in before[-_LAST:]], kind)),
    )


def _make_sample(at: int | None, load: EngineStatistics) -> Sample:
    return Sample(
        us=at,
        prompt=load.prompt,
        generation=load.generation,
        running=load.running,
        waiting=load.waiting,
        cache=load.cache,
    )


def _find_stack(marks: Sequence[ServerMark]) -> tuple[str, ...]:
    """Return the frames of the first process that raised, as it printed them."""
    frames = [mark for mark in marks if mark.name == "frame"]
    own_frames = (
        [mark for mark in frames if mark.pid == frames[0].pid and mark.rank == frames[0].rank] if frames else []
    )
    return tuple(frame for mark in own_frames[:_FRAMES] if (frame := serverlog.format_frame(mark.text)))


def _measure_spread(
    ranks: tuple[int, ...], marks: Sequence[tuple[int | None, ServerMark]]
) -> Literal["single rank", "several ranks", "all ranks", "unknown"]:
    logged = {mark.rank for _, mark in marks if mark.rank is not None}
    if not ranks:
        return "unknown"
    if len(ranks) == 1:
        return "single rank"
    return "all ranks" if len(ranks) == max(ranks) + 1 and set(ranks) == logged else "several ranks"


def _judge_pace(
    loads: Sequence[tuple[int | None, EngineStatistics]], marks: Sequence[tuple[int | None, ServerMark]]
) -> tuple[Pace, str]:
    """Tell slow from stuck (post-mortem, section 8.3), as far as a log can say it: utilisation is not in it."""
    last = [load for _, load in loads[-_LAST:]]
    stalls = sum(mark.name == "stall" for _, mark in marks)
    if not last:
        return (
            ("stuck", f"{stalls} reports that a worker did not answer for 60 s")
            if stalls
            else ("unknown", "no statistics")
        )
    idle = [load for load in last if load.generation == 0 and load.running > 0]
    if stalls or len(idle) == len(last):
        return (
            "stuck",
            f"{len(idle)} of the last {len(last)} statistics show requests running and no tokens, {stalls} stalls",
        )
    best = max(load.generation for _, load in loads)
    now = last[-1].generation
    if last[-1].running and now < best / 4:
        return "slow", f"{now} tokens/s now, {best} tokens/s at best"
    return "running", f"{now} tokens/s with {last[-1].running} running"


def _judge_hypotheses(last: Sequence[EngineStatistics], kind: str | None) -> list[Hypothesis]:
    return [_judge_capacity(last), _judge_preemption(last), _judge_memory(last, kind), _judge_load(last)]


def _judge_capacity(last: Sequence[EngineStatistics]) -> Hypothesis:
    caches = [load.cache for load in last if load.cache is not None]
    if not caches:
        return _make_unknown("KV cache or state pool is full")
    top, waiting = max(caches), max(load.waiting for load in last)
    verdict: Verdict = "possible" if top >= _FULL else "ruled out" if top < _LOW and not waiting else "unknown"
    return Hypothesis(
        hypothesis="KV cache or state pool is full",
        evidence=f"cache {top}% at most, {waiting} waiting at most",
        verdict=verdict,
    )


def _judge_preemption(last: Sequence[EngineStatistics]) -> Hypothesis:
    if not last:
        return _make_unknown("requests were preempted")
    counted = [load.preemptions for load in last if load.preemptions is not None]
    waiting = max(load.waiting for load in last)
    most = max(counted, default=0)
    if most:
        return Hypothesis(hypothesis="requests were preempted", evidence=f"{most} preemptions", verdict="confirmed")
    verdict: Verdict = "ruled out" if not waiting or counted else "possible"
    return Hypothesis(hypothesis="requests were preempted", evidence=f"{waiting} waiting at most", verdict=verdict)


def _judge_memory(last: Sequence[EngineStatistics], kind: str | None) -> Hypothesis:
    name = "the device ran out of memory"
    if kind == "oom":
        return Hypothesis(hypothesis=name, evidence="the first fault is a refused allocation", verdict="confirmed")
    caches = [load.cache for load in last if load.cache is not None]
    if not caches:
        return _make_unknown(name)
    verdict: Verdict = "ruled out" if kind is not None or max(caches) < _LOW else "unknown"
    return Hypothesis(
        hypothesis=name,
        evidence=f"no refused allocation before the fault, cache {max(caches)}% at most",
        verdict=verdict,
    )


def _judge_load(last: Sequence[EngineStatistics]) -> Hypothesis:
    if not last:
        return _make_unknown("the fault needs concurrency")
    running = max(load.running for load in last)
    verdict: Verdict = "possible" if running > 1 else "ruled out"
    return Hypothesis(hypothesis="the fault needs concurrency", evidence=f"{running} running at most", verdict=verdict)


def _make_unknown(name: str) -> Hypothesis:
    return Hypothesis(hypothesis=name, evidence="no statistics before the fault", verdict="unknown")
