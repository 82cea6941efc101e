"""Row 7: results and summaries that do not say the same, with every hash put right."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from scene import Attempt, Said, Scene

if TYPE_CHECKING:
    from collections.abc import Callable

RAW = "validate/{}/answers.cpu.json"
READ = (0, 2, 3, 4)
READERS = {
    "show": ("show", "run"),
    "report": ("run", "run", "--only", "report"),
    "bundle": ("bundle", "run", "--out", "out.tar.gz"),
    "merge": ("ci", "merge", "run", "--kit", "kit", "--out", "merged"),
    "present": ("ci", "present", "run"),
}


def _forge(change: Callable[[Scene], None], reader: str) -> Callable[[Scene], Said]:
    def act(scene: Scene) -> Said:
        change(scene)
        scene.settle()
        said = scene.backproof(*READERS[reader])
        if reader == "bundle":
            checked = scene.backproof("bundle", "--verify", "out.tar.gz")
            return Said(code=max(said.code, checked.code), text=said.text + checked.text)
        return said

    return act


def _edit_raw(turn: str, change: Callable[[dict[str, Any]], None]) -> Callable[[Scene], None]:
    return lambda scene: scene.edit(RAW.format(turn), change)


def _fail(raw: dict[str, Any]) -> None:
    for test in raw["tests"]:
        test.update(outcome="failed", message="assert 41 == 42")


def _pass(raw: dict[str, Any]) -> None:
    for test in raw["tests"]:
        test.update(outcome="passed", message="", raised=[])


def _skip(raw: dict[str, Any]) -> None:
    for test in raw["tests"]:
        test.update(outcome="skipped")


def _rename(raw: dict[str, Any]) -> None:
    for test in raw["tests"]:
        test["nodeid"] += "-other"


def _load_other(raw: dict[str, Any]) -> None:
    for loaded in raw["loaded"]:
        loaded.update(sha256="f" * 64, source_sha256="f" * 64)


def _swap_arms(scene: Scene) -> None:
    base, fixed = (scene.run / RAW.format(arm) for arm in ("base", "fixed"))
    kept = base.read_bytes()
    base.write_bytes(fixed.read_bytes())
    fixed.write_bytes(kept)


def _spoil_raw(scene: Scene) -> None:
    (scene.run / RAW.format("fixed")).write_text("{}")


def _drop_evidence(scene: Scene) -> None:
    """The cases rest on nothing any more."""
    scene.edit("validate/validate.json", lambda data: [case.update(evidence=[]) for case in data["cases"]] and None)


def _keep_one_round(scene: Scene) -> None:
    def change(data: dict[str, Any]) -> None:
        for case in data["cases"]:
            case["evidence"] = case["evidence"][:1]

    scene.edit("validate/validate.json", change)


def _count_one_twice(scene: Scene) -> None:
    """The second round is the first one again."""

    def change(data: dict[str, Any]) -> None:
        for case in data["cases"]:
            case["evidence"] = [case["evidence"][0]] * 2

    scene.edit("validate/validate.json", change)


def _borrow_record(scene: Scene) -> None:
    """The record of another run, whose kit asked for less."""
    scene.write_check("def test_answers(device):\n    from demo.ops import conv\n\n    assert conv.answer() == 42\n")
    if scene.run_again().code:
        raise RuntimeError("the run whose record is borrowed did not pass")
    other = scene.job.folder / "another" / "validate"
    for file in other.rglob("*.json"):
        (scene.run / "validate" / file.relative_to(other)).write_bytes(file.read_bytes())


def _raise_level(scene: Scene) -> None:
    def change(data: dict[str, Any]) -> None:
        data.update(device="ascend", device_facts={**data["device_facts"], "host": "h", "boot_id": "b"})

    scene.edit("validate/validate.json", change)


FORGERIES: dict[str, Callable[[Scene], None]] = {
    "a raw result that failed, a summary that passes": _edit_raw("fixed", _fail),
    "the second round failed, the summary passes": _edit_raw("fixed.2", _fail),
    "base passes, the summary has it red": _edit_raw("base", _pass),
    "base passes the second time": _edit_raw("base.2", _pass),
    "fixed was skipped": _edit_raw("fixed", _skip),
    "another test ran on fixed": _edit_raw("fixed", _rename),
    "other code was loaded": _edit_raw("fixed", _load_other),
    "the arms are swapped": _swap_arms,
    "a raw result that is none": _spoil_raw,
    "cases without evidence": _drop_evidence,
    "one round of two": _keep_one_round,
    "one round twice": _count_one_twice,
    "the record of another kit": _borrow_record,
    "another device in the record": _raise_level,
}


def _drop_a_check(scene: Scene) -> None:
    """A check that the plan asks for is in no record any more."""
    scene.edit("validate/validate.json", lambda data: data.update(cases=[]))


def _ask_for_less(scene: Scene) -> None:
    """The record says that the plan expects base to be green, as a guard."""

    def change(data: dict[str, Any]) -> None:
        for case in data["cases"]:
            case.update(role="guard", expected=case["observed"])

    scene.edit("validate/validate.json", change)


def _forge_failed(scene: Scene) -> None:
    """A run that failed; its summary and run.json are edited into a pass."""
    file = scene.run / RAW.format("fixed")
    raw = json.loads(file.read_text())
    _fail(raw)
    file.write_text(json.dumps(raw))
    scene.edit("run.json", lambda data: data.update(outcome="pass", level=2, sentence="PASS at last."))


ATTEMPTS = (
    *(
        Attempt(row=7, name=f"{name}, {reader}", act=_forge(change, reader), codes=READ)
        for name, change in FORGERIES.items()
        for reader in ("show", "bundle")
    ),
    *(
        Attempt(row=7, name=f"an edited outcome, {reader}", act=_forge(_forge_failed, reader), codes=READ)
        for reader in READERS
    ),
    *(
        Attempt(row=7, name=f"{name}, {reader}", act=_forge(change, reader), codes=READ)
        for name, change in (("no case of a check", _drop_a_check), ("another expectation", _ask_for_less))
        for reader in ("bundle", "merge", "present")
    ),
)
