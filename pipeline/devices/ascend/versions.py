"""Versions of driver, firmware and CANN from the files that their installers leave; each that is unread says why."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import Field

from pipeline.model import Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT: Final = Path("/usr/local/Ascend")
_LIMIT: Final = 65_536
_LINE: Final = re.compile(r"^\s*([A-Za-z_][\w ]*?)\s*[=:]\s*\[?([^\]\n]+?)\]?\s*$", re.MULTILINE)
_WANTED: Final = ("version", "package_version", "innerversion", "runtime_running_version", "toolkit_running_version")


class Fact(Record):
    """One thing that was asked: its value and where it stands, or why there is none."""

    value: str | None
    source: str = ""
    why: str = Field(default="", description="why it could not be read")


def driver(root: Path = ROOT) -> Fact:
    return first([root / "driver" / "version.info"], "the driver's")


def firmware(root: Path = ROOT) -> Fact:
    return first([root / "firmware" / "version.info"], "the firmware's")


def runtime(root: Path = ROOT, env: Mapping[str, str] | None = None) -> Fact:
    """The version of CANN: of the toolkit that this environment names, else of the one that is installed."""
    return first(list(_toolkits(root, os.environ if env is None else env)), "CANN's")


def _toolkits(root: Path, env: Mapping[str, str]) -> Iterator[Path]:
    homes = [Path(env[name]) for name in ("ASCEND_TOOLKIT_HOME", "CANN_HOME", "ASCEND_HOME_PATH") if env.get(name)]
    # Newer releases install to cann-<version>; the highest name is the newest.
    homes += [root / "ascend-toolkit" / "latest", root / "cann", *sorted(root.glob("cann-*"), reverse=True)]
    for home in homes:
        yield home / f"{platform.machine()}-linux" / "ascend_toolkit_install.info"
        yield home / "ascend_toolkit_install.info"
        yield home / "version.cfg"
        yield home / "compiler" / "version.info"


def first(paths: Sequence[Path], whose: str) -> Fact:
    """The first file that names a version."""
    tried: list[str] = []
    for path in paths:
        try:
            with path.open("rb") as stream:
                text = stream.read(_LIMIT).decode("utf-8", "replace")
        except OSError as error:
            tried.append(f"{path}: {error.strerror}")
            continue
        if found := version_in(text):
            return Fact(value=found, source=str(path))
        tried.append(f"{path}: no version in it")
    return Fact(value=None, why=f"{whose} version: {'; '.join(tried[:6]) or 'nowhere to look'}")


def version_in(text: str) -> str | None:
    """`Version=26.0.rc1`, `package_version=...`, or `runtime_running_version=[7.3.0.1:CANN-9.2.0]` of version.cfg."""
    fields = {key.lower(): value.strip() for key, value in _LINE.findall(text)}
    found = next((fields[key] for key in _WANTED if fields.get(key)), None)
    return found.rpartition(":")[2].strip()[:100] if found else None
