"""`backproof prove` from the command line: one backport, a pull request, all since a tag; environments are made for real."""

from __future__ import annotations

import json
import sysconfig
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from backproof.cli import cli
from backproof.core.errors import PlanError
from checkout import ROOT
from click.testing import CliRunner
from own_tests import FILES, FIXED_PRICE, NEW_TEST, PRICE, PROJECT, TESTS

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result
    from repositories import Repository

SCHEMA = json.loads((ROOT / "docs" / "schema" / "proof.schema.json").read_text(encoding="utf-8"))
# The environment borrows pytest from ours: no index is asked.
BORROW = f"""
[tool.backproof]
install = false
steps = [["{{python}}", "-c", "import pathlib, sysconfig; pathlib.Path(sysconfig.get_path('purelib'), 'ours.pth').write_text('{sysconfig.get_path("purelib")}')"]]
"""
BELOW = "tests/test_price.py::test_no_price_is_below_nothing"


@pytest.fixture
def shop(upstream: Repository) -> Repository:
    upstream.commit("the shop (#1)", {**FILES, "pyproject.toml": PROJECT + BORROW})
    upstream.git("tag", "v1")
    upstream.switch("release")
    upstream.git("checkout", "--quiet", "main")
    return upstream


def call(shop: Repository, tmp_path: Path, *words: str) -> Result:
    branch = [] if "--branches" in words else ["--branch", "release"]
    options = [*branch, "--repo", str(shop.folder), "--out", str(tmp_path / "out")]
    return CliRunner().invoke(cli, ["prove", *words, *options])


def read(result: Result) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def test_a_fix_on_main_is_picked_and_proved(shop: Repository, tmp_path: Path) -> None:
    fix = shop.commit(
        "no negative price (#2)", {"src/shop/price.py": FIXED_PRICE, "tests/test_price.py": TESTS + NEW_TEST}
    )
    result = call(shop, tmp_path, "owner/shop#2")
    assert result.exit_code == 0, result.output
    assert "proved: no negative price (#2) on release" in result.stdout
    assert "1 test of the fix fails without it and passes with it, twice each; 2 others unchanged" in result.stdout
    assert "environment: uv venv" in result.stderr
    again = call(shop, tmp_path, fix, "--json")
    jsonschema.validate(read(again), SCHEMA)
    assert (read(again)["class"], read(again)["proofs"], read(again)["commits"]) == ("behaviour", [BELOW], [fix])
    assert "environment:" not in again.stderr
    comment = (tmp_path / "out" / "comment.md").read_text()
    assert comment.startswith(
        "**1 test of the fix fails without it and passes with it**: no negative price (#\u20602) on `release`"
    )
    assert "Level 2 of 4, by the fix's own tests on a CPU" in comment
    assert f"- `{BELOW}`: AssertionError: assert -2 == 0" in comment
    assert f"backproof prove {fix} --branch release" in comment


def test_all_backports_since_a_tag_are_one_table(shop: Repository, tmp_path: Path) -> None:
    shop.git("checkout", "--quiet", "release")
    shop.commit("no negative price (#2)", {"src/shop/price.py": FIXED_PRICE, "tests/test_price.py": TESTS + NEW_TEST})
    shop.commit("faster (#3)", {"src/shop/__init__.py": "FAST = True\n"})
    result = call(shop, tmp_path, "--since", "v1", "--jobs", "1")
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in (tmp_path / "out" / "table.jsonl").read_text().splitlines()]
    assert [(row["outcome"], row["reason"]) for row in rows] == [
        ("proved", ""),
        ("not proved", "the fix has no test"),
        ("proved", ""),
    ]
    assert rows[2]["what"].startswith("v1..")
    assert "2 proved, 1 not proved" in (tmp_path / "out" / "table.md").read_text()
    assert "no negative price" in (tmp_path / "out" / "table.html").read_text()
    again = call(shop, tmp_path, "--since", "v1")
    assert again.stderr.count("(there already)") == 3


def test_one_that_got_worse_decides_the_exit_code(shop: Repository, tmp_path: Path) -> None:
    shop.git("checkout", "--quiet", "release")
    worse = PRICE.replace("pieces", "Pieces")
    shop.commit("words (#2)", {"src/shop/price.py": worse, "tests/test_price.py": f"{TESTS}\n"})
    result = call(shop, tmp_path, "--since", "v1", "--jobs", "1", "--json")
    assert result.exit_code == 1
    assert [proof["outcome"] for proof in read(result)["proofs"]] == ["fail", "fail"]


def test_tests_that_the_backport_left_out_come_from_the_fix(shop: Repository, tmp_path: Path) -> None:
    fix = shop.commit(
        "no negative price (#2)", {"src/shop/price.py": FIXED_PRICE, "tests/test_price.py": TESTS + NEW_TEST}
    )
    shop.git("checkout", "--quiet", "release")
    landed = shop.commit(f"no negative price\n\n(cherry picked from commit {fix})", {"src/shop/price.py": FIXED_PRICE})
    result = call(shop, tmp_path, landed, "--landed", "--json")
    assert (result.exit_code, read(result)["proofs"]) == (0, [BELOW])


def test_each_branch_is_asked_whether_it_has_the_fault(shop: Repository, tmp_path: Path) -> None:
    for name, price in (
        ("rel-conflict", PRICE.replace("count * RATE", "RATE * count")),
        ("rel-fixed", FIXED_PRICE),
        (
            "rel-immune",
            PRICE.replace(
                "    return count * RATE", "    count = abs(count + 1) - 1\n    return count * RATE if count > 0 else 0"
            ),
        ),
    ):
        shop.switch(name, "release")
        shop.commit(name, {"src/shop/price.py": price})
    shop.switch("rel-plain", "release")
    shop.git("checkout", "--quiet", "main")
    fix = shop.commit(
        "no negative price (#2)", {"src/shop/price.py": FIXED_PRICE, "tests/test_price.py": TESTS + NEW_TEST}
    )
    result = call(shop, tmp_path, fix, "--branches", "rel-*", "--json")
    rows = {proof["branch"]: proof for proof in read(result)["proofs"]}
    assert {name: (row["affected"], row["outcome"]) for name, row in rows.items()} == {
        "rel-conflict": ("yes", "not proved"),
        "rel-fixed": ("no", "not proved"),
        "rel-immune": ("no", "not proved"),
        "rel-plain": ("yes", "proved"),
    }
    assert rows["rel-conflict"]["reason"] == "it conflicts in code: src/shop/price.py (content)"
    assert rows["rel-fixed"]["reason"] == "the branch has it already: the pick changes nothing"
    assert result.exit_code == 0
    assert "| rel-conflict |" in (tmp_path / "out" / "table.md").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["abcdef1"], "abcdef1: there is no such commit"),
        (["#77"], "#77: the repository has neither its merge nor refs/pull/77/head"),
        (["main..main"], "main..main: no commit"),
        ([], "Give WHAT with --branch or --branches"),
    ],
)
def test_what_is_not_there_is_said(shop: Repository, tmp_path: Path, words: list[str], message: str) -> None:
    result = call(shop, tmp_path, *words)
    assert message in f"{result.output}{result.exception}"
    assert result.exit_code == 2 or isinstance(result.exception, PlanError)
