"""The campaign can fail: what must not be said is said here, and it notices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from run_adversary import list_attempts, print_count
from scene import Attempt, Said

if TYPE_CHECKING:
    from scene import Scene


def say_nothing(scene: Scene) -> Said:
    raise NotImplementedError


ATTEMPT = Attempt(row=1, name="a", act=say_nothing, codes=(2,), words=("refused",))


@pytest.mark.parametrize(
    ("said", "trouble"),
    [
        (Said(code=2, text="refused"), ""),
        (Said(code=0, text="PASS at level 2"), "claims a proof"),
        (Said(code=2, text="refused, and PASS at level 2"), "claims a proof"),
        (Said(code=1, text="refused"), "refutes the backport"),
        (Said(code=2, text="refused: the backport does not hold"), "refutes the backport"),
        (Said(code=70, text="refused"), "exit code 70"),
        (Said(code=2, text="no"), "not said: refused"),
    ],
)
def test_an_attempt_holds_only_by_its_words_and_its_code(said: Said, trouble: str) -> None:
    assert trouble in ATTEMPT.find_trouble(said)
    assert bool(ATTEMPT.find_trouble(said)) == bool(trouble)


def test_only_an_equal_count_is_a_success(capsys: pytest.CaptureFixture[str]) -> None:
    assert print_count({ATTEMPT: ""}) == 0
    assert print_count({ATTEMPT: "it claims a proof"}) == 1
    assert print_count({}) == 1
    assert "tried 1, held 0" in capsys.readouterr().out


def test_each_row_has_five_attempts_of_different_names() -> None:
    table = list_attempts()
    assert len({(attempt.row, attempt.name) for attempt in table}) == len(table)
    for row in {*range(1, 22)} - {14}:
        assert sum(attempt.row == row for attempt in table) >= 5, row
