"""A bug of ours leaves a file that can be attached to an issue: versions, command, traceback, redacted."""

from __future__ import annotations

import platform
import tempfile
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_state_path

from backproof import __version__
from backproof.adapters.proc import format_command
from backproof.core.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Sequence


def write_crash(error: BaseException, argv: Sequence[str]) -> Path:
    """Write the crash file and return its path; on a full or read-only state folder, a temporary one."""
    trace = "".join(traceback.format_exception(error))
    text = (
        f"# Backproof crash\n\n- backproof {__version__}\n- Python {platform.python_version()} on {platform.platform()}\n"
        f"- command: `{format_command(['backproof', *argv])}`\n\n```\n{redact(trace)}\n```\n"
    )
    name = f"crash-{datetime.now(UTC):%Y%m%dT%H%M%S}.md"
    try:
        folder = user_state_path("backproof", ensure_exists=True)
        (folder / name).write_text(text, encoding="utf-8")
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="backproof-"))
        (folder / name).write_text(text, encoding="utf-8")
    return folder / name
