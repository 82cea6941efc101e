"""Reads the `info -t` forms (lines of `key : value`, one block per chip) and the mapping of `info -m`."""

from __future__ import annotations

import re
from typing import Final

from backproof.core.model import Record

_FIELD: Final = re.compile(r"^\s*(?P<key>[A-Za-z][^:|]{0,60}?)\s*:\s*(?P<value>.*?)\s*$")
_MOST: Final = 4096


class MappedChip(Record):
    """One chip in `npu-smi info -m`."""

    npu: int
    chip: int
    logical: int | None
    physical: int | None
    name: str


def split_blocks(text: str) -> tuple[dict[str, str], ...]:
    """Return the fields of a form, one dict per chip.

    A form names its NPU once and closes each chip's fields with `Chip ID`; older versions open with it instead. A block
    ends where a key comes again, whichever it is.
    """
    blocks: list[dict[str, str]] = []
    block: dict[str, str] = {}
    for line in text.replace("\r", "").split("\n")[:_MOST]:
        field = _FIELD.match(line)
        if field is None:
            continue
        key, value = " ".join(field["key"].split()), field["value"]
        if key in block:
            blocks.append(block)
            block = {name: block[name] for name in ("NPU ID", "Chip Count") if name in block and name != key}
        block[key] = value
    return (*blocks, block) if block else tuple(blocks)


def parse_health(text: str) -> dict[tuple[int, int], str]:
    """Return health by (NPU, chip): `Health Status` in 24.x, `Health` in others; chips without a number count up."""
    states: dict[tuple[int, int], str] = {}
    for number, block in enumerate(split_blocks(text)):
        state = block.get("Health Status") or block.get("Health")
        npu = _parse_integer(block.get("NPU ID"))
        chip = _parse_integer(block.get("Chip ID"))
        if state and npu is not None:
            states[npu, number if chip is None else chip] = state
    return states


def parse_mapping(text: str) -> tuple[MappedChip, ...]:
    """Return the rows of `npu-smi info -m`; the column Chip Logic ID is "-" for a management chip."""
    rows = [line.split() for line in text.replace("\r", "").split("\n")[:_MOST]]
    return tuple(_map_chip(cells) for cells in rows if len(cells) >= 4 and cells[0].isdigit() and cells[1].isdigit())


def _map_chip(cells: list[str]) -> MappedChip:
    logical, physical, *name = cells[2:] if len(cells) > 4 else [cells[2], "-", cells[3]]
    return MappedChip(
        npu=int(cells[0]),
        chip=int(cells[1]),
        logical=_parse_integer(logical),
        physical=_parse_integer(physical),
        name=" ".join(name),
    )


def _parse_integer(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None
