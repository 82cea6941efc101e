"""Where this Backproof was installed from, so that a reader of the comment can install the same.

https://packaging.python.org/en/latest/specifications/direct-url/
"""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from backproof.adapters.git.command import run_git

SOURCES = "sources"


def describe_origin() -> str:
    """Return a requirement for pip, or `sources`, with their commit where they are a clone. Never a path or a password."""
    try:
        installed = metadata.distribution("backproof")
    except metadata.PackageNotFoundError:
        return SOURCES
    text = installed.read_text("direct_url.json")
    return _describe_address(json.loads(text)) if text else f"backproof=={installed.version}"


def _describe_address(address: dict[str, Any]) -> str:
    parts, vcs = urlsplit(address.get("url", "")), address.get("vcs_info", {})
    if vcs.get("vcs") == "git" and parts.scheme == "https":
        host = f"{parts.hostname}{f':{parts.port}' if parts.port else ''}"
        return f"backproof @ git+https://{host}{parts.path}@{vcs['commit_id']}"
    commit = vcs.get("commit_id") or _read_commit(Path(unquote(parts.path)) if parts.scheme == "file" else None)
    return f"{SOURCES} at {commit}" if commit else SOURCES


def _read_commit(folder: Path | None) -> str:
    """Return the commit of a clone of ours; an archive, or a folder inside another repository, has none."""
    if folder is None or not (folder / ".git").exists():
        return ""
    done = run_git("rev-parse", "HEAD", cwd=folder)
    return done.text.strip() if done.code == 0 else ""
