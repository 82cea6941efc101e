"""The identity of this host: name, boot, container, kernel. Results of another host or boot are never put together."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path
from typing import Final

from backproof.core.model import Record

_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_CONTAINER: Final = re.compile(r"docker|containerd|kubepods|libpod|lxc")


class HostIdentity(Record):
    """One host in one boot."""

    host: str
    boot_id: str
    container: str
    kernel: str
    machine: str


def read_identity(*, boot: Path = _BOOT) -> HostIdentity:
    """Read the identity of the host that this process runs on."""
    return HostIdentity(
        host=platform.node(),
        boot_id=_read_text(boot),
        container=_find_container(),
        kernel=platform.release(),
        machine=platform.machine(),
    )


def _find_container() -> str:
    """Tell a container from a host; a container names its kind."""
    if Path("/.dockerenv").exists():
        return "container (docker)"
    if os.environ.get("KUBERNETES_SERVICE_HOST"):
        return "container (kubernetes)"
    if manager := os.environ.get("container"):  # noqa: SIM112 - systemd-nspawn and podman write it small
        return f"container ({manager[:30]})"
    runtime = _CONTAINER.search(_read_text(Path("/proc/1/cgroup")))
    return f"container ({runtime[0]})" if runtime else "host"


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
