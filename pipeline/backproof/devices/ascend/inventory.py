"""What this host is, as evidence: chips, driver, firmware, CANN, packages. Nothing in it is assumed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from backproof.core.model import Record, Sha256
from backproof.devices.ascend import NAME, npu_smi
from backproof.devices.ascend.npu_host import NpuHost, read_npu_host
from backproof.devices.ascend.table import Table  # noqa: TC001 - pydantic reads it
from backproof.host.software import Software  # noqa: TC001 - pydantic reads it
from backproof.host.versions import read_versions
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
        """One sentence for each value that could not be read."""
        facts = (self.tool, self.driver, self.firmware, self.runtime)
        reasons = [f"{reading.name}: {reading.why}" for reading in facts if reading.why]
        packages = [f"{name}: {package.why}" for name, package in self.software.packages.items() if package.why]
        whole = [self.software.why] if self.software.why else []
        return (*self.table.unread, *reasons, *whole, *packages)


def read_hardware(python: Path, env: Mapping[str, str] | None = None) -> Hardware:
    """Read all that this host tells about itself.

    Raises:
        DeviceError: npu-smi is not there, failed or hung. Everything else that is missing is a reason in the record.
    """
    table, text = npu_smi.read_table()
    program = npu_smi.find_program()
    versions = read_versions(python, env=env, npu_smi=text)
    host = read_npu_host()
    why = _explain_stand_in(table, host)
    return Hardware(
        place=host,
        table=table,
        tool=_read_tool(table, program),
        tool_sha256=sha256_of(program) if program else None,
        driver=versions.driver,
        firmware=versions.firmware,
        runtime=versions.runtime,
        software=versions.software,
        stand_in=bool(why),
        stand_in_why=why,
    )


def _read_tool(table: Table, program: Path | None) -> Reading:
    why = "" if table.tool else "npu-smi names no version of its own"
    return Reading(name="npu-smi", value=table.tool, source=str(program or ""), why=why)


def _explain_stand_in(table: Table, host: NpuHost) -> str:
    """Return why this is no device; empty when it is one."""
    if table.stand_in:
        return "npu-smi says itself that it is a stand-in"
    # A stand-in that does not say so is caught here: the driver makes a character device per chip.
    return "" if host.nodes else "npu-smi answered, but the driver has made no device node /dev/davinci<N>"


def build_inventory(hardware: Hardware) -> DeviceInventory:
    """Return the facts that the verdict asks for; an empty driver or runtime keeps the run at level 2."""
    packages = {name: package.version for name, package in hardware.software.packages.items() if package.version}
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


def describe_hardware(hardware: Hardware) -> dict[str, str]:
    """Return facts that do not change while a host runs: they go into the digest that decides about reuse."""
    names = sorted({chip.name for chip in hardware.table.chips})
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
