"""The target interpreter that these tests talk to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from target_process import SYNTHETIC, Target


@pytest.fixture(scope="session")
def target_python() -> Path:
    """The interpreter that has CPU torch, Triton and the release under test."""
    named = os.environ.get("BACKPROOF_TARGET_PYTHON")
    if not named:
        pytest.fail("BACKPROOF_TARGET_PYTHON must name the interpreter of a target environment")
    return Path(named)


@pytest.fixture(scope="session")
def synthetic(target_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Target:
    """The synthetic target of this folder."""
    return Target(python=target_python, work=tmp_path_factory.mktemp("requests"), path=(SYNTHETIC,))
