"""The environment of code that is not ours: variables from a list, and what is added to them."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from backproof.core.redaction import names_secret

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

PASSED = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "TZ",
    "TMPDIR",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "XDG_CACHE_HOME",
    "PYTHON*",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "SSL_CERT_*",
    "REQUESTS_CA_BUNDLE",
    "OMP_*",
    "MKL_*",
    "TORCH_*",
    "TRITON_*",
)
"""What code of a target gets of our environment: what it needs to start, and what its users steer it with.

No token, no agent of SSH, nothing of a CI job: what GitHub Actions reads back from a step is named by its variables.
"""


def select_environment(names: Sequence[str]) -> dict[str, str]:
    """Return the variables of this process that are named; a name that ends with `*` takes no secret with it."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in names or (not names_secret(name) and any(fnmatchcase(name, pattern) for pattern in names))
    }


def put_first_on_path(folder: Path) -> str:
    """Return PATH with a folder of programs before all others."""
    return f"{folder}{os.pathsep}{os.environ.get('PATH', os.defpath)}"


def build_environment(extra: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """Return a new environment for code that is not ours: what `PASSED` names, plus `extra`; None removes a name."""
    merged: dict[str, str | None] = {**select_environment(PASSED), **(extra or {})}
    return {name: value for name, value in merged.items() if value is not None}
