"""Where we are: host, boot, container, device nodes. Results and inventory of another place do not belong together."""

from __future__ import annotations

import os
import platform
import re
import stat
from pathlib import Path
from typing import Final

from backproof.core.model import Record

_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_NODE: Final = re.compile(r"^davinci\d+$")
_CONTAINER: Final = re.compile(r"docker|containerd|kubepods|libpod|lxc")


class Place(Record):
    """One host in one boot."""

    host: str
    boot_id: str
    container: str
    kernel: str
    machine: str
    nodes: tuple[str, ...]


def here(*, boot: Path = _BOOT, dev: Path = Path("/dev")) -> Place:
    return Place(
        host=platform.node(),
        boot_id=_text(boot),
        container=_container(),
        kernel=platform.release(),
        machine=platform.machine(),
        nodes=nodes(dev),
    )


def nodes(dev: Path = Path("/dev")) -> tuple[str, ...]:
    """The device nodes that the driver makes. A program that only talks like npu-smi has none."""
    try:
        names = sorted(each.name for each in dev.iterdir() if _NODE.match(each.name))
    except OSError:
        return ()
    return tuple(name for name in names if _is_device(dev / name))


def _is_device(path: Path) -> bool:
    try:
        return stat.S_ISCHR(path.stat().st_mode)
    except OSError:
        return False


def _container() -> str:
    """Tell a container from a host; a container names what says so."""
    if Path("/.dockerenv").exists():
        return "container (docker)"
    if os.environ.get("KUBERNETES_SERVICE_HOST"):
        return "container (kubernetes)"
    if manager := os.environ.get("container"):  # noqa: SIM112 - systemd-nspawn and podman write it small
        return f"container ({manager[:30]})"
    found = _CONTAINER.search(_text(Path("/proc/1/cgroup")))
    return f"container ({found[0]})" if found else "host"


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
