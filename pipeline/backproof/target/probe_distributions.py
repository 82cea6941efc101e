"""Every installation record of one distribution that sys.path reaches, the one that wins first."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import re
import sysconfig
from pathlib import Path
from typing import Any


def list_records(name: str) -> list[dict[str, Any]]:
    wanted = _normal_name(name)
    found, seen = [], set()
    for distribution in importlib.metadata.distributions():
        folder = Path(str(getattr(distribution, "_path", "")))
        if str(folder) not in seen and _normal_name(_record_stem(folder)) == wanted:
            seen.add(str(folder))
            found.append(_describe_distribution(distribution, folder))
    return found


def _record_stem(folder: Path) -> str:
    """The name part of demo-1.0.dist-info or demo.egg-info: a broken installation has no metadata to ask."""
    return re.split(r"-|\.(?:dist|egg)-info$", folder.name)[0]


def _normal_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _describe_distribution(distribution: importlib.metadata.Distribution, folder: Path) -> dict[str, Any]:
    direct = _direct_url(distribution)
    points = list(distribution.entry_points)
    return {
        "folder": str(folder),
        "location": str(folder.parent),
        "version": str(distribution.metadata["Version"] or ""),
        "editable": bool(direct.get("dir_info", {}).get("editable")) or _is_development(folder),
        "origin": str(direct.get("url", "")),
        "installer": (distribution.read_text("INSTALLER") or "").strip(),
        "record_sha256": _read_sha256(folder / "RECORD"),
        "metadata_sha256": _read_sha256(folder / "METADATA"),
        "scripts": sorted(point.name for point in points if point.group == "console_scripts"),
        "entry_points": sorted(f"{point.group}: {point.name} = {point.value}" for point in points),
    }


def _direct_url(distribution: importlib.metadata.Distribution) -> dict[str, Any]:
    try:
        found = json.loads(distribution.read_text("direct_url.json") or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _is_development(folder: Path) -> bool:
    """`setup.py develop` leaves no direct_url.json but a record inside the checkout; later tools leave a .pth."""
    homes = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
    in_checkout = folder.name.endswith(".egg-info") and str(folder.parent) not in homes
    return in_checkout or any(folder.parent.glob("__editable__." + _record_stem(folder) + "-*.pth"))


def _read_sha256(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
