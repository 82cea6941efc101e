"""A slice of the duplicates campaign, and that it can fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import run_duplicates
from backproof.adapters.github.comment import CommentPlace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from server import StandIn

SLICE = 24
pytestmark = pytest.mark.usefixtures("_contract")


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    with run_duplicates.serve() as hub:
        yield hub
        assert hub.violations == []


def test_one_comment_is_left(stand_in: StandIn) -> None:
    results = [run_duplicates.attempt(stand_in, number) for number in range(SLICE)]
    assert [tried for tried in results if tried.left != 1] == []
    assert [tried for tried in results if tried.after_first > 1 and not tried.at_once] == []
    assert {bool(tried.faults) for tried in results} == {tried.at_once for tried in results} == {True, False}
    assert run_duplicates.tell(results, []) == 0


def test_a_second_comment_that_stays_is_found_out(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(CommentPlace, "_remove_twins", lambda *_: None)
    results = [run_duplicates.attempt(stand_in, number) for number in range(3, SLICE, 4)]
    assert run_duplicates.tell(results, []) == 1
    assert "NOT ONE" in capsys.readouterr().out


def test_nothing_tried_is_no_success() -> None:
    assert run_duplicates.tell([], []) == 1
