"""One concurrency: the replies judged by their number, their speed and their content."""

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
    from backproof.serving.load import Batch


def build_output(reply: Reply) -> Output:
    return Output(text=reply.text, tokens=tuple(reply.tokens), likely=tuple(reply.likely), finish=reply.finish)


def compute_spread(seconds: Iterable[float | None]) -> Spread | None:
    """Return percentiles by rank, as `vllm bench serve` has them; None where nothing was measured."""
    values = [1000 * value for value in seconds if value is not None]
    if not values:
        return None
    # `quantiles` wants two values at least, and all percentiles of one value are that value.
    percentiles = statistics.quantiles(values * 2 if len(values) == 1 else values, n=100, method="inclusive")
    p50, p90, p99 = (round(percentiles[rank - 1], 3) for rank in (50, 90, 99))
    return Spread(mean=round(statistics.fmean(values), 3), p50=p50, p90=p90, p99=p99)


def judge_step(
    concurrency: int, batch: Batch, alone: Sequence[Output], *, exact: bool, bench: dict[str, float] | None
) -> Step:
    """Return the step as a record. A failed request weighs more than a wrong output: after it, outputs are cut."""
    good = [reply for reply in batch.replies if reply.ok]
    failed = [reply for reply in batch.replies if not reply.ok]
    counts, remarks = _compare_replies(good, alone, exact=exact)
    outcome, sentence = _find_outcome(concurrency, failed, counts, remarks)
    return Step(
        concurrency=concurrency,
        outcome=outcome,
        sentence=sentence,
        requests=len(batch.replies) + batch.unsent,
        ok=len(good),
        failed=len(failed),
        unsent=batch.unsent,
        seconds=round(batch.seconds, 3),
        request_rate=round(len(good) / batch.seconds, 3),
        token_rate=round(sum(reply.count for reply in good) / batch.seconds, 3),
        ttft=compute_spread(reply.first for reply in good),
        tpot=compute_spread(reply.per_token for reply in good),
        load=batch.load,
        same=counts["same"],
        ties=counts["tie"],
        failures=tuple([*(f"{reply.failure}: {reply.why}"[:400] for reply in failed), *remarks][:8]),
        bench=bench,
    )


def _compare_replies(
    replies: Sequence[Reply], alone: Sequence[Output], *, exact: bool
) -> tuple[Counter[str], list[str]]:
    """Return how many outputs are the same, tied, different and corrupt, and a remark on each of the last two kinds."""
    counts = Counter[str]()
    remarks = []
    for reply in replies:
        sameness, why = _compare_reply(alone[reply.prompt], build_output(reply), exact=exact)
        counts[sameness] += 1
        if sameness in {"corrupt", "differs"}:
            remarks.append(f"prompt {reply.prompt}: {why}"[:400])
    return counts, remarks


def _compare_reply(alone: Output, loaded: Output, *, exact: bool) -> tuple[str, str]:
    """Compare with the output alone. A prompt that gives no text alone is the model's fault, not the load's."""
    if (why := correctness.explain_degenerate(loaded)) and not correctness.explain_degenerate(alone):
        return "corrupt", why
    return correctness.compare_outputs(alone, loaded, exact=exact)


def _find_outcome(
    concurrency: int, failed: Sequence[Reply], counts: Counter[str], remarks: Sequence[str]
) -> tuple[StepOutcome, str]:
    at = f"{concurrency} at once"
    if failed:
        first = failed[0]
        if all(reply.failure == "stalled" for reply in failed):
            return "stalled", f"{at}: {len(failed)} requests hang: {first.why}"
        return "failed", f"{at}: {len(failed)} requests failed, first {first.failure}: {first.why}"
    if counts["corrupt"]:
        return "corrupt", f"{at}: {counts['corrupt']} outputs are wrong and no request failed: {remarks[0]}"
    if counts["differs"]:
        return "differs", f"{at}: {counts['differs']} outputs are not those of one request alone: {remarks[0]}"
    ties = f", {counts['tie']} of them parted at a tie" if counts["tie"] else ""
    return "pass", f"{at}: {counts.total()} requests, outputs as alone{ties}"
