"""The published schema of proof.json is the record's own."""

from __future__ import annotations

import json

from backproof.records.proving import OUTCOMES, ProofRecord
from checkout import ROOT


def test_the_published_schema_is_the_records() -> None:
    """After a change: write what this test made."""
    published = json.loads((ROOT / "docs" / "schema" / "proof.schema.json").read_text(encoding="utf-8"))
    own = ProofRecord.model_json_schema(by_alias=True, mode="serialization")
    assert published == {"$schema": "https://json-schema.org/draft/2020-12/schema", **own}


def test_each_outcome_has_an_exit_code_of_its_own_kind() -> None:
    assert {name: outcome.exit_code.value for name, outcome in OUTCOMES.items()} == {
        "proved": 0,
        "not proved": 4,
        "fail": 1,
        "error": 4,
    }
