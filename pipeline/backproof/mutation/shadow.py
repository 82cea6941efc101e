"""One wrong version of an installed file, in a folder that a process has before site-packages.

The installed package is not touched, so several versions can run at once: the package's folders down to the file are made
anew, everything else in them is a link to what is installed.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from backproof.devices.check_run import Shadow


def make_shadow(folder: Path, site: Path, installed: str, source: bytes) -> Shadow:
    """Make the folder.

    Args:
        folder: a new one.
        site: site-packages of the target.
        installed: path of the file below it.
        source: the wrong version.
    """
    parts = PurePosixPath(installed).parts
    for depth in range(1, len(parts)):
        place = folder.joinpath(*parts[:depth])
        place.mkdir(parents=True)
        for item in site.joinpath(*parts[:depth]).iterdir():
            if item.name not in {parts[depth], "__pycache__"}:
                (place / item.name).symlink_to(item)
    file = folder.joinpath(*parts)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(source)
    return Shadow(folder=folder, file=file)
