"""One concurrency: what came back, how fast, and whether it was the right thing."""

from __future__ import annotations

import statistics
from collections import Counter
from typing import TYPE_CHECKING

from backproof.records.serving import Output, Spread, Step
from backproof.serving import correctness

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from backproof.records.serving import StepOutcome
    from backproof.serving.client import Reply
    from backproof.serving.load import Wave


def output(reply: Reply) -> Output:
    return Output(text=reply.text, tokens=tuple(reply.tokens), likely=tuple(reply.likely), finish=reply.finish)


def spread(seconds: Iterable[float | None]) -> Spread | None:
    """Percentiles by rank, as `vllm bench serve` has them; None where nothing was measured."""
    values = sorted(1000 * each for each in seconds if each is not None)
    if not values:
        return None

    def rank(share: float) -> float:
        place = share * (len(values) - 1)
        low = int(place)
        high = min(low + 1, len(values) - 1)
        return round(values[low] + (values[high] - values[low]) * (place - low), 3)

    return Spread(mean=round(statistics.fmean(values), 3), p50=rank(0.5), p90=rank(0.9), p99=rank(0.99))


def judged(
    concurrency: int, wave: Wave, alone: Sequence[Output], *, exact: bool, bench: dict[str, float] | None
) -> Step:
    """The step as a record. A failed request weighs more than a wrong output: after it, outputs are cut."""
    failed = [each for each in wave.replies if not each.ok]
    seen = Counter[str]()
    remarks: list[str] = []
    for reply in (each for each in wave.replies if each.ok):
        how, said = _held_against(alone[reply.prompt], output(reply), exact=exact)
        seen[how] += 1
        if how in {"corrupt", "differs"}:
            remarks.append(f"prompt {reply.prompt}: {said}"[:400])
    outcome, sentence = _outcome(concurrency, failed, seen, remarks)
    good = [each for each in wave.replies if each.ok]
    return Step(
        concurrency=concurrency,
        outcome=outcome,
        sentence=sentence,
        requests=len(wave.replies) + wave.unsent,
        ok=len(good),
        failed=len(failed),
        unsent=wave.unsent,
        seconds=round(wave.seconds, 3),
        request_rate=round(len(good) / wave.seconds, 3),
        token_rate=round(sum(each.count for each in good) / wave.seconds, 3),
        ttft=spread(each.first for each in good),
        tpot=spread(each.per_token for each in good),
        load=wave.load,
        same=seen["same"],
        ties=seen["tie"],
        failures=tuple([*(f"{each.failure}: {each.why}"[:400] for each in failed), *remarks][:8]),
        bench=bench,
    )


def _held_against(alone: Output, loaded: Output, *, exact: bool) -> tuple[str, str]:
    """A prompt that is no text alone is the model's, not the load's; the ladder looks at those."""
    if (why := correctness.degenerate(loaded)) and not correctness.degenerate(alone):
        return "corrupt", why
    return correctness.compare(alone, loaded, exact=exact)


def _outcome(
    concurrency: int, failed: Sequence[Reply], seen: Counter[str], remarks: Sequence[str]
) -> tuple[StepOutcome, str]:
    at = f"{concurrency} at once"
    if failed:
        first = failed[0]
        if all(each.failure == "stalled" for each in failed):
            return "stalled", f"{at}: {len(failed)} requests hang: {first.why}"
        return "failed", f"{at}: {len(failed)} requests failed, first {first.failure}: {first.why}"
    if seen["corrupt"]:
        return "corrupt", f"{at}: {seen['corrupt']} outputs are wrong and no request failed: {remarks[0]}"
    if seen["differs"]:
        return "differs", f"{at}: {seen['differs']} outputs are not those of one request alone: {remarks[0]}"
    ties = f", {seen['tie']} of them parted at a tie" if seen["tie"] else ""
    return "pass", f"{at}: {seen.total()} requests, outputs as alone{ties}"
