"""A project with tests of its own, and its proof: real commits, real trees, real pytest processes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from backproof.adapters.git import Source, Store
from backproof.kit.recipe import Recipe
from backproof.proving.lanes import Lanes
from backproof.proving.prove import Proving, prove_subject
from backproof.proving.subject import pick_commits, read_landed
from backproof.recipes.cache import Environment
from backproof.rundir.ledger import Ledger

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.records.proving import ProofRecord
    from repositories import Repository

PRICE = """
RATE = 2


def price(count):
    return count * RATE


def label(count):
    return f"{count} pieces"
"""
FIXED_PRICE = PRICE.replace("return count * RATE", "return max(count, 0) * RATE")
TESTS = """
from shop.price import label, price


def test_price():
    assert price(3) == 6


def test_label():
    assert label(2) == "2 pieces"
"""
NEW_TEST = """

def test_no_price_is_below_nothing():
    assert price(-1) == 0
"""
PROJECT = """[project]
name = "shop"
[tool.pytest.ini_options]
addopts = "--strict-markers"
markers = ["slow"]
"""
FILES: dict[str, str | bytes | None] = {
    "pyproject.toml": PROJECT,
    "src/shop/__init__.py": "",
    "src/shop/price.py": PRICE,
    "tests/test_price.py": TESTS,
}


def make_environment(folder: Path, **facts: Any) -> Environment:
    """An environment that is this process's own interpreter: it has pytest."""
    program = folder / "env" / "bin" / "python"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    program.chmod(0o755)
    recipe = Recipe.model_validate({"project": "shop", "timeout": 60, **facts})
    return Environment(key="own", folder=folder, recipe=recipe, origin="the test's own", words={})


def prove(
    repository: Repository, folder: Path, *commits: str, onto: str = "", guards: bool = False, **facts: Any
) -> ProofRecord:
    """Prove commits picked onto a branch, or one that stands on it where `onto` is empty."""
    ledger = Ledger(folder / "proof")
    environment = make_environment(folder / "environment", **facts)
    store = Store.create(ledger.store, Source.open(str(repository.folder)))
    lanes = Lanes(recipe=environment.recipe)
    landed = read_landed(store, commits, lanes) if not onto else None
    return prove_subject(
        Proving(
            what=" ".join(commits),
            store=store,
            subject=landed or pick_commits(store, commits, onto, lanes),
            lanes=lanes,
            environment=environment,
            ledger=ledger,
            say=lambda _: None,
            facts={},
            guards=guards,
        )
    )
