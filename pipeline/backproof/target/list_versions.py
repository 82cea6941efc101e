"""Which builds the target interpreter would load: ``python list_versions.py NONCE MODULE=DISTRIBUTION...``.

Prints one line: the nonce, a blank, and JSON. Nothing of the target is imported: an NPU package can hang at import when
its device is lost.
"""

from __future__ import annotations

import hashlib
import json
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_LIBRARIES = 400
"""Shared objects of one package that are hashed at most."""


def print_versions(arguments: list[str]) -> int:
    nonce, *wanted = arguments
    # A script's folder is put first on the path; the service would not have it.
    sys.path[:] = [item for item in sys.path if not item or Path(item).resolve() != Path(__file__).resolve().parent]
    found = {module: _describe_package(module, name) for module, _, name in (item.partition("=") for item in wanted)}
    print(nonce, json.dumps({"python": sys.version.split()[0], "packages": found}))
    return 0


def _describe_package(module: str, distribution: str) -> dict[str, Any]:
    try:
        version: str | None = metadata.version(distribution)
        why = ""
    except metadata.PackageNotFoundError:
        version, why = None, f"the distribution {distribution} is not installed"
    try:
        spec = find_spec(module)
    except (ImportError, ValueError) as error:
        return {"version": version, "why": f"{module} cannot be found: {error}"}
    if spec is None or not spec.origin or not Path(spec.origin).is_file():
        return {"version": version, "why": why or f"no module {module} on the path"}
    origin = Path(spec.origin)
    libraries = sorted(origin.parent.rglob("*.so*"))[:_LIBRARIES] if origin.name == "__init__.py" else []
    return {
        "version": version,
        "why": why,
        "file": str(origin),
        "sha256": _hash_file([origin]),
        "libraries": len(libraries),
        "libraries_sha256": _hash_file(libraries) if libraries else None,
    }


def _hash_file(paths: list[Path]) -> str:
    """One hash over files; several are taken with their names, for a swap of two is a change."""
    if len(paths) == 1:
        with paths[0].open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    whole = hashlib.sha256()
    for path in paths:
        with path.open("rb") as stream:
            whole.update(f"{path.name}\0{hashlib.file_digest(stream, 'sha256').hexdigest()}\n".encode())
    return whole.hexdigest()


if __name__ == "__main__":
    sys.exit(print_versions(sys.argv[1:]))
