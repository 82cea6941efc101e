"""Every sentence of a verdict, word by word: people post them under their own names."""

from __future__ import annotations

import pytest
from backproof.core.level import Level
from backproof.core.model import Arm, Outcome
from backproof.verdict import sentences
from stories import case

BRANCH = "release/1"


@pytest.mark.parametrize(
    ("level", "device", "proofs", "limits", "sentence"),
    [
        (None, "", 0, 0, "PASS of the stages that ran; no level is reached: nothing was picked."),
        (
            Level.PICKED,
            "",
            0,
            0,
            "PASS at level 0 (picked): the backport lands on release/1; nothing of it was loaded or run.",
        ),
        (
            Level.LOADED,
            "emulator",
            0,
            0,
            "PASS at level 1 (loaded): the target loads, whole, what was picked on release/1; no check was judged.",
        ),
        (
            Level.LOADED,
            "ascend",
            1,
            0,
            (
                "PASS at level 1 (loaded): 1 proof on release/1 red without the backport and green with it, on ascend; "
                "nothing shows which device that was: there is no inventory of it from the same host and boot."
            ),
        ),
        (
            Level.EMULATED,
            "emulator",
            2,
            2,
            (
                "PASS at level 2 (emulated): 2 proofs on release/1 red without the backport and green with it, under emulation "
                "on a CPU; not run on a device. 2 declared limits stay red with it."
            ),
        ),
        (
            Level.EMULATED,
            "cpu",
            1,
            1,
            (
                "PASS at level 2 (checked on a CPU): 1 proof on release/1 red without the backport and green with it, on a "
                "plain CPU, where nothing is emulated; not run on a device. 1 declared limit stays red with it."
            ),
        ),
        (
            Level.DEVICE,
            "ascend",
            1,
            0,
            (
                "PASS at level 3 (device checks): 1 proof on release/1 red without the backport and green with it, on the device "
                "itself."
            ),
        ),
        (
            Level.SERVED,
            "ascend",
            3,
            0,
            (
                "PASS at level 4 (served under load): 3 proofs on release/1 red without the backport and green with it, on the "
                "device itself and under load."
            ),
        ),
    ],
)
def test_the_sentence_of_a_pass(level: Level | None, device: str, proofs: int, limits: int, sentence: str) -> None:
    assert sentences.pass_sentence(level, place=BRANCH, device=device, proofs=proofs, limits=limits) == sentence


@pytest.mark.parametrize(
    ("outcome", "cause", "sentence"),
    [
        (Outcome.FAIL, "check c is red.", "FAIL: the backport does not hold. check c is red."),
        (Outcome.FAIL, "check c is red", "FAIL: the backport does not hold. check c is red."),
        (Outcome.ERROR, "", "ERROR: no verdict, we could not tell."),
        (Outcome.PERSON, "pick: ...conflict X", "A PERSON IS NEEDED: no verdict yet. pick: ...conflict X."),
        (Outcome.PERSON, "...conflict...", "A PERSON IS NEEDED: no verdict yet. ...conflict."),
        (Outcome.INCONCLUSIVE, "b", "INCONCLUSIVE: what ran decides nothing. b."),
        (Outcome.ABORTED, "b", "STOPPED before a verdict. b."),
        (Outcome.SKIP, "no stage ran", "NOTHING RAN: no verdict. no stage ran."),
    ],
)
def test_the_sentence_of_every_other_end(outcome: Outcome, cause: str, sentence: str) -> None:
    assert sentences.other_sentence(outcome, cause) == sentence


def test_a_case_is_told_with_the_first_thing_that_went_wrong_where_there_is_one() -> None:
    red = case("raw", Arm.BASE, "fail")
    assert sentences.case_sentence(red) == "rows under raw on base: fail, as expected; first: step 2: row 5 of raw"
    assert sentences.case_sentence(case("raw", Arm.FIXED, "pass")) == "rows under raw on fixed: pass, as expected"


@pytest.mark.parametrize("device", ["emulator", "ascend", "moon"])
def test_the_levels_have_one_name_each(device: str) -> None:
    names = ["picked", "loaded", "emulated", "device checks", "served under load"]
    assert list(sentences.level_names(device).values()) == names


def test_what_a_plain_cpu_checked_was_not_emulated() -> None:
    assert sentences.level_names("cpu") == {**sentences.level_names("emulator"), Level.EMULATED: "checked on a CPU"}


def test_an_arm_counts_what_is_red_by_kind() -> None:
    cases = [
        case("a", Arm.BASE, "fault:b"),
        case("b", Arm.BASE, "fail"),
        case("c", Arm.BASE, "fault:b"),
        case("d", Arm.BASE, "pass", "fail", verdict="not-discriminating"),
        case("e", Arm.BASE, "pass", "fail", verdict="not-discriminating"),
        case("f", Arm.BASE, "fail", "fault:b", verdict="not-reproduced"),
    ]
    red = [each for each in cases if each.observed != "pass"]
    assert sentences.arm_sentence(cases, red) == (
        "4 of 6 cases red (fail 2, fault:b 2); not as the plan expects: 2 not-discriminating, 1 not-reproduced"
    )
