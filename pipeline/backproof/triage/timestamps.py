"""Time as whole microseconds, because a second is too coarse: ranks fail within one millisecond of each other.

Local time has no zone in these logs, so a stamp is the wall clock read as if it were UTC. Stamps without a year and
stamps since boot carry their scale and are resolved once the whole input has been seen.
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

SECOND = 1_000_000
"""Microseconds."""

Scale = Literal["wall", "yearless", "boot"]
_MONTHS = {
    name: number
    for number, name in enumerate(
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"], 1
    )
}
_LEAP_YEAR = 2000  # yearless stamps wait here: 29 February must fit
_RTC = re.compile(r"setting system clock to (\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)")


@dataclass(frozen=True, slots=True)
class Stamp:
    """A point in time: `us` microseconds on its scale, known to `step` microseconds."""

    us: int
    step: int = 1
    scale: Scale = "wall"

    @property
    def latest_us(self) -> int:
        """The last microsecond that the stamp can mean: a coarse stamp must not overtake a fine one."""
        return self.us + self.step - 1


@lru_cache(maxsize=4096)
def _count_seconds(year: int, month: int, day: int, clock: str) -> int | None:
    hour, minute, second = int(clock[0:2]), int(clock[3:5]), int(clock[6:8])
    if not (1 <= year <= dt.MAXYEAR and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]):
        return None
    if hour > 23 or minute > 59 or second > 60:
        return None
    return calendar.timegm((year, month, day, hour, minute, second))


def _make_stamp(seconds: int | None, us: int, step: int, scale: Scale = "wall") -> Stamp | None:
    return None if seconds is None else Stamp(seconds * SECOND + us, step, scale)


def parse_stamp(text: str) -> Stamp | None:
    """Parse `2026-11-03-10:15:02.118.204`, with any separators and with up to six digits of a second, or none."""
    seconds = _count_seconds(int(text[0:4]), int(text[5:7]), int(text[8:10]), text[11:19])
    digits = text[20:].replace(".", "")[:6]
    return _make_stamp(seconds, int(digits.ljust(6, "0")), 10 ** (6 - len(digits)))


def parse_parts(parts: Mapping[str, str | None]) -> Stamp | None:
    """Parse the named groups of a head: `boot`; or `ts`; or `clock` with `day` (`20260608`, `0611`, `11-03`), and `us`.

    A name of a month, and a year, may stand apart from the day (`dmesg -T`, syslog). MindIE does not pad its microseconds.
    """
    if boot := parts.get("boot"):
        return parse_boot(boot)
    if ts := parts.get("ts"):
        return parse_stamp(f"{ts}.{us.zfill(6)}" if (us := parts.get("us")) else ts)
    if not (clock := parts.get("clock")):
        return None
    day = str(parts["day"]).replace("-", "").zfill(2)
    day = f"{_MONTHS.get(month, 0):02d}{day}" if (month := parts.get("month")) else day.zfill(4)
    year, us = parts.get("year") or day[:-4], parts.get("us")
    seconds = _count_seconds(int(year or _LEAP_YEAR), int(day[-4:-2]), int(day[-2:]), clock)
    return _make_stamp(seconds, int(us or 0), 1 if us else SECOND, "wall" if year else "yearless")


def parse_boot(text: str) -> Stamp:
    """Parse the stamp of plain dmesg: `1310493.343613` seconds since boot."""
    whole, _, part = text.partition(".")
    return Stamp(int(whole) * SECOND + int(part.ljust(6, "0")[:6]), 1, "boot")


def find_boot_anchor(stamp: Stamp, text: str) -> int | None:
    """Return the microseconds from boot to wall clock, when the kernel says how it set the clock (UTC, see docs/triage.md)."""
    hit = _RTC.search(text) if stamp.scale == "boot" else None
    wall = parse_stamp(f"{hit[1]} {hit[2]}") if hit else None
    return wall.us - stamp.us if wall else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """The wall clock of the whole input: `near` is a moment within it, `boots` the start of each host (microseconds)."""

    near: int
    boots: Mapping[str, int]

    def settle_stamp(self, stamp: Stamp | None, host: str) -> Stamp | None:
        """Return the stamp on the wall clock: with the year that brings it closest to `near`, or with the boot time added.

        A stamp that cannot be resolved is None: a wrong order is worse than none.
        """
        if stamp is None or stamp.scale == "wall":
            return stamp
        if stamp.scale == "yearless":
            return self._add_year(stamp)
        return replace(stamp, us=stamp.us + self.boots[host], scale="wall") if host in self.boots else None

    def _add_year(self, stamp: Stamp) -> Stamp | None:
        moment = dt.datetime.fromtimestamp(stamp.us // SECOND, dt.UTC)
        guess = dt.datetime.fromtimestamp(self.near // SECOND, dt.UTC).year
        candidates = [
            _count_seconds(year, moment.month, moment.day, f"{moment:%H:%M:%S}")
            for year in (guess - 1, guess, guess + 1)
        ]
        wall = [seconds * SECOND + stamp.us % SECOND for seconds in candidates if seconds is not None]
        return Stamp(min(wall, key=lambda us: abs(us - self.near)), stamp.step) if wall else None


def format_time(us: int) -> str:
    """Return `2026-11-03 10:15:02.118204`."""
    moment = dt.datetime.fromtimestamp(us // SECOND, dt.UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S}.{us % SECOND:06d}"


def convert_datetime(moment: dt.datetime) -> int:
    """Return the microseconds of a moment's wall clock, its zone dropped."""
    return calendar.timegm(moment.timetuple()) * SECOND + moment.microsecond
