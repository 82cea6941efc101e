"""What this host is, as evidence: chips, driver, firmware, CANN, packages. Nothing in it is assumed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from backproof.core.model import Record, Sha256
from backproof.devices.ascend import NAME, npu_smi, software
from backproof.devices.ascend.npu_host import NpuHost, read_npu_host
from backproof.devices.ascend.software import Software  # noqa: TC001 - pydantic reads it
from backproof.devices.ascend.table import Table  # noqa: TC001 - pydantic reads it
from backproof.host import baseline
from backproof.records.host import Reading
from backproof.records.proof import DeviceInventory
from backproof.rundir.ledger import sha256_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Hardware(Record):
    """hardware.json: everything that was read, and why the rest was not."""

    schema_version: Literal[1] = 1
    place: NpuHost
    table: Table
    tool: Reading
    tool_sha256: Sha256 | None
    driver: Reading
    firmware: Reading
    runtime: Reading
    software: Software
    stand_in: bool
    stand_in_why: str = Field(default="", description="why this is no device, in one sentence")

    @property
    def unread(self) -> tuple[str, ...]:
        """What could not be read, one sentence each."""
        facts = (self.tool, self.driver, self.firmware, self.runtime)
        read = [f"{each.name}: {each.why}" for each in facts if each.why]
        packages = [f"{name}: {each.why}" for name, each in self.software.packages.items() if each.why]
        whole = [self.software.why] if self.software.why else []
        return (*self.table.unread, *read, *whole, *packages)


def take(python: Path, env: Mapping[str, str] | None = None) -> Hardware:
    """Read all that this host says of itself.

    Raises:
        DeviceError: npu-smi is not there, failed or hung. Everything else that is missing is a reason in the record.
    """
    table, _ = npu_smi.info()
    program = npu_smi.path()
    read = {each.name: each for each in baseline.read(None, env={**os.environ, **(env or {})})}
    where = read_npu_host()
    why = _no_device(table, where)
    return Hardware(
        place=where,
        table=table,
        tool=_tool(table, program),
        tool_sha256=sha256_of(program) if program else None,
        driver=read["driver"],
        firmware=read["firmware"],
        runtime=read["CANN"],
        software=software.ask(python, env),
        stand_in=bool(why),
        stand_in_why=why,
    )


def _tool(table: Table, program: Path | None) -> Reading:
    why = "" if table.tool else "npu-smi names no version of its own"
    return Reading(name="npu-smi", value=table.tool, source=str(program or ""), why=why)


def _no_device(table: Table, where: NpuHost) -> str:
    if table.stand_in:
        return "npu-smi says itself that it is a stand-in"
    # Whoever forgets the mark is caught here: the driver makes a character device per chip.
    return "" if where.nodes else "npu-smi answered, but the driver has made no device node /dev/davinci<N>"


def record(hardware: Hardware) -> DeviceInventory:
    """What the verdict asks for; an empty driver or runtime keeps the run at level 2."""
    packages = {name: each.version for name, each in hardware.software.packages.items() if each.version}
    facts = {"firmware": hardware.firmware.value, "npu-smi": hardware.tool.value, "kernel": hardware.place.kernel}
    return DeviceInventory(
        device=NAME,
        host=hardware.place.host,
        boot_id=hardware.place.boot_id,
        driver=hardware.driver.value or "",
        runtime=f"CANN {hardware.runtime.value}" if hardware.runtime.value else "",
        versions={**{name: value for name, value in facts.items() if value}, **packages},
        stand_in=hardware.stand_in,
    )


def described(hardware: Hardware) -> dict[str, str]:
    """Facts that do not change while a host runs: they go into the digest that decides about reuse."""
    names = sorted({each.name for each in hardware.table.chips})
    facts = {
        "device": NAME,
        "host": hardware.place.host,
        "boot_id": hardware.place.boot_id,
        "place": hardware.place.container,
        "chips": f"{len(hardware.table.chips)} x {', '.join(names)}",
        "driver": hardware.driver.value or "unread",
        "runtime": hardware.runtime.value or "unread",
        "npu-smi": hardware.tool.value or "unread",
    }
    return {**facts, "stand-in": hardware.stand_in_why} if hardware.stand_in else facts
