"""Whether a request landed: layout must not hide it, common code must not fake it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from backproof.core.level import Level
from backproof.core.model import Outcome, Record
from backproof.records.audit import ClaimAnswer
from backproof.records.proof import ValidateRecord
from backproof.records.upstream_tests import OwnTest
from backproof.upstream.audit.claims import find_claims
from records_beside import own_tests, with_own_tests
from run_kinds import load_judged, on_device

if TYPE_CHECKING:
    from backproof.rundir.loaded_run import LoadedRun
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


@pytest.mark.parametrize(
    ("sentence", "kinds"),
    [
        ("CI passed with new added/existing test.", ("ci-only",)),
        ("Validated by doc CI", ("ci-only",)),
        ("verification is delegated to PR CI.", ("ci-only",)),
        ("Tested locally on 2x Atlas A3", ("device",)),
        ("本地A3验证通过", ("device",)),
        ("Hardware: Ascend 910B2C", ("device",)),
        ("Validated on Ascend hardware with TP=8", ("device",)),
        ("all ten `/v1/models` endpoints returned HTTP 200;", ("numbers",)),
        ("Throughput rises to 1639.4 tokens/s", ("numbers",)),
        ("共 12 个用例通过", ("numbers",)),
        ("Result: 113 passed, 22 subtests passed.", ("numbers",)),
        ("Backport verification on `releases/v0.26.0rc`: pending", ("not-run",)),
        ("`python -m py_compile` and all checks passed.", ("ran",)),
        ("How was this patch tested?", ()),
        ("0.27.1 test-path", ()),
        ("The path of vLLM v0.27.1 tests imports", ()),
        ("This PR fixes a failure on 310P", ()),
        ("[CI] Update schedule nightly test A3", ()),
        ("Run `bash format.sh ci` by hand", ()),
        ("The value was passed to the kernel", ()),
    ],
)
def test_what_is_a_claim(sentence: str, kinds: tuple[str, ...]) -> None:
    assert [claim.kinds for claim in find_claims(sentence, None)] == ([kinds] if kinds else [])


@pytest.fixture
def own_tests_run(tmp_path: Path) -> LoadedRun:
    """A run whose own tests were `t.py::a` and `t.py::b`, green on the backport, and `t.py::c`, which did not run."""
    folder = on_device(tmp_path / "run")
    with_own_tests(folder, own_tests())
    return load_judged(folder)


@pytest.mark.parametrize(
    ("sentence", "says"),
    [
        ("`t.py::a` passed", "confirms"),
        ("pytest t.py::a and tests/t.py::b: 2 passed", "does-not-cover"),
        ("`t.py` passed", "does-not-cover"),
        ("`other/t.py::a` passed", "does-not-cover"),
        ("`t.py::a` passed, it failed before", "does-not-cover"),
        ("12 tests passed", "does-not-cover"),
        ("Not tested on Ascend 910", "does-not-cover"),
        ("Tested on Ascend 910B4", "does-not-cover"),
    ],
)
def test_a_run_answers_for_the_tests_that_it_ran(own_tests_run: LoadedRun, sentence: str, says: str) -> None:
    (claim,) = find_claims(sentence, None, own_tests_run)
    assert claim.answer
    assert claim.answer.says == says


def test_a_run_contradicts_what_is_red_on_the_backport(tmp_path: Path) -> None:
    folder, tests = on_device(tmp_path / "run"), own_tests()
    red = OwnTest(test="t.py::a", outcome="failed", runs=2, bad=2)
    arms = tuple(arm.model_copy(update={"tests": (red, *arm.tests[1:])}) for arm in tests.arms)
    with_own_tests(folder, tests.model_copy(update={"arms": arms}), Outcome.FAIL)
    (claim,) = find_claims("`t.py` passed", None, load_judged(folder))
    assert claim.answer == ClaimAnswer(says="contradicts", why="red on the backport: t.py::a")


@pytest.mark.parametrize(("outcome", "says"), [(Outcome.PASS, "confirms"), (Outcome.FAIL, "contradicts")])
def test_a_run_answers_for_the_device_that_it_was_on(own_tests_run: LoadedRun, outcome: Outcome, says: str) -> None:
    validate = own_tests_run.validate
    assert validate
    facts = {**validate.device_facts, "chips": "2 x Ascend910B4"}
    records: dict[type[Record], Record] = {
        **own_tests_run.records,
        ValidateRecord: validate.model_copy(update={"device_facts": facts}),
    }
    judged = own_tests_run.run.model_copy(update={"outcome": outcome, "level": Level.DEVICE})
    run = replace(own_tests_run, records=records, run=judged)
    said = [find_claims(text, None, run)[0].answer for text in ("Tested on Ascend 910B4", "Tested on Ascend 910C")]
    assert [answer.says for answer in said if answer] == [says, "does-not-cover"]
