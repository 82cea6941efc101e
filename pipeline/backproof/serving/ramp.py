"""One round: the service of one arm, loaded step by step; the first failure ends it and its logs are read at once.

Each step is written before the next begins: a round that was stopped continues where it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.core.errors import TargetError
from backproof.records.serving import Round
from backproof.serving import round_outcome, service, target_client

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from backproof.kit.serving import Serve
    from backproof.serving.round_context import RoundContext
    from backproof.serving.service import Service


def order_steps(serve: Serve, *, frugal: bool) -> tuple[int, ...]:
    """Return the steps; with a budget the one at which base fails comes right after the first."""
    if not frugal or serve.fails_at is None:
        return serve.concurrency
    return tuple(dict.fromkeys((serve.concurrency[0], serve.fails_at, *serve.concurrency)))


def run_round(context: RoundContext) -> Round:
    """Run the round, from its first step or from where it was stopped."""
    begun = _begin_round(context)
    if begun.complete:
        context.say(f"    {context.name}: as it was (reused)")
        return begun
    context.say(f"    {context.name}: starting the service")
    try:
        with _open_service(context) as running:
            ended = _run_steps(context, begun, running)
            context.say(f"    {context.name}: {ended.observed}{f': {ended.why}' if ended.why else ''}")
            return ended
    except TargetError as error:
        return save_round(context, round_outcome.close_unstarted(context, begun, error))


def _begin_round(context: RoundContext) -> Round:
    earlier = context.earlier
    if earlier and earlier.digest == context.digest and earlier.observed != "error":
        return earlier
    return Round(
        serve=context.serve.id,
        arm=context.spec.arm,
        number=context.spec.number,
        digest=context.digest,
        origin="url" if context.url else "started",
        command=f"service at {context.url}" if context.url else "",
        host=context.host,
        boot_id=context.boot_id,
    )


def _open_service(context: RoundContext) -> AbstractContextManager[Service]:
    if context.url:
        return service.attach_service(context.url, context.serve, context.say)
    command, port = service.build_command(context.serve, context.spec.arguments, context.words)
    return service.start_service(context.serve, command, port, env=context.env, folder=context.folder, say=context.say)


def _run_steps(context: RoundContext, begun: Round, running: Service) -> Round:
    client = target_client.connect(context, running)
    current = begun.model_copy(update={"command": running.command})
    if not current.reference:
        client, alone, bad = target_client.send_alone(client)
        current = save_round(context, current.model_copy(update={"reference": alone, "steps": (bad,) if bad else ()}))
    done = {step.concurrency for step in current.steps}
    for concurrency in order_steps(context.serve, frugal=context.budget.limit is not None):
        if concurrency in done:
            continue
        if current.failed_at is not None or not context.budget.allows(_estimate_seconds(current)):
            break
        step = target_client.run_step(client, concurrency, current.reference)
        current = save_round(context, current.model_copy(update={"steps": (*current.steps, step)}))
        context.say(f"      {step.sentence}")
    return save_round(context, round_outcome.close_round(context, current, running))


def _estimate_seconds(current: Round) -> float:
    """Estimate the next step: each client sends as many requests as before, so it takes about as long."""
    return current.steps[-1].seconds if current.steps else 0.0


def save_round(context: RoundContext, current: Round) -> Round:
    context.keep("round.json", current)
    return current
