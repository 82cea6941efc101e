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


def sibling(name: str) -> Any:
    """Another file of the probe, whatever sys.path says (PYTHONSAFEPATH leaves our folder out)."""
    spec = importlib.util.spec_from_file_location("_backproof_" + name, str(HERE / (name + ".py")))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


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
        "flags": {name: int(getattr(sys.flags, name, 0)) for name in names},
    }


def print_probe() -> None:
    marker = sys.argv[1]
    sibling("probe_cache")
    sibling("probe_reasons")
    search, distributions = sibling("probe_search"), sibling("probe_distributions")
    request = json.loads(sys.stdin.read())
    launch = request["launch"]
    as_the_service(launch)
    facts = {
        "interpreter": interpreter(),
        "path": [search.entry(item, launch) for item in sys.path],
        "distributions": distributions.facts(request["distribution"]),
        "modules": [search.module(name, path, launch) for name, path in request["modules"].items()],
    }
    # Not sys.stdout: the target's start-up code may have put something else there.
    os.write(1, ("\n" + marker + json.dumps(facts) + "\n").encode("ascii"))
    os._exit(0)  # what the target registered to run at exit is not ours to wait for


if __name__ == "__main__":
    print_probe()
