"""A fix's own tests as proof: what proves, what does not, and each trap that real history has, with real pytest processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from backproof.core.errors import NeedsReview
from backproof.proving.prove import FILE
from own_tests import FILES, FIXED_PRICE, NEW_TEST, PRICE, TESTS, prove

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.records.proving import ProofRecord
    from repositories import Repository

BELOW = "tests/test_price.py::test_no_price_is_below_nothing"


@pytest.fixture
def shop(upstream: Repository) -> Repository:
    upstream.commit("the shop (#1)", FILES)
    upstream.switch("release")
    return upstream


def land(shop: Repository, tmp_path: Path, files: dict[str, Any]) -> ProofRecord:
    return prove(shop, tmp_path, shop.commit("no negative price (#2)", files))


def test_a_test_that_fails_without_the_fix_and_reaches_it_is_a_proof(shop: Repository, tmp_path: Path) -> None:
    record = land(shop, tmp_path, {"src/shop/price.py": FIXED_PRICE, "tests/test_price.py": TESTS + NEW_TEST})
    assert (record.outcome, record.red, record.proofs) == ("proved", "behaviour", (BELOW,))
    assert record.guards == ("tests/test_price.py::test_price", "tests/test_price.py::test_label")
    (red,) = record.changed
    assert red.line == "AssertionError: assert -2 == 0 (tests/test_price.py:14)"
    assert red.touched
    assert "src/shop/price.py:6" in red.reached
    assert "-src/shop/price.py:6" in red.reached
    assert (record.lines.changed, record.lines.reached) == (1, 1)
    assert [(arm.arm, list(arm.loaded)) for arm in record.arms] == [
        ("base", ["src/shop/price.py"]),
        ("fixed", ["src/shop/price.py"]),
    ]
    assert record.arms[0].loaded != record.arms[1].loaded
    assert {item.path for item in record.evidence} == {
        f"tests/{arm}{turn}.events.jsonl" for arm in ("base", "fixed") for turn in ("", "-1-0", "-2-0")
    }
    assert (record.reason, record.next_step) == ("", "")


def test_the_projects_own_configuration_counts(shop: Repository, tmp_path: Path) -> None:
    marked = TESTS + "\n\nimport pytest\n\n@pytest.mark.unheard\ndef test_marked(): ...\n"
    record = land(shop, tmp_path, {"src/shop/price.py": FIXED_PRICE, "tests/test_price.py": marked})
    assert record.outcome == "error"
    assert "'unheard' not found in `markers`" in record.reason
    assert record.next_step.startswith("look at the environment: recipe.toml here is what it was made from")
    assert record.unreached == ()


def test_a_configuration_around_the_proof_does_not_count(shop: Repository, tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    (tmp_path / "conftest.py").write_text("raise SystemExit('not the target')\n")
    shop.commit("no configuration (#3)", {"pyproject.toml": None, "setup.cfg": "[metadata]\nname = shop\n"})
    record = land(shop, tmp_path, {"src/shop/price.py": FIXED_PRICE, "tests/test_price.py": TESTS + NEW_TEST})
    assert (record.outcome, record.proofs) == ("proved", (BELOW,))


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        ("    return count.appened(RATE) or -1\n", "AttributeError: 'int' object has no attribute 'appened'"),
        ("    return maximum(count, 0) * RATE\n", "NameError: name 'maximum' is not defined"),
    ],
)
def test_a_name_that_the_releases_own_code_gets_wrong_is_its_behaviour(
    shop: Repository, tmp_path: Path, broken: str, line: str
) -> None:
    shop.commit("a typo (#3)", {"src/shop/price.py": PRICE.replace("    return count * RATE\n", broken)})
    record = land(shop, tmp_path, {"src/shop/price.py": FIXED_PRICE, "tests/test_price.py": TESTS + NEW_TEST})
    assert (record.outcome, record.red) == ("proved", "behaviour")
    assert record.changed[0].line.startswith(line)


def test_a_name_that_only_the_tests_own_object_lacks_is_none(shop: Repository, tmp_path: Path) -> None:
    shop.commit(
        "of an order (#3)", {"src/shop/price.py": PRICE + "\n\ndef total(order):\n    return order.count * RATE\n"}
    )
    fixed = PRICE + "\n\ndef total(order):\n    return order.pieces * RATE\n"
    test = "\n\ndef test_total():\n    from types import SimpleNamespace\n    from shop.price import total\n    assert total(SimpleNamespace(pieces=2)) == 4\n"
    record = land(shop, tmp_path, {"src/shop/price.py": fixed, "tests/test_price.py": TESTS + test})
    assert (record.outcome, record.red) == ("not proved", "symbol")


def test_a_tautology_proves_nothing(shop: Repository, tmp_path: Path) -> None:
    always = TESTS + "\n\ndef test_always():\n    assert price(0) == 0\n"
    record = land(shop, tmp_path, {"src/shop/price.py": FIXED_PRICE, "tests/test_price.py": always})
    assert (record.outcome, record.red, record.proofs) == ("not proved", None, ())
    assert record.reason == "the fix's tests are green on base, too: 3 tests"
    assert "kit" in record.next_step


def test_one_missing_attribute_in_a_fixture_is_one_cause(shop: Repository, tmp_path: Path) -> None:
    """Trap: 222 tests turned green by one attribute that a fixture of the new conftest uses; 123 of them old ones."""
    fixture = "import pytest\nfrom shop import price\n\n@pytest.fixture(autouse=True)\ndef reset():\n    price.CACHE.clear()\n"
    files = {"src/shop/price.py": f"CACHE = {{}}\n{FIXED_PRICE}", "tests/conftest.py": fixture}
    record = land(shop, tmp_path, {**files, "tests/test_price.py": TESTS + NEW_TEST})
    assert (record.outcome, record.red, record.proofs) == ("not proved", "symbol", ())
    (cause,) = record.causes
    assert (cause.tests, cause.touched) == (3, 1)
    assert "has no attribute 'CACHE'" in cause.line
    assert "3 tests turn green only by a name that is missing on base" in record.reason


def test_a_module_that_base_cannot_import_gives_results_test_by_test(shop: Repository, tmp_path: Path) -> None:
    """Trap: an import at the top loses all tests of the module, the old ones as well."""
    uses = TESTS.replace("import label, price", "import Basket, label, price") + NEW_TEST
    uses += "\n\ndef test_basket():\n    assert Basket().count == 0\n\n\ndef helper():\n    return Basket\n"
    uses += "\n\ndef test_through_a_helper():\n    assert helper() != price\n"
    basket = f"{FIXED_PRICE}\n\nclass Basket:\n    count = 0\n"
    record = land(shop, tmp_path, {"src/shop/price.py": basket, "tests/test_price.py": uses})
    assert (record.outcome, record.proofs) == ("proved", (BELOW,))
    assert {red.test.rpartition("::")[2]: red.red for red in record.changed} == {
        "test_no_price_is_below_nothing": "behaviour",
        "test_basket": "symbol",
        "test_through_a_helper": "symbol",
    }
    assert len(record.guards) == 2


def test_a_new_module_alone_is_no_behaviour(shop: Repository, tmp_path: Path) -> None:
    files = {
        "src/shop/basket.py": "class Basket:\n    count = 0\n",
        "tests/test_basket.py": "from shop.basket import Basket\n\n\ndef test_new():\n    assert Basket().count == 0\n",
    }
    record = land(shop, tmp_path, files)
    assert (record.outcome, record.red) == ("not proved", "symbol")


def test_a_module_whose_import_fails_otherwise_is_its_own_class(shop: Repository, tmp_path: Path) -> None:
    uses = "import pytest\nfrom shop import price\n\n@pytest.mark.parametrize('kind', [price.KIND])\ndef test_kind(kind):\n    assert kind\n"
    record = land(shop, tmp_path, {"src/shop/price.py": f"KIND = 1\n{PRICE}", "tests/test_kind.py": uses})
    assert (record.outcome, record.red) == ("not proved", "import")
    assert "cannot be imported on base" in record.reason


def test_a_regression_test_that_never_touches_the_change_is_no_proof(shop: Repository, tmp_path: Path) -> None:
    """Trap: it only tells one arm from the other, here by the source text, and executes nothing that the fix changes."""
    reads = (
        "import pathlib\nimport shop\n\n\ndef test_regression():\n"
        "    text = pathlib.Path(shop.__file__).with_name('price.py').read_text()\n    assert 'max' in text\n"
    )
    record = land(shop, tmp_path, {"src/shop/price.py": FIXED_PRICE, "tests/test_text.py": reads})
    assert (record.outcome, record.proofs) == ("not proved", ())
    assert record.reason == (
        "tests/test_text.py::test_regression turns green, but never executes a line that the fix changes"
    )


def test_a_change_of_a_constant_is_reached_when_its_module_is_loaded(shop: Repository, tmp_path: Path) -> None:
    record = land(
        shop,
        tmp_path,
        {
            "src/shop/price.py": PRICE.replace("RATE = 2", "RATE = 3"),
            "tests/test_price.py": TESTS.replace("== 6", "== 9"),
        },
    )
    assert (record.outcome, record.proofs) == ("proved", ("tests/test_price.py::test_price",))
    assert (record.lines.changed, record.lines.reached, record.lines.at_import) == (1, 0, 1)


def test_a_removed_line_is_reached_on_base(shop: Repository, tmp_path: Path) -> None:
    raises = PRICE.replace(
        "    return count * RATE", "    if count > 100:\n        raise ValueError\n    return count * RATE"
    )
    shop.commit("a limit", {"src/shop/price.py": raises})
    test = TESTS + "\n\ndef test_no_limit():\n    assert price(101) == 202\n"
    record = land(shop, tmp_path, {"src/shop/price.py": PRICE, "tests/test_price.py": test})
    assert (record.outcome, record.proofs) == ("proved", ("tests/test_price.py::test_no_limit",))
    assert record.changed[0].reached == ("-src/shop/price.py:6", "-src/shop/price.py:7")


def test_a_test_that_gets_worse_is_a_fail_and_named(shop: Repository, tmp_path: Path) -> None:
    broken = FIXED_PRICE.replace("pieces", "Pieces")
    record = land(shop, tmp_path, {"src/shop/price.py": broken, "tests/test_price.py": TESTS + NEW_TEST})
    assert (record.outcome, [red.test for red in record.worse]) == ("fail", ["tests/test_price.py::test_label"])
    assert record.reason.startswith("1 test got worse, first tests/test_price.py::test_label: AssertionError")


def test_a_conflict_in_a_test_is_no_conflict_of_the_proof(shop: Repository, tmp_path: Path) -> None:
    shop.commit("own wording", {"tests/test_price.py": TESTS.replace('"2 pieces"', '"2" + " pieces"')})
    shop.switch("main", "main")
    tests = TESTS.replace('"2 pieces"', 'f"{2} pieces"') + NEW_TEST
    fix = shop.commit("no negative price (#2)", {"src/shop/price.py": FIXED_PRICE, "tests/test_price.py": tests})
    record = prove(shop, tmp_path, fix, onto=shop.git("rev-parse", "release"))
    assert (record.outcome, record.proofs) == ("proved", (BELOW,))


def test_a_conflict_in_code_needs_a_person(shop: Repository, tmp_path: Path) -> None:
    shop.commit("own", {"src/shop/price.py": PRICE.replace("count * RATE", "RATE * count")})
    shop.switch("main", "main")
    fix = shop.commit("fix (#2)", {"src/shop/price.py": FIXED_PRICE, "tests/test_price.py": TESTS + NEW_TEST})
    with pytest.raises(NeedsReview, match="it conflicts in code"):
        prove(shop, tmp_path, fix, onto=shop.git("rev-parse", "release"))


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"src/shop/price.py": FIXED_PRICE}, "the fix has no test"),
        ({"docs/a.md": "text\n"}, "the fix changes no code: docs/a.md"),
        (
            {"src/shop/fast.pyx": "x = 1\n", "tests/test_fast.py": NEW_TEST},
            "the fix changes only what a build compiles",
        ),
        (
            {"src/shop/price.py": FIXED_PRICE, "tests/npu/test_npu.py": NEW_TEST},
            "the fix's tests cannot run here: tests/npu/test_npu.py: it needs an NPU",
        ),
    ],
)
def test_what_cannot_be_proved_says_why(shop: Repository, tmp_path: Path, files: dict[str, Any], reason: str) -> None:
    fix = shop.commit("fix (#2)", files)
    record = prove(shop, tmp_path, fix, elsewhere={"/tests/npu/": "it needs an NPU"})
    assert record.outcome == "not proved"
    assert record.reason.startswith(reason)
    assert record.next_step


def test_a_test_that_ends_its_process_or_hangs_takes_no_other_with_it(shop: Repository, tmp_path: Path) -> None:
    dies = (
        NEW_TEST
        + "\n\ndef test_dies():\n    import os\n\n    os._exit(7)\n\n\ndef test_hangs():\n    while True: ...\n"
    )
    fix = shop.commit("fix (#2)", {"src/shop/price.py": FIXED_PRICE, "tests/test_price.py": TESTS + dies})
    record = prove(shop, tmp_path, fix, timeout=5)
    assert (record.outcome, record.proofs) == ("proved", (BELOW,))
    assert [note.test.rpartition("::")[2] for note in record.errors] == ["test_dies", "test_hangs"]
    assert "ended its process with code 7" in record.errors[0].line
    assert "hangs" in record.errors[1].line


def test_a_test_that_flickers_is_no_proof(shop: Repository, tmp_path: Path) -> None:
    flickers = (
        TESTS
        + f"\n\ndef test_flickers():\n    import pathlib\n    seen = pathlib.Path('{tmp_path}/seen')\n"
        + "    price(-1)\n    first = not seen.exists()\n    seen.touch()\n    assert not first\n"
    )
    record = land(shop, tmp_path, {"src/shop/price.py": FIXED_PRICE, "tests/test_price.py": flickers})
    assert record.outcome == "not proved"
    assert [note.test.rpartition("::")[2] for note in record.flaky] == ["test_flickers"]


def test_code_from_elsewhere_is_an_error(shop: Repository, tmp_path: Path) -> None:
    """The arm's package is on the path, and a test goes round it."""
    other = tmp_path / "other" / "shop"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("")
    (other / "price.py").write_text(PRICE)
    shadow = f"import sys\nsys.path.insert(0, '{other.parent}')\n"
    files = {"tests/conftest.py": shadow, "tests/test_price.py": TESTS + NEW_TEST}
    record = land(shop, tmp_path, {**files, "src/shop/price.py": FIXED_PRICE})
    assert record.outcome == "error"
    assert "was loaded from" in record.reason


def test_no_variable_of_ours_reaches_the_tests(
    shop: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    monkeypatch.setenv("PYTEST_ADDOPTS", "--version")
    asks = TESTS + NEW_TEST + "\n\ndef test_token():\n    import os\n\n    assert 'GITHUB_TOKEN' not in os.environ\n"
    record = land(shop, tmp_path, {"src/shop/price.py": FIXED_PRICE, "tests/test_price.py": asks})
    assert record.outcome == "proved"
    assert "tests/test_price.py::test_token" in record.guards


def test_the_record_is_on_disk_as_it_is_returned(shop: Repository, tmp_path: Path) -> None:
    record = land(shop, tmp_path, {"src/shop/price.py": FIXED_PRICE, "tests/test_price.py": TESTS + NEW_TEST})
    read = type(record).model_validate_json((tmp_path / "proof" / FILE).read_bytes())
    assert read == record
