"""The release's own tests of a change: which reach it, that none got worse, and what none of them executes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from own_tests import FILES, FIXED_PRICE, NEW_TEST, PRICE, TESTS, prove

if TYPE_CHECKING:
    from pathlib import Path

    from repositories import Repository

OTHER = "import shop\n\n\ndef test_other():\n    assert shop\n"


@pytest.fixture
def shop(upstream: Repository) -> Repository:
    upstream.commit("the shop (#1)", {**FILES, "tests/test_other.py": OTHER})
    upstream.switch("release")
    return upstream


def test_a_fix_without_a_test_has_the_releases_own(shop: Repository, tmp_path: Path) -> None:
    record = prove(shop, tmp_path, shop.commit("fix (#2)", {"src/shop/price.py": FIXED_PRICE}))
    assert (record.outcome, record.reason) == ("not proved", "the fix has no test")
    shown = record.release_tests
    assert shown is not None
    assert (shown.files, shown.tests, shown.worse) == (("tests/test_price.py",), 2, ())
    assert shown.reach == ("tests/test_price.py::test_price",)
    assert (shown.lines.changed, shown.lines.reached) == (1, 1)
    assert record.unreached == ()
    assert record.functions == ("src/shop/price.py::price",)
    assert record.next_step.startswith(
        "write a test that calls src/shop/price.py::price, red without the fix; or a kit"
    )
    assert [arm.loaded.keys() for arm in record.arms] == [{"src/shop/price.py"}, {"src/shop/price.py"}]
    assert "tests/release-fixed-2-0.events.jsonl" in {item.path for item in record.evidence}
    assert not (tmp_path / "proof" / "arms").exists()


def test_lines_that_no_test_executes_are_named(shop: Repository, tmp_path: Path) -> None:
    limit = PRICE.replace("    return count * RATE", "    if count > 9:\n        return 9\n    return count * RATE")
    record = prove(shop, tmp_path, shop.commit("fix (#2)", {"src/shop/price.py": limit}))
    assert record.unreached == ("src/shop/price.py:7",)


def test_a_test_of_the_release_that_gets_worse_is_a_fail(shop: Repository, tmp_path: Path) -> None:
    broken = PRICE.replace("count * RATE", "count * RATE + 1")
    record = prove(shop, tmp_path, shop.commit("fix (#2)", {"src/shop/price.py": broken}))
    assert record.outcome == "fail"
    assert record.reason.startswith("a test of the release got worse: tests/test_price.py::test_price: AssertionError")


def test_a_proof_asks_them_only_when_it_is_told_to(shop: Repository, tmp_path: Path) -> None:
    files: dict[str, str | bytes | None] = {"tests/test_rate.py": TESTS}
    shop.commit("more tests", files)
    fix = shop.commit("fix (#2)", {"src/shop/price.py": FIXED_PRICE, "tests/test_price.py": TESTS + NEW_TEST})
    assert prove(shop, tmp_path / "a", fix).release_tests is None
    record = prove(shop, tmp_path / "b", fix, guards=True)
    assert record.outcome == "proved"
    assert record.release_tests is not None
    assert record.release_tests.reach == ("tests/test_rate.py::test_price",)


def test_where_nothing_names_the_change_nothing_runs(shop: Repository, tmp_path: Path) -> None:
    record = prove(shop, tmp_path, shop.commit("new (#2)", {"src/shop/unheard.py": "def unheard():\n    return 1\n"}))
    assert record.release_tests is not None
    assert (record.release_tests.files, record.evidence) == ((), ())


def test_time_that_is_up_leaves_what_ran(shop: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hangs = TESTS + "\n\ndef test_hangs():\n    while price: ...\n"
    shop.commit("a test that hangs", {"tests/test_price.py": hangs})
    monkeypatch.setattr("backproof.proving.prove._BUDGET", 5.0)
    record = prove(shop, tmp_path, shop.commit("fix (#2)", {"src/shop/price.py": FIXED_PRICE}))
    assert record.release_tests is not None
    assert record.release_tests.cut
    assert record.release_tests.reach == ("tests/test_price.py::test_price",)


def test_a_test_that_a_busy_host_makes_red_is_no_fail(shop: Repository, tmp_path: Path) -> None:
    """It is green on base and red with the fix in every run, and executes nothing of the fix."""
    counts = (
        f"\n\nimport pathlib\n\n\ndef test_by_chance():\n    runs = pathlib.Path('{tmp_path}/runs')\n"
        "    with runs.open('a') as stream:\n        stream.write('.')\n    assert len(runs.read_text()) % 2\n"
    )
    shop.commit("a test by chance", {"tests/test_price.py": TESTS + counts})
    record = prove(shop, tmp_path, shop.commit("fix (#2)", {"src/shop/price.py": FIXED_PRICE}))
    assert record.outcome == "not proved"
    assert record.release_tests is not None
    assert record.release_tests.worse == ()
    assert (tmp_path / "runs").read_text() == "." * 6
