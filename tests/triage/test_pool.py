"""The processes that share the work of large inputs: they are children, and no second command."""

from __future__ import annotations

import json
import subprocess
import sys

# A process of its own, since ours has threads, and with threads around nothing is forked; a ticker is one that may be there.
_COMMAND = """
import json, os, signal, sys
from backproof.core.ticker import tick
from backproof.triage import pool

def told(signum, frame):
    print("Traceback of the command", file=sys.stderr)
    raise SystemExit(130)

def ending(part):
    return part, f"{signal.getsignal(signal.SIGTERM)!r} {os.getpid()}"

signal.signal(signal.SIGTERM, told)
pool._scan_one, pool._count_cpus = ending, lambda: 2
with tick(0.001, lambda: None):
    found = pool._scan_in_processes([1, 2, 3, 4])
print(json.dumps([os.getpid(), found]))
"""


def test_a_child_ends_at_sigterm_and_does_not_answer_it_as_the_command_would() -> None:
    done = subprocess.run([sys.executable, "-c", _COMMAND], capture_output=True, text=True, timeout=60, check=True)
    parent, found = json.loads(done.stdout)
    assert [part for part, _ in found] == [1, 2, 3, 4]
    handlers, pids = zip(*(text.rsplit(" ", 1) for _, text in found), strict=True)
    assert str(parent) not in pids
    assert set(handlers) == {"<Handlers.SIG_DFL: 0>"}
    assert done.stderr == ""
