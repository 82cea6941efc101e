"""Several turns of the same tests from one collection: each in a process forked when all is imported, none before it is asked for.

The imports of a large target cost more than its tests. What one turn does to the process is gone with it. A turn is asked for
with a file, `NAME.turn.json` in the folder of turns, and answered with `NAME.done.json`; a file `end` ends the process.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_POLL = 0.02
_TIMED_OUT = 124


def fork_turns(folder: Path, begin: Callable[[dict[str, Any]], None]) -> bool:
    """Fork a process for each turn that is asked for. Return True in a forked one, which is to run it; False at the end."""
    for turn in _await_turns(folder):
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # threads of the target: nobody forks while they work, for nothing was run yet
            child = os.fork()
        if not child:
            os.setsid()
            _die_with_parent()
            begin(turn)
            return True
        answer = Path(folder, f"{turn['name']}.done.json")
        answer.with_suffix(".part").write_text(json.dumps({"code": _await_child(child, turn["timeout"])}))
        answer.with_suffix(".part").replace(answer)
    return False


def _await_turns(folder: Path) -> Iterator[dict[str, Any]]:
    seen: set[str] = set()
    while not (folder / "end").exists():
        waiting = sorted(path for path in folder.glob("*.turn.json") if path.name not in seen)
        for path in waiting:
            seen.add(path.name)
            yield json.loads(path.read_text())
        if not waiting:
            time.sleep(_POLL)


def _await_child(child: int, patience: float) -> int:
    """Return its exit code, negative for a signal; one that hangs is killed with all that it started."""
    limit = time.monotonic() + patience
    ended, status = os.waitpid(child, os.WNOHANG)
    while not ended and time.monotonic() < limit:
        time.sleep(_POLL)
        ended, status = os.waitpid(child, os.WNOHANG)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if ended:
        return os.waitstatus_to_exitcode(status)
    os.waitpid(child, 0)
    return _TIMED_OUT


def _die_with_parent() -> None:
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
