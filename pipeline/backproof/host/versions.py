"""The one reader of a host: driver, firmware, CANN and packages, each with its source or the reason why it is unread.

Most of it is absent on a host without an NPU: that is a reading with a reason, never an error.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from packaging.version import Version

from backproof.adapters import proc
from backproof.host.baseline import parse_version
from backproof.host.software import PACKAGES, Package, Software, read_software
from backproof.records.host import Reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

# hiascend software installation guide, "File Paths": where each package records its version.
_ASCEND: Final = "usr/local/Ascend"
_INSTALL: Final = "etc/ascend_install.info"
"""Says where driver and firmware are when they are not in their usual place."""
_INSTALL_PATH: Final = re.compile(r"^(?P<name>Driver|Firmware)_Install_Path_Param=/?(?P<path>\S+)", re.MULTILINE)
_TOOLKITS: Final = (f"{_ASCEND}/ascend-toolkit/latest", f"{_ASCEND}/cann", f"{_ASCEND}/nnae/latest")
_INSTALLED: Final = ("ascend_toolkit_install.info", "ascend_nnae_install.info", "version.cfg", "version.info")
_VERSION: Final = re.compile(
    r"^\s*(?:version|Version|toolkit_running_version|\w*version)\s*=\s*\[?\"?(?:[\w.]*:)?(?P<v>[\w.+-]+)", re.MULTILINE
)
_TOOL: Final = re.compile(r"npu-smi[ \t]+(?P<tool>[^\s|]+)(?:.*?Version\s*:\s*(?P<driver>[^\s|]+))?")
_TOOL_ARGV: Final = ("npu-smi", "info")


@dataclass(frozen=True, kw_only=True, slots=True)
class HostVersions:
    """All versions that were read; `python` is the interpreter that was asked for packages."""

    python: Path | None
    driver: Reading
    firmware: Reading
    runtime: Reading
    software: Software

    @property
    def readings(self) -> tuple[Reading, ...]:
        """Driver, firmware, CANN, then the packages by the names of their distributions."""
        return (self.driver, self.firmware, self.runtime, *self._packages())

    def _packages(self) -> Iterator[Reading]:
        for module, name in PACKAGES.items():
            package = self.software.packages.get(module, Package(why=self.software.why))
            why = f"{package.why} (asked {self.python})" if package.why and self.python else package.why
            yield Reading(name=name, value=package.version, source=str(self.python or ""), why=why)


def read_versions(
    python: Path | None,
    *,
    env: Mapping[str, str] | None = None,
    root: Path = Path("/"),
    npu_smi: str | None = None,
) -> HostVersions:
    """Read each version once.

    Args:
        python: the target interpreter; without one, no packages are read.
        env: what the service adds to our environment.
        root: where the host's files are.
        npu_smi: the output of `npu-smi info`, where it has run already.
    """
    none = Software(why="no target interpreter was given")
    return HostVersions(
        python=python,
        driver=_read_driver(root, npu_smi),
        firmware=_read_installed("firmware", root),
        runtime=_read_runtime(root, {**os.environ, **(env or {})}),
        software=read_software(python, env) if python else none,
    )


def find_tool_versions(text: str) -> tuple[str | None, str | None]:
    """Return the versions of npu-smi itself and of the driver, from the output of `npu-smi info`."""
    match = _TOOL.search(text)
    return (match["tool"], match["driver"]) if match else (None, None)


def _read_driver(root: Path, npu_smi: str | None) -> Reading:
    reading = _read_installed("driver", root)
    if reading.value is not None:
        return reading
    why = "npu-smi info names no version"
    if npu_smi is None:
        done = proc.run_process(_TOOL_ARGV, timeout=60)
        npu_smi, why = (done.text, why) if done.code == 0 else ("", f"npu-smi info ended with code {done.code}")
    tool, driver = find_tool_versions(npu_smi)
    if version := driver or tool:
        return Reading(name="driver", value=version, source="npu-smi info")
    return Reading(name="driver", value=None, why=f"{reading.why}; {why}")


def _read_installed(name: str, root: Path) -> Reading:
    """Read the version of driver or firmware, where the installer says it put them, else in the usual place."""
    try:
        text = (root / _INSTALL).read_text("utf-8", "replace")[:20_000]
    except OSError:
        text = ""
    named = [hit["path"] for hit in _INSTALL_PATH.finditer(text) if hit["name"].lower() == name]
    return _read_file(
        name, root, [f"{place.rstrip('/')}/{name}/version.info" for place in dict.fromkeys([*named, _ASCEND])]
    )


def _read_file(name: str, root: Path, paths: Iterable[str]) -> Reading:
    """Return the first version in one of the files."""
    reasons = []
    for path in paths:
        try:
            text = (root / path).read_text("utf-8", "replace")[:20_000]
        except OSError as error:
            reasons.append(f"could not read /{path}: {error.strerror or error}")
            continue
        if match := _VERSION.search(text):
            return Reading(name=name, value=match["v"], source=f"/{path}")
        reasons.append(f"no version in /{path}")
    return Reading(name=name, value=None, why="; ".join(reasons) or "no place to look")


def _read_runtime(root: Path, env: Mapping[str, str]) -> Reading:
    named = [env[name].lstrip("/") for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME") if env.get(name)]
    # Newer toolkits install to cann-<version>: the newest one is in use where nothing says otherwise.
    installed = sorted((path.name for path in (root / _ASCEND).glob("cann-*")), key=_read_folder_version, reverse=True)
    newest = (f"{_ASCEND}/{name}" for name in installed)
    homes = [home for home in (*named, *_TOOLKITS, *newest) if (root / home).is_dir()]
    files = [str(path.relative_to(root)) for home in homes for path in _list_version_files(root / home)]
    if not files:
        return Reading(name="CANN", value=None, why="no toolkit in its usual places, and ASCEND_HOME_PATH names none")
    return _read_file("CANN", root, files)


def _read_folder_version(name: str) -> Version:
    return parse_version(name.removeprefix("cann-")) or Version("0")


def _list_version_files(home: Path) -> list[Path]:
    """Return the files of a toolkit that hold its version, the most telling first."""
    folders = (*sorted(home.glob("*-linux")), home)
    files = (folder / name for name in _INSTALLED for folder in folders)
    return list(dict.fromkeys(path for path in files if path.is_file()))
