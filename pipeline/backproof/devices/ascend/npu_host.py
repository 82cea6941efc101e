"""The host with the device nodes of its NPUs. An inventory counts for results of the same host and boot only."""

from __future__ import annotations

import re
import stat
from pathlib import Path
from typing import Final

from backproof.host.identity import HostIdentity, read_identity

_NODE: Final = re.compile(r"^davinci\d+$")


class NpuHost(HostIdentity):
    """One host in one boot, and the device nodes that the NPU driver made there."""

    nodes: tuple[str, ...]


def read_npu_host() -> NpuHost:
    """Read where this process runs, with the device nodes."""
    return NpuHost(**read_identity().model_dump(), nodes=find_nodes())


def find_nodes(dev: Path = Path("/dev")) -> tuple[str, ...]:
    """Return the device nodes that the driver makes. A program that only talks like npu-smi has none."""
    try:
        names = sorted(path.name for path in dev.iterdir() if _NODE.match(path.name))
    except OSError:
        return ()
    return tuple(name for name in names if _is_device(dev / name))


def _is_device(path: Path) -> bool:
    try:
        return stat.S_ISCHR(path.stat().st_mode)
    except OSError:
        return False
