"""Load curves: what each round gave at each concurrency, and the step at which it failed. Numbers; a template draws."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from backproof.core.model import Arm
    from backproof.records.serving import Round, ServeRecord, Step

_LEFT: Final = 64.0
_RIGHT: Final = 620.0
_TOP: Final = 20.0
_BOTTOM: Final = 220.0
_TICKS: Final = (1.0, 2.0, 2.5, 5.0, 10.0)
_ROUNDS: Final = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class Spot:
    """One step on one curve."""

    x: float
    y: float
    title: str
    failed: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """One round; `line` joins those of its spots that were measured."""

    arm: Arm
    line: str
    spots: tuple[Spot, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Chart:
    """One measure of one served model over the concurrency."""

    name: str
    unit: str
    serve: str
    across: tuple[tuple[float, str], ...]
    up: tuple[tuple[float, str], ...]
    curves: tuple[Curve, ...]
    sentence: str


_MEASURES: Final[tuple[tuple[str, str, Callable[[Step], float | None]], ...]] = (
    ("Tokens per second", "tokens/s", lambda step: step.token_rate),
    ("Time to the first token, p99", "ms", lambda step: step.ttft.p99 if step.ttft else None),
)


def draw_charts(record: ServeRecord) -> tuple[Chart, ...]:
    """Draw both measures of each served model that took a step."""
    charts = []
    for serve in dict.fromkeys(load.serve for load in record.rounds):
        rounds = [load for load in record.rounds if load.serve == serve and load.steps][:_ROUNDS]
        charts += [_draw_chart(serve, rounds, *measure) for measure in _MEASURES if rounds]
    return tuple(charts)


def _draw_chart(serve: str, rounds: list[Round], name: str, unit: str, value: Callable[[Step], float | None]) -> Chart:
    loads = sorted({step.concurrency for load in rounds for step in load.steps})
    wide = (_RIGHT - _LEFT - 40) / max(1, len(loads) - 1)
    across = {load: round(_LEFT + 20 + wide * index, 1) for index, load in enumerate(loads)}
    top = _end_scale(value(step) or 0 for load in rounds for step in load.steps)
    return Chart(
        name=name,
        unit=unit,
        serve=serve,
        across=tuple((x, str(load)) for load, x in across.items()),
        up=tuple((_place(top * share / 4, top), f"{top * share / 4:g}") for share in range(5)),
        curves=tuple(_draw_curve(load, across, top, unit, value) for load in rounds),
        sentence=f"{name} of {serve} by concurrency. {' '.join(_describe_round(load) for load in rounds)}",
    )


def _draw_curve(
    load: Round, across: dict[int, float], top: float, unit: str, value: Callable[[Step], float | None]
) -> Curve:
    spots, line = [], []
    for step in load.steps:
        number, x, failed = value(step), across[step.concurrency], step.outcome != "pass"
        shown = "not measured" if number is None else f"{number:g} {unit}"
        y = _place(number or 0, top)
        # A failure without a measure is a mark at the bottom; a line down to it would claim a value of zero.
        if number is not None:
            line.append(f"{x},{y}")
        if number is not None or failed:
            title = f"{_name_round(load)}, {step.concurrency} at once: {shown}, {step.outcome}"
            spots.append(Spot(x=x, y=y, title=title, failed=failed))
    return Curve(arm=load.arm, line=" ".join(line), spots=tuple(spots))


def _place(value: float, top: float) -> float:
    return round(_BOTTOM - (_BOTTOM - _TOP) * min(1.0, max(0.0, value / top)), 1)


def _end_scale(values: Iterable[float]) -> float:
    """Return the end of the scale: a round number that no value passes."""
    most = max(values, default=0)
    # Below it, powers of ten lose their digits: no tick need be above the value any more.
    if most < sys.float_info.min:
        return 1.0
    size = 1.0
    while size * 10 <= most:
        size *= 10
    while most < size:
        size /= 10
    return next(size * tick for tick in _TICKS if most <= size * tick)


def _name_round(load: Round) -> str:
    return f"{load.arm}, round {load.number}"


def _describe_round(load: Round) -> str:
    if load.spoiled:
        return f"{_name_round(load)}: says nothing, {load.spoiled}."
    if load.failed_at is not None:
        return f"{_name_round(load)}: failed at {load.failed_at} at once, held up to {load.reached}."
    return f"{_name_round(load)}: held up to {load.reached} at once."
