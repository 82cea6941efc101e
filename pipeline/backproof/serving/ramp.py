"""One round: the service of one arm, loaded step by step; the first failure ends it and its logs are read at once.

What a step found is kept before the next begins: a round that was stopped goes on where it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.core.errors import TargetError
from backproof.records.serving import Round
from backproof.serving import round_outcome, service, target_client

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from backproof.kit.serving import Serve
    from backproof.records.serving import Step
    from backproof.serving.service import Service
    from backproof.serving.setup import Setup


def order(serve: Serve, *, frugal: bool) -> tuple[int, ...]:
    """The steps; with a budget the one at which base fails comes right after the first."""
    if not frugal or serve.fails_at is None:
        return serve.concurrency
    early = dict.fromkeys((serve.concurrency[0], serve.fails_at))
    return tuple(dict.fromkeys((*early, *serve.concurrency)))


def run(setup: Setup) -> Round:
    """The round, from its first step or from where it was stopped."""
    begun = _begun(setup)
    if begun.complete:
        setup.say(f"    {setup.name}: as it was (reused)")
        return begun
    setup.say(f"    {setup.name}: starting the service")
    try:
        with _service(setup) as running:
            ended = _climbed(setup, begun, running)
            setup.say(f"    {setup.name}: {ended.observed}{f': {ended.why}' if ended.why else ''}")
            return ended
    except TargetError as error:
        return kept(setup, round_outcome.not_started(setup, begun, error))


def _begun(setup: Setup) -> Round:
    if setup.known and setup.known.digest == setup.digest and setup.known.observed != "error":
        return setup.known
    return Round(
        serve=setup.serve.id,
        arm=setup.arm,
        number=setup.number,
        digest=setup.digest,
        origin="url" if setup.url else "started",
        command=f"service at {setup.url}" if setup.url else "",
        host=setup.host,
        boot_id=setup.boot_id,
    )


def _service(setup: Setup) -> AbstractContextManager[Service]:
    if setup.url:
        return service.taken(setup.url, setup.serve, setup.say)
    command, port = service.argv(setup.serve, setup.arguments, setup.words)
    return service.started(setup.serve, command, port, env=setup.env, folder=setup.folder, say=setup.say)


def _climbed(setup: Setup, begun: Round, running: Service) -> Round:
    here = target_client.opened(setup, running)
    now = begun.model_copy(update={"command": running.command})
    if not now.reference:
        here, alone, bad = target_client.alone(here)
        now = kept(setup, now.model_copy(update={"reference": alone, "steps": (bad,) if bad else ()}))
    done = {each.concurrency for each in now.steps}
    steps = [each for each in order(setup.serve, frugal=setup.budget.limit is not None) if each not in done]
    for concurrency in steps:
        if now.failed_at is not None or not setup.budget.allows(_estimate(now)):
            break
        now = kept(setup, _with(now, target_client.climb(here, concurrency, now.reference)))
        setup.say(f"      {now.steps[-1].sentence}")
    return kept(setup, round_outcome.closed(setup, now, running))


def _estimate(now: Round) -> float:
    """Seconds of the next step: each client sends as many requests as before, so it takes about as long."""
    return now.steps[-1].seconds if now.steps else 0.0


def _with(now: Round, step: Step) -> Round:
    return now.model_copy(update={"steps": (*now.steps, step)})


def kept(setup: Setup, now: Round) -> Round:
    setup.keep("round.json", now)
    return now
