"""Reads the table of `npu-smi info`: by its cells, for each version has columns of its own width.

24.x and 26.x differ in width, A3 adds a Phy-ID, a second chip of a card has "-" for its power, and a busy or broken card
leaves fields out. A field that cannot be read is None; nothing here raises.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from backproof.core.model import Record
from backproof.host.versions import find_tool_versions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

STAND_IN: Final = re.compile(r"(?i)\bstand-?in\b")
"""A program that answers for a device that does not exist says so on a line of its own."""
_CARD: Final = re.compile(r"^(?P<npu>\d+)\s+(?P<name>\S.*)$")
_CHIP: Final = re.compile(r"^(?P<chip>\d+)(?:\s+(?:(?P<physical>\d+)|N/?A|-))?$")
_BUS: Final = re.compile(
    r"^[0-9A-Fa-fXx]{4,8}:[0-9A-Fa-fXx]{2}:[0-9A-Fa-fXx]{2}\.[0-9A-Fa-fXx]$|^N/?A$|^-$", re.IGNORECASE
)
_PAIR: Final = re.compile(r"(\d+)\s*/\s*(\d+)")
_MOST: Final = 4096
"""Lines of a table that are looked at: a host has tens of chips."""


class Chip(Record):
    """One chip: a card of an A3 has two. None is a field that the table leaves out."""

    npu: int
    chip: int
    physical: int | None
    name: str
    health: str | None
    power_watts: float | None = None
    temperature: float | None = None
    bus: str | None = None
    core_percent: float | None = None
    memory_used: int | None = None
    memory_total: int | None = None

    @property
    def label(self) -> str:
        return f"NPU {self.npu} chip {self.chip}"

    @property
    def device(self) -> int:
        """The number that drivers and logs use; a host without Phy-ID has one chip per card."""
        return self.npu if self.physical is None else self.physical


class Holder(Record):
    """A process on a chip."""

    npu: int
    chip: int
    pid: int
    name: str
    memory: int | None = None


class Table(Record):
    """The content of one `npu-smi info`."""

    tool: str | None = None
    driver: str | None = None
    chips: tuple[Chip, ...] = ()
    holders: tuple[Holder, ...] = ()
    stand_in: bool = False
    unread: tuple[str, ...] = ()


def parse_table(text: str) -> Table:
    """Return the table of `npu-smi info`."""
    lines = text.replace("\r", "").split("\n")[:_MOST]
    tool, driver = find_tool_versions("\n".join(lines))
    rows = [cells for line in lines if (cells := _split_cells(line))]
    chips, unread = _pair_rows(rows)
    return Table(
        tool=tool,
        driver=driver,
        chips=tuple(chips),
        holders=tuple(_find_holders(rows)),
        stand_in=any(STAND_IN.search(line) for line in lines),
        unread=tuple(unread),
    )


def _split_cells(line: str) -> list[str]:
    line = line.strip()
    return [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") and line.endswith("|") else []


def _pair_rows(rows: Sequence[list[str]]) -> tuple[list[Chip], list[str]]:
    """Return the chips and the rows left over. A chip is two rows: the card's name, then its number and bus address."""
    chips: list[Chip] = []
    unread: list[str] = []
    card: tuple[re.Match[str], list[str]] | None = None
    for cells in rows:
        if len(cells) != 3:
            continue
        second = _CHIP.match(cells[0])
        if second and card and _BUS.match(cells[1]):
            chips.append(_build_chip(card, second, cells))
            card = None
        elif (first := _CARD.match(cells[0])) and not second:
            if card:
                unread.append(f"NPU {card[0]['npu']}: its chip row is missing")
            card = (first, cells)
    if card:
        unread.append(f"NPU {card[0]['npu']}: its chip row is missing")
    return chips, unread


def _build_chip(card: tuple[re.Match[str], list[str]], row: re.Match[str], cells: list[str]) -> Chip:
    head, first = card
    numbers = first[2].split()
    cores, *_ = cells[2].split() or [""]
    pairs = _PAIR.findall(cells[2])
    # The last pair is HBM; cards that only have DDR show it in the first.
    used, total = next(((int(a), int(b)) for a, b in reversed(pairs) if int(b)), (None, None))
    return Chip(
        npu=int(head["npu"]),
        chip=int(row["chip"]),
        physical=int(row["physical"]) if row["physical"] else None,
        name=head["name"].strip(),
        health=first[1] or None,
        power_watts=_parse_number(numbers[0]) if numbers else None,
        temperature=_parse_number(numbers[1]) if len(numbers) > 1 else None,
        bus=cells[1] if cells[1] not in {"-", "NA", "N/A"} else None,
        core_percent=_parse_number(cores),
        memory_used=used,
        memory_total=total,
    )


def _parse_number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else None


def _find_holders(rows: Sequence[list[str]]) -> Iterator[Holder]:
    for cells in rows:
        where = re.match(r"^(\d+)(?:\s+(\d+))?$", cells[0])
        if len(cells) == 4 and where and cells[1].isdigit():
            memory = int(cells[3]) if cells[3].isdigit() else None
            yield Holder(npu=int(where[1]), chip=int(where[2] or 0), pid=int(cells[1]), name=cells[2], memory=memory)
