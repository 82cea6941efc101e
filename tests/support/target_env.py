"""Real virtual environments with a tiny distribution in them: every way to shadow a module can be tried."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

FILES = {
    "demo/__init__.py": b"",
    "demo/ops/__init__.py": b"",
    "demo/ops/conv.py": b"def answer():\n    return 41\n",
    "demo/ops/other.py": b"def other():\n    return 1\n",
}
CONV = "demo/ops/conv.py"
FIXED = b"def answer():\n    return 42\n"


@dataclass(frozen=True, kw_only=True)
class Target:
    """A virtual environment and its site-packages."""

    folder: Path
    python: Path
    site: Path

    def write(self, name: str, content: bytes) -> Path:
        path = self.site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path


def make(folder: Path) -> Target:
    """An interpreter without anything."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    site = folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    return Target(folder=folder, python=python, site=site)


def install(target: Target, *, name: str = "demo", version: str = "1.0", files: dict[str, bytes] | None = None) -> None:
    """Put a distribution there as an installer does: files, METADATA, RECORD with hashes."""
    content = dict(FILES if files is None else files)
    info = f"{name}-{version}.dist-info"
    content[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()
    content[f"{info}/INSTALLER"] = b"test\n"
    content[f"{info}/entry_points.txt"] = b"[console_scripts]\ndemo-serve = demo:main\n"
    for path, data in content.items():
        target.write(path, data)
    rows = [f"{path},sha256={_digest(data)},{len(data)}" for path, data in content.items()]
    target.write(f"{info}/RECORD", "\n".join([*rows, f"{info}/RECORD,,", ""]).encode())


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
