"""A program that talks like npu-smi where there is no NPU. It says so on its first line.

`NPU_SMI_STATE` names a JSON file: wide (26.x columns), cards, chips (per card), health {"npu.chip": word}, gone, holders,
hang (seconds), mark (false leaves the marker out, as a forger's would).
"""

from __future__ import annotations

import json
import os
import sys
import time

try:
    with open(os.environ["NPU_SMI_STATE"], encoding="utf-8") as _stream:  # noqa: PTH123 - pathlib costs 20 ms a call
        STATE = json.load(_stream)
except (OSError, KeyError):
    STATE = {}
WIDE = STATE.get("wide", True)
LAST = 70 if WIDE else 52
VERSION = "26.0.rc1" if WIDE else "24.1.rc3"
PER_CARD = STATE.get("chips", 2)
CHIPS = [
    (npu, chip, npu * PER_CARD + chip)
    for npu in range(STATE.get("cards", 8))
    for chip in range(PER_CARD)
    if f"{npu}.{chip}" not in STATE.get("gone", [])
]


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def health(npu: int, chip: int) -> str:
    return str(STATE.get("health", {}).get(f"{npu}.{chip}", "OK"))


def row(*cells: str) -> None:
    widths = (27, 15, LAST)
    say("|" + "|".join(f" {text:<{width - 1}}" for text, width in zip(cells, widths, strict=True)) + "|")


def rule(sign: str = "-") -> None:
    say("+" + sign * 27 + "+" + sign * 15 + "+" + sign * LAST + "+")


def table() -> None:
    rule()
    say(f"| npu-smi {VERSION}".ljust(40) + f"Version: {VERSION}".ljust(LAST + 4) + "|")
    rule()
    row("NPU   Name", "Health", "Power(W)    Temp(C)           Hugepages-Usage(page)")
    row("Chip  Phy-ID" if PER_CARD > 1 else "Chip", "Bus-Id", "AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)")
    rule("=")
    for npu, chip, physical in CHIPS:
        name = "Ascend910" if PER_CARD > 1 else "910B3"
        row(f"{npu}     {name}", health(npu, chip), f"{'-' if chip else '160.0'}       35                0    / 0")
        number = f"{chip}     {physical}" if PER_CARD > 1 else f"{chip}"
        row(number, f"0000:{physical:02X}:00.0", "0           0    / 0          3100 / 65536")
        rule()
    row("NPU     Chip", "Process id", "Process name             Process memory(MB)")
    for npu, chip, pid in STATE.get("holders", []):
        say(
            f"| {npu}       {chip}                 | {pid}       | python                   | 50128                   |"
        )
    say("| No running processes found in NPU 0".ljust(LAST + 40) + "|")


def form(npu: int) -> None:
    say(f"\tNPU ID                         : {npu}\n\tChip Count                     : {PER_CARD}\n")
    for _, chip, _ in (each for each in CHIPS if each[0] == npu):
        say(f"\tHealth Status                  : {health(npu, chip)}\n\tChip ID                        : {chip}\n")


def mapping() -> None:
    say("\tNPU ID     Chip ID     Chip Logic ID     Chip Phy-ID     Chip Name")
    for npu, chip, physical in CHIPS:
        say(f"\t{npu}          {chip}           {physical}                 {physical}               Ascend910")


time.sleep(STATE.get("hang", 0))
if STATE.get("mark", True):
    say("*** STAND-IN: there is no NPU on this host ***")
match sys.argv[1:]:
    case ["info"]:
        table()
    case ["info", "-t", "health", "-i", which]:
        form(int(which))
    case ["info", "-m"]:
        mapping()
    case _:
        sys.exit("npu-smi: not a command of this stand-in")
