"""The service of one round as its steps see it: fixed prompts alone, then the same prompts under load."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backproof.serving import bench, correctness, load, load_step, metrics, prompts, service
from backproof.serving.client import Ask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.records.serving import Output, Step
    from backproof.serving.load import Wave
    from backproof.serving.service import Service
    from backproof.serving.setup import Setup


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """The service as the steps see it."""

    setup: Setup
    service: Service
    model: str
    asks: tuple[Ask, ...]
    bench: bool

    def wave(self, concurrency: int, total: int) -> Wave:
        serve = self.setup.serve
        return load.send(self.asks, concurrency=concurrency, total=total, stall=serve.stall, say=self.setup.say)


def opened(setup: Setup, running: Service) -> Line:
    """What the steps need of a service that is healthy."""
    serve = setup.serve
    model = service.model(running, serve.model)
    asks = tuple(
        Ask(url=running.url, model=model, prompt=each, max_tokens=serve.max_tokens)
        for each in serve.prompts or prompts.FIXED
    )
    # A benchmark needs the target's interpreter: for a service that is only an address, there is none.
    measured = serve.bench and not setup.url and bench.there(setup.python, setup.env)
    return Line(setup=setup, service=running, model=model, asks=asks, bench=measured)


def alone(line: Line) -> tuple[Line, tuple[Output, ...], Step | None]:
    """Each prompt by itself: the outputs that all others are held against."""
    wave = line.wave(1, len(line.asks))
    if wave.replies and wave.replies[0].why.startswith("HTTP 400"):
        line = replace(line, asks=tuple(replace(each, candidates=False) for each in line.asks))
        wave = line.wave(1, len(line.asks))
    failed = [each for each in wave.replies if not each.ok]
    outputs = tuple(load_step.output(each) for each in sorted(wave.replies, key=lambda reply: reply.prompt))
    if failed:
        return line, (), load_step.judged(1, wave, outputs, exact=False, bench=None)
    reasons = [why for each in outputs if (why := correctness.degenerate(each))]
    if len(reasons) < len(outputs):
        return line, outputs, None
    broken = load_step.judged(1, wave, outputs, exact=False, bench=None)
    said = f"1 at once: no output is text, and no request failed: {reasons[0]}"
    return line, outputs, broken.model_copy(update={"outcome": "corrupt", "sentence": said})


def climb(line: Line, concurrency: int, outputs: Sequence[Output]) -> Step:
    """One step: the requests, and the target's own benchmark where nothing failed."""
    serve, setup = line.setup.serve, line.setup
    before = line.service.log_size()
    total = max(serve.requests * concurrency, len(line.asks))
    wave = line.wave(concurrency, total)
    if wave.load.source == "none" and line.service.log:
        wave = replace(wave, load=metrics.in_log(line.service.log, before))
    measured = None
    if line.bench and all(each.ok for each in wave.replies):
        measured = bench.run(
            setup.python,
            env=setup.env,
            url=line.service.url,
            model=line.model,
            concurrency=concurrency,
            requests=total,
            max_tokens=serve.max_tokens,
            into=setup.folder / f"bench-{concurrency}.json",
            timeout=max(600.0, 20 * wave.seconds),
        )
    return load_step.judged(concurrency, wave, outputs, exact=serve.exact, bench=measured)
