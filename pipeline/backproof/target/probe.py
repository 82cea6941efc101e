"""Says what the target's import system would load, without importing any of it.

Sent by path to the target interpreter: standard library only, Python 3.8 or newer, one JSON line after a marker (the
target may print what it likes). Request on stdin: {"launch": "script" | "module", "distribution": name,
"modules": {module name: path in the repository}}.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import sys
import sysconfig
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def as_the_service(launch: str) -> None:
    """Make sys.path what it is when the service is started: our own folder would shadow the target."""
    ours = str(HERE)
    sys.path[:] = [item for item in sys.path if not item or str(Path(item).resolve()) != ours]
    if getattr(sys.flags, "safe_path", False):
        return
    # `python -m` puts the current folder first, a console script its own folder.
    sys.path.insert(0, str(Path.cwd()) if launch == "module" else sysconfig.get_path("scripts"))


def interpreter() -> dict[str, Any]:
    names = ("optimize", "isolated", "no_user_site", "safe_path")
    return {
        "executable": sys.executable,
        "version": platform.python_version(),
        "implementation": sys.implementation.name,
        "platform": platform.platform(),
        "prefix": sys.prefix,
        "base_prefix": sys.base_prefix,
        "purelib": sysconfig.get_path("purelib"),
        "platlib": sysconfig.get_path("platlib"),
        "pycache_prefix": sys.pycache_prefix or "",
        "lacks": [name for name in ("pytest", "coverage") if importlib.util.find_spec(name) is None],
        "flags": {name: int(getattr(sys.flags, name, 0)) for name in names},
    }


def print_probe() -> None:
    marker = sys.argv[1]
    sys.path.insert(0, str(HERE))  # PYTHONSAFEPATH leaves our folder out; as_the_service takes it off again
    import probe_distributions
    import probe_search

    request = json.loads(sys.stdin.read())
    launch = request["launch"]
    as_the_service(launch)
    facts = {
        "interpreter": interpreter(),
        "path": [probe_search.entry(item, launch) for item in sys.path],
        "distributions": probe_distributions.list_records(request["distribution"]),
        "modules": [probe_search.module(name, path, launch) for name, path in request["modules"].items()],
    }
    # Not sys.stdout: the target's start-up code may have put something else there.
    os.write(1, ("\n" + marker + json.dumps(facts) + "\n").encode("ascii"))
    os._exit(0)  # what the target registered to run at exit is not ours to wait for


if __name__ == "__main__":
    print_probe()
