"""Reads the `info -t` forms (lines of `key : value`, one block per chip) and the mapping of `info -m`."""

from __future__ import annotations

import re
from typing import Final

from backproof.core.model import Record

_FIELD: Final = re.compile(r"^\s*(?P<key>[A-Za-z][^:|]{0,60}?)\s*:\s*(?P<value>.*?)\s*$")
_MOST: Final = 4096


class Mapped(Record):
    """One chip in `npu-smi info -m`."""

    npu: int
    chip: int
    logical: int | None
    physical: int | None
    name: str


def blocks(text: str) -> tuple[dict[str, str], ...]:
    """The fields of a form, one dict per chip.

    A form names its NPU once and closes each chip's fields with `Chip ID`; older versions open with it instead. A block
    ends where a key comes again, whichever it is.
    """
    found: list[dict[str, str]] = []
    now: dict[str, str] = {}
    for line in text.replace("\r", "").split("\n")[:_MOST]:
        field = _FIELD.match(line)
        if field is None:
            continue
        key, value = " ".join(field["key"].split()), field["value"]
        if key in now:
            found.append(now)
            now = {name: now[name] for name in ("NPU ID", "Chip Count") if name in now and name != key}
        now[key] = value
    return (*found, now) if now else tuple(found)


def health(text: str) -> dict[tuple[int, int], str]:
    """Health by (NPU, chip): `Health Status` in 24.x, `Health` in others; a chip that is not named counts up."""
    found: dict[tuple[int, int], str] = {}
    for number, block in enumerate(blocks(text)):
        state = block.get("Health Status") or block.get("Health")
        npu = _integer(block.get("NPU ID"))
        chip = _integer(block.get("Chip ID"))
        if state and npu is not None:
            found[npu, number if chip is None else chip] = state
    return found


def mapping(text: str) -> tuple[Mapped, ...]:
    """The rows of `npu-smi info -m`; the column Chip Logic ID is "-" for a management chip."""
    found = []
    for line in text.replace("\r", "").split("\n")[:_MOST]:
        cells = line.split()
        if len(cells) < 4 or not (cells[0].isdigit() and cells[1].isdigit()):
            continue
        numbers = cells[2:4] if len(cells) > 4 else [cells[2], "-"]
        found.append(
            Mapped(
                npu=int(cells[0]),
                chip=int(cells[1]),
                logical=_integer(numbers[0]),
                physical=_integer(numbers[1]),
                name=" ".join(cells[4:] if len(cells) > 4 else cells[3:]),
            )
        )
    return tuple(found)


def _integer(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None
