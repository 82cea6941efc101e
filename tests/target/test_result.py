"""There is a result whatever the target does, and it never looks like a pass when it is none."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest
from target_process import RUN_CHECK, SYNTHETIC, Answer, Target

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.target


def run(target: Target, folder: Path, text: str, **changes: object) -> Answer:
    check = folder / "test_it.py"
    check.write_text(text, encoding="utf-8")
    return target.run(check, **changes)


@pytest.mark.parametrize(
    ("text", "what", "told"),
    [
        ("def broken(:\n", "collection", "SyntaxError"),
        ("raise ValueError('import trouble')\n", "collection", "import trouble"),
        ("raise SystemExit(0)\n", "crashed", "SystemExit"),
        ("import os\nprint('{\"schema\": 1}', flush=True)\nos._exit(0)\n", "did-not-finish", "ended before"),
    ],
)
def test_what_kept_the_check_from_running(synthetic: Target, tmp_path: Path, text: str, what: str, told: str) -> None:
    answer = run(synthetic, tmp_path, text)
    assert answer.result["error"]["what"] == what, answer.result
    assert told in answer.result["error"]["trace"]
    assert answer.result["tests"] == []
    assert answer.result["nonce"] == "a-nonce"


def test_noise_and_bounds(synthetic: Target, tmp_path: Path) -> None:
    """A target that prints, raises megabytes and answers in surrogates."""
    text = (
        "import sys\n"
        "print('\\x1b[31m{not json', '::error::x')\n"
        "sys.stderr.write('noise')\n"
        "def test_long():\n    raise ValueError('x' * 1_000_000)\n"
        "def test_odd():\n    raise ValueError('\\ud800 odd')\n"
    )
    answer = run(synthetic, tmp_path, text)
    assert [each["outcome"] for each in answer.result["tests"]] == ["failed", "failed"]
    assert len(answer.test("test_long")["message"]) <= 2000
    assert len(answer.test("test_long")["detail"]) <= 8000
    answer.test("test_odd")["message"].encode("utf-8")


def test_a_selection_that_selects_nothing(synthetic: Target, tmp_path: Path) -> None:
    check = tmp_path / "test_it.py"
    check.write_text("def test_one():\n    pass\n", encoding="utf-8")
    answer = synthetic.run(check, check={"id": "none", "file": str(check), "select": "no_such_test"})
    assert (answer.result["pytest_exit"], answer.result["error"]["what"]) == (5, "nothing-ran")


@pytest.mark.parametrize(
    ("changes", "what", "told"),
    [
        ({"session": "npu", "operators": None}, "no-device", "torch_npu"),
        (
            {"operators": {"file": str(SYNTHETIC / "operators.py"), "model": "odd", "options": {}}},
            "operators",
            "operator model 'odd' is none of plain, doubled",
        ),
        (
            {"operators": {"file": str(SYNTHETIC / "operators.py"), "model": "plain", "options": {"a": "b"}}},
            "operators",
            "option a='b'",
        ),
    ],
)
def test_what_the_host_cannot_do(
    synthetic: Target, tmp_path: Path, changes: dict[str, object], what: str, told: str
) -> None:
    answer = run(synthetic, tmp_path, "def test_one():\n    pass\n", **changes)
    assert answer.result["error"]["what"] == what, answer.result
    assert told in answer.result["error"]["trace"]
    assert answer.result["tests"] == []


@pytest.mark.parametrize("text", ["", "[]", "{}", json.dumps({"schema": 1})])
def test_a_request_that_cannot_be_read(target_python: Path, tmp_path: Path, text: str) -> None:
    request = tmp_path / "request.json"
    request.write_text(text, encoding="utf-8")
    command = [str(target_python), str(RUN_CHECK), str(request)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "request.json" in done.stderr or "schema" in done.stderr
