"""A target of the test's own that has the real release: torch and the rest are borrowed by link, the release is copied.

What a test does to its site-packages stays there.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from checkout import ROOT

OWN = ("vllm_ascend", "vllm_ascend-")


@dataclass(frozen=True, kw_only=True)
class RealTarget:
    """An interpreter and its site-packages."""

    python: Path
    site: Path

    def snapshot(self) -> dict[str, tuple[str, int, int]]:
        """Every file of the release, and every name beside it: content, mode, time of change."""
        found: dict[str, tuple[str, int, int]] = {}
        for top in sorted(self.site.iterdir()):
            if top.is_symlink():
                found[top.name] = ("link", 0, 0)
                continue
            for path in [top] if top.is_file() else sorted(each for each in top.rglob("*") if each.is_file()):
                told = path.stat()
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                found[str(path.relative_to(self.site))] = (digest, told.st_mode, told.st_mtime_ns)
        return found


def make(folder: Path, borrowed: Path) -> RealTarget:
    """Make one in `folder`, borrowing from the interpreter of the shared target environment."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    site = folder / "lib" / version / "site-packages"
    for each in (borrowed.parent.parent / "lib" / version / "site-packages").iterdir():
        if each.name.startswith(OWN):
            shutil.copytree(each, site / each.name, symlinks=True)
        elif each.name != "__pycache__" and not each.name.startswith(".backproof"):
            (site / each.name).symlink_to(each)
    return RealTarget(python=folder / "bin" / "python", site=site)


def small_kit(folder: Path) -> Path:
    """The kit of 19353, cut to four rows under one operator model: seconds instead of a minute."""
    shutil.copytree(ROOT / "patches" / "19353", folder)
    path = folder / "plan.toml"
    text = path.read_text(encoding="utf-8")
    start, end = text.index("[[check]]"), text.index("[target]")
    check = '[[check]]\nid = "conv-state"\nfile = "checks/test_conv_state.py"\nselect = "test_decode and batch4 and eager"\n'
    check += (
        'claim = "four rows"\n[check.expect.raw]\nbase = "fault:mte-out-of-range"\npick = "pass"\nfixed = "pass"\n\n'
    )
    path.write_text(text[:start] + check + text[end:], encoding="utf-8")
    return folder


def backproof(*args: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a user would."""
    return subprocess.run(
        [Path(sys.executable).with_name("backproof"), *args],
        cwd=cwd,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
