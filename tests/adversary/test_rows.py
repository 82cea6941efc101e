"""One attempt of each row of the campaign is made in every run of the tests; all of them take minutes (docs/adversary.md)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from run_adversary import list_attempts, make_attempt
from scene import set_scene

if TYPE_CHECKING:
    from scene import Attempt, Scene

FIRST = {attempt.row: attempt for attempt in reversed(list_attempts())}


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return set_scene(tmp_path_factory.mktemp("rows").resolve(), str(Path(sys.executable).with_name("backproof")))


def test_every_row_is_there() -> None:
    # Row 14, wrong versions of a fix that no check tells from it, is what `backproof mutate` counts (docs/strength.md).
    assert sorted(FIRST) == [*range(1, 14), *range(15, 22)]


@pytest.mark.parametrize("attempt", FIRST.values(), ids=lambda attempt: f"{attempt.row}-{attempt.name}")
def test_an_attempt_of_each_row_does_not_succeed(scene: Scene, attempt: Attempt) -> None:
    assert make_attempt(scene, attempt) == ""
