"""Whether a request landed: layout must not hide it, common code must not fake it."""

from __future__ import annotations

import pytest
from backproof.upstream.audit.claims import find_claims
from backproof.upstream.audit.landing import find_landed
from backproof.upstream.audit.review_requests import parse_wishes

BEFORE = """
def run(a, b):
    if not a.is_contiguous():
        state = torch.empty((a + 1, b), dtype=a.dtype)
        return None
    return None
"""


def now(inserted: str) -> str:
    return BEFORE.replace("        return None\n    return", f"{inserted}        return None\n    return")


@pytest.mark.parametrize(
    ("code", "after", "expected"),
    [
        ("        state[-1].zero_()\n", now("        state[-1].zero_()\n"), "exactly"),
        ("state[-1].zero_()", now("        state[ -1 ].zero_(\n        )  # the null row\n"), "after-formatting"),
        ("f('a', b)", now('        f(\n            "a",\n            b,\n        )\n'), "after-formatting"),
        ("state[-1].zero_(),", now("        call(1, state[-1].zero_(), 2)\n"), "after-formatting"),
        ("state[-1].zero_()", BEFORE, "no"),
        ("state[-1].zero_()", now("        # state[-1].zero_()\n"), "no"),
        ("state[-1].zero_()", now("        state[-2].zero_()\n"), "no"),
        ("        return None", BEFORE, "no"),
        ("return None", now("        return None\n"), "after-formatting"),
    ],
)
def test_landed(code: str, after: str, expected: str) -> None:
    assert find_landed(code, BEFORE, after, python=True) == expected


def test_another_language_is_compared_by_its_words() -> None:
    assert find_landed("int a =  1;", "", "{\n  int a = 1;\n}", python=False) == "after-formatting"
    assert find_landed("int a = 1;", "", "int b = 1;", python=False) == "no"


def test_a_file_that_cannot_be_parsed_is_no_landing() -> None:
    assert find_landed("x = f(1)", "", "def (:\n", python=True) == "no"


def test_what_a_comment_asks_for() -> None:
    two = parse_wishes("Zero it.\n```suggestion\r\na = 1\r\n```\nor\n````suggestion\nb = '```'\n````\n")
    assert [(each.kind, each.code) for each in two] == [("suggestion", "a = 1\n"), ("suggestion", "b = '```'\n")]
    (named,) = parse_wishes("![high](https://x/y.svg) please add `state[-1].zero_()` after `torch.empty`")
    assert (named.kind, named.code) == ("named-code", "state[-1].zero_()")
    assert named.prose.startswith("please add")
    (prose,) = parse_wishes("Could you add a test for `foo`?")
    assert prose.kind == "prose"
    assert parse_wishes("```suggestion\n```")[0].code == ""


CLAIMS = """
No separate NPU run was performed on this branch; branch CI is the validation vehicle.
Validated on Ascend 910: 64+22 tests passed, 573/573 requests healthy.
The kernel writes one row more. Ratio 3/4 of rows.
- [ ] Tested on Atlas 800I A3
"""


def test_claims_are_quoted_with_what_they_are() -> None:
    found = find_claims(CLAIMS, "Validated on Ascend 910 : 64 + 22 tests passed, 573/573 requests healthy.")
    assert [each.kinds for each in found] == [("not-run", "ci-only"), ("device", "numbers"), ("device",)]
    assert [each.inherited for each in found] == [False, True, False]
    assert found[0].quote.startswith("No separate NPU run was performed")


def test_a_claim_in_chinese() -> None:
    (found,) = find_claims("本分支未单独在真机上验证", None)
    assert found.kinds == ("not-run",)
