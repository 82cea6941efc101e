"""Which fault meets which point: all that fit, or a fair part of them."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import points

if TYPE_CHECKING:
    import argparse

    from attempt import Fault

FAULTS: dict[str, Fault] = {
    "SIGKILL": points.killed,
    "SIGKILL during": points.killed_soon,
    "SIGTERM": points.terminated,
    "ENOSPC (stand-in)": points.full,
    "EIO (stand-in)": points.broken,
    "clock back (stand-in)": points.stepped_back,
    "second run": points.second_run,
    "second run, same target": points.second_run_elsewhere,
}


@dataclass(frozen=True, kw_only=True)
class Try:
    """One thing to try."""

    fault: str
    point: points.Point
    count: int = 0

    @property
    def where(self) -> str:
        return f"{self.point.event} {self.point.path} #{self.count}"


def chosen(met: list[points.Point], options: argparse.Namespace) -> list[Try]:
    """Each distinct point once; one in site-packages as often as it is met, for each time another arm is in place."""
    seen: Counter[points.Point] = Counter()
    tries: list[Try] = []
    kinds: set[tuple[str, str, str]] = set()
    for point in met:
        count = seen[point]
        seen[point] += 1
        if count == 0 or "site-packages" in point.path:
            tries += [
                Try(fault=name, point=point, count=count)
                for name in FAULTS
                if _fits(name, point) and (options.all or name == "SIGKILL" or _new(kinds, name, point))
            ]
    tries = [each for each in tries if options.only in each.fault]
    random.Random(19353).shuffle(tries)  # noqa: S311 - a repeatable order, so that a limit is a fair part
    return tries[: options.limit] if options.limit else tries


def _new(kinds: set[tuple[str, str, str]], name: str, point: points.Point) -> bool:
    key = (name, point.stage, point.event)
    fresh = key not in kinds
    kinds.add(key)
    return fresh


def _fits(name: str, point: points.Point) -> bool:
    starts = point.event == "subprocess.Popen"
    if name == "SIGKILL during":
        return starts
    if "ENOSPC" in name:
        return point.event in points.GROWS
    return not starts if "EIO" in name else True


def of_publishing(met: list[points.Point]) -> list[Try]:
    """Every operation of a publish with SIGKILL, one of each kind with every other fault."""
    seen: Counter[points.Point] = Counter()
    kinds: set[tuple[str, str, str]] = set()
    tries: list[Try] = []
    for point in met:
        names = [name for name in FAULTS if _fits(name, point) and "target" not in name and "clock" not in name]
        names = [name for name in names if name == "SIGKILL" or _new(kinds, name, point)]
        tries += [Try(fault=name, point=point, count=seen[point]) for name in names]
        seen[point] += 1
    return tries
