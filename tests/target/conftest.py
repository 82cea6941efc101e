"""The synthetic target that the emulator's own tests talk to."""

from __future__ import annotations

from pathlib import Path

import pytest
from target_process import SYNTHETIC, Target


@pytest.fixture(scope="session")
def synthetic(target_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Target:
    """The synthetic target of this folder."""
    return Target(python=target_python, work=tmp_path_factory.mktemp("requests"), path=(SYNTHETIC,))
