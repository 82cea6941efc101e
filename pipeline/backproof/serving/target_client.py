"""The service of one round as its steps use it: fixed prompts alone, then the same prompts under load."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backproof.serving import bench, correctness, load, load_step, metrics, prompts, service
from backproof.serving.client import CompletionRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.records.serving import Output, Step
    from backproof.serving.load import Batch
    from backproof.serving.round_context import RoundContext
    from backproof.serving.service import Service


@dataclass(frozen=True, kw_only=True, slots=True)
class TargetClient:
    """A healthy service, and the requests that it gets."""

    context: RoundContext
    service: Service
    model: str
    requests: tuple[CompletionRequest, ...]
    bench: bool

    def send_batch(self, concurrency: int, total: int) -> Batch:
        stall, say = self.context.serve.stall, self.context.say
        return load.send_batch(self.requests, concurrency=concurrency, total=total, stall=stall, say=say)


def connect(context: RoundContext, running: Service) -> TargetClient:
    """Return a client of a service that is healthy."""
    serve = context.serve
    model = service.find_model(running, serve.model)
    requests = tuple(
        CompletionRequest(url=running.url, model=model, prompt=prompt, max_tokens=serve.max_tokens)
        for prompt in serve.prompts or prompts.FIXED
    )
    # A benchmark needs the target's interpreter: for a service that is only an address, there is none.
    measured = serve.bench and not context.url and bench.has_benchmark(context.python, context.env)
    return TargetClient(context=context, service=running, model=model, requests=requests, bench=measured)


def send_alone(client: TargetClient) -> tuple[TargetClient, tuple[Output, ...], Step | None]:
    """Send each prompt by itself. Return the outputs that later ones are compared with, or the step that failed."""
    batch = client.send_batch(1, len(client.requests))
    if batch.replies and batch.replies[0].why.startswith("HTTP 400"):
        client = replace(client, requests=tuple(replace(request, candidates=False) for request in client.requests))
        batch = client.send_batch(1, len(client.requests))
    outputs = tuple(load_step.build_output(reply) for reply in sorted(batch.replies, key=lambda reply: reply.prompt))
    if not all(reply.ok for reply in batch.replies):
        return client, (), load_step.judge_step(1, batch, outputs, exact=False, bench=None)
    reasons = [why for output in outputs if (why := correctness.explain_degenerate(output))]
    if len(reasons) < len(outputs):
        return client, outputs, None
    broken = load_step.judge_step(1, batch, outputs, exact=False, bench=None)
    sentence = f"1 at once: no output is text, and no request failed: {reasons[0]}"
    return client, outputs, broken.model_copy(update={"outcome": "corrupt", "sentence": sentence})


def run_step(client: TargetClient, concurrency: int, outputs: Sequence[Output]) -> Step:
    """Run one step: the requests, and the target's own benchmark where nothing failed."""
    serve = client.context.serve
    before = client.service.log_size()
    total = max(serve.requests * concurrency, len(client.requests))
    batch = client.send_batch(concurrency, total)
    if batch.load.source == "none" and client.service.log:
        batch = replace(batch, load=metrics.read_log_load(client.service.log, before))
    measured = None
    if client.bench and all(reply.ok for reply in batch.replies):
        patience = max(600.0, 20 * batch.seconds)
        url, model = client.service.url, client.model
        measured = bench.run_benchmark(
            client.context, url, model, concurrency=concurrency, requests=total, timeout=patience
        )
    return load_step.judge_step(concurrency, batch, outputs, exact=serve.exact, bench=measured)
