"""The plan: every error at once, each with file, key and a did-you-mean."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest
from backproof.core.errors import PlanError
from backproof.devices import DEVICES
from backproof.kit.loader import check_kit, load_plan, make_schema
from checkout import KIT
from kits import write_kit


def errors(kit: Path) -> str:
    with pytest.raises(PlanError) as caught:
        load_plan(kit, DEVICES)
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_every_error_is_shown_at_once_with_file_and_key(tmp_path: Path) -> None:
    kit = write_kit(
        tmp_path, ["a" * 40], more='[instal]\nx = 1\n[verify]\nmodule = ["m"]\n[verify.service]\nlaunch = "shell"\n'
    )
    text = errors(kit)
    assert "3 errors" in text
    assert f"{kit / 'plan.toml'}: instal: unknown key; did you mean 'install'?" in text
    assert "verify.module: unknown key; did you mean 'modules'?" in text
    assert "verify.service.launch: Input should be 'script' or 'module'" in text


def test_a_key_inside_a_list_of_tables_is_located(tmp_path: Path) -> None:
    kit = write_kit(
        tmp_path,
        ["a" * 40],
        more='[[check]]\nid = "b"\nfile = "checks/test_works.py"\nclame = "c"\n[check.expect.plain]\nbase = "fail"\npick = "pass"\nfixd = "pass"\n',
    )
    text = errors(kit)
    assert "check.1.clame: unknown key; did you mean 'claim'?" in text
    assert "check.1.expect.plain.fixd: unknown key; did you mean 'fixed'?" in text
    assert "check.1.claim: Field required" in text


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('[[check]]\nid = "works"\nfile = "checks/test_works.py"\nclaim = "c"\n[check.expect.plain]\nbase = "fail"\npick = "pass"\nfixed = "pass"\n', "check 'works' is defined twice"),
        ('[verify]\nreach = ["work"]\n', "verify.reach: no check 'work'; did you mean 'works'?"),
        ('[check.expect.plane]\nbase = "fail"\npick = "pass"\nfixed = "pass"\n', "no operator model or device 'plane'; did you mean 'plain'?"),
        ('[[fixup]]\nid = "f"\nfile = "fixups/none.patch"\nreason = "r"\n', "no file fixups/none.patch in the kit"),
        ('[[fixup]]\nid = "f"\nfile = "../x.patch"\nreason = "r"\n', "inside the kit"),
    ],
)  # fmt: skip
def test_what_does_not_fit_together_is_an_error(tmp_path: Path, more: str, said: str) -> None:
    assert said in errors(write_kit(tmp_path, ["a" * 40], more=more))


@pytest.mark.parametrize(
    ("fixed", "role", "said"),
    [("fail", "proof", 'must expect fixed = "pass"'), ("pass", "limit", "a limit must expect fixed to differ"), ("oops", "proof", "fault:<kind>")],
)  # fmt: skip
def test_an_expectation_that_proves_nothing_is_an_error(tmp_path: Path, fixed: str, role: str, said: str) -> None:
    kit = write_kit(tmp_path, ["a" * 40])
    path = kit / "plan.toml"
    path.write_text(path.read_text().replace('fixed = "pass"', f'fixed = "{fixed}"\nrole = "{role}"'))
    assert said in errors(kit)


@pytest.mark.parametrize("content", [b"a = [", b"\xff\xfe"])
def test_a_file_that_is_not_toml_is_said(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "plan.toml").write_bytes(content)
    assert "cannot be read as TOML" in errors(tmp_path)


def test_no_plan_is_said(tmp_path: Path) -> None:
    assert "there is no plan" in errors(tmp_path)


def test_the_kits_of_this_repository_are_valid_and_fit_the_published_schema() -> None:
    for path in sorted(KIT.parent.glob("*/plan.toml")):
        assert load_plan(path.parent, DEVICES).id == path.parent.name
        data = json.loads(json.dumps(tomllib.loads(path.read_text(encoding="utf-8"))))
        jsonschema.Draft202012Validator(make_schema()).validate(data)


@pytest.mark.parametrize("text", ["def test_it(:\n    pass\n", "def test_it():\npass\n", "x = '\0'\n"])
def test_a_check_that_is_no_python_is_told_before_a_run_meets_it(tmp_path: Path, text: str) -> None:
    kit = write_kit(tmp_path / "kit", ["1" * 40])
    plan = check_kit(kit, DEVICES)
    file = kit / plan.check[0].file
    file.write_text(text, encoding="utf-8")
    with pytest.raises(PlanError) as caught:
        check_kit(kit, DEVICES)
    assert f"{file}" in caught.value.why
    assert f"check.{plan.check[0].id}.file: no Python: " in caught.value.why
    load_plan(kit, DEVICES)
