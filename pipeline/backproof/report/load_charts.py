"""Load curves: what each round gave at each concurrency, and the step at which it failed. Numbers; a template draws."""

from __future__ import annotations

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
    said: str
    failed: bool
    measured: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """One round. `name` says which, for what a colour alone would say is not said."""

    arm: Arm
    name: str
    spots: tuple[Spot, ...]

    @property
    def line(self) -> str:
        """A failure without a measure is a mark at the bottom; a line down to it would claim a value of zero."""
        return " ".join(f"{each.x},{each.y}" for each in self.spots if each.measured)


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
    """Both measures of each served model that took a step."""
    found = []
    for serve in dict.fromkeys(each.serve for each in record.rounds):
        rounds = [each for each in record.rounds if each.serve == serve and each.steps][:_ROUNDS]
        found += [_chart(serve, rounds, *measure) for measure in _MEASURES if rounds]
    return tuple(found)


def _chart(serve: str, rounds: list[Round], name: str, unit: str, value: Callable[[Step], float | None]) -> Chart:
    loads = sorted({step.concurrency for each in rounds for step in each.steps})
    wide = (_RIGHT - _LEFT - 40) / max(1, len(loads) - 1)
    across = {load: round(_LEFT + 20 + wide * index, 1) for index, load in enumerate(loads)}
    top = _top(value(step) or 0 for each in rounds for step in each.steps)
    return Chart(
        name=name,
        unit=unit,
        serve=serve,
        across=tuple((x, str(load)) for load, x in across.items()),
        up=tuple((_up(top * share / 4, top), f"{top * share / 4:g}") for share in range(5)),
        curves=tuple(_curve(each, across, top, unit, value) for each in rounds),
        sentence=f"{name} of {serve} by concurrency. {' '.join(_ended(each) for each in rounds)}",
    )


def _curve(
    found: Round, across: dict[int, float], top: float, unit: str, value: Callable[[Step], float | None]
) -> Curve:
    spots = []
    for step in found.steps:
        number = value(step)
        shown = "not measured" if number is None else f"{number:g} {unit}"
        said = f"{found.arm}, round {found.number}, {step.concurrency} at once: {shown}, {step.outcome}"
        failed = step.outcome != "pass"
        if number is not None or failed:
            y = _up(number or 0, top)
            spots.append(Spot(x=across[step.concurrency], y=y, said=said, failed=failed, measured=number is not None))
    return Curve(arm=found.arm, name=f"{found.arm}, round {found.number}", spots=tuple(spots))


def _up(value: float, top: float) -> float:
    return round(_BOTTOM - (_BOTTOM - _TOP) * min(1.0, max(0.0, value / top)), 1)


def _top(values: Iterable[float]) -> float:
    """The end of the scale: a round number that no value passes."""
    most = max(values, default=0)
    size = 1.0
    while most > 0 and size * 10 <= most:
        size *= 10
    while 0 < most < size:
        size /= 10
    return next(size * each for each in _TICKS if most <= size * each) if most > 0 else 1.0


def _ended(found: Round) -> str:
    """One round in words."""
    said = f"{found.arm}, round {found.number}"
    if found.spoiled:
        return f"{said}: says nothing, {found.spoiled}."
    if found.failed_at is not None:
        return f"{said}: failed at {found.failed_at} at once, held up to {found.reached}."
    return f"{said}: held up to {found.reached} at once."
