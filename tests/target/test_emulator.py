"""What the emulator answers to the scenes of the synthetic target, all played in one process."""

from __future__ import annotations

import hashlib
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from backproof.devices.check_result import CheckResult, TestResult
from backproof.verdict.endings import classify_ending
from target_process import SYNTHETIC, Answer, Target

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.target
KERNELS = SYNTHETIC / "gizmo" / "inner" / "kernels.py"


@pytest.fixture(scope="module")
def played(synthetic: Target) -> Answer:
    return synthetic.run(SYNTHETIC / "scenes.py", files=[str(KERNELS)], cover=True)


def first_fault(answer: Answer, name: str) -> dict[str, Any]:
    record = answer.test(name)
    assert record["outcome"] == "failed", record
    fault: dict[str, Any] = record["faults"][0]
    assert fault["text"] in record["message"]
    return fault


@pytest.mark.parametrize(
    "name",
    [
        "test_in_range",
        "test_lanes_masked_off",
        "test_gap_in_a_strided_view",
        "test_scalar_and_vector_mask",
        "test_block_pointer[True]",
        "test_atomic[1]",
        "test_pointer_from_an_integer[8]",
        "test_after_a_secondary_error",
        "test_operator_notes",
        "test_skipped_row_is_not_read",
        "test_a_computed_nan_is_not_poison",
        "test_replay",
        "test_replay_poisons_again",
    ],
)
def test_nothing_to_complain_about(played: Answer, name: str) -> None:
    record = played.test(name)
    assert (record["outcome"], record["faults"]) == ("passed", []), record


@pytest.mark.parametrize(
    ("name", "argument", "numbers"),
    [
        # the program that did it, the row it went for, bytes from the start of the view, bytes of the view
        ("test_negative_index", "source", (1, -1, -96, 384)),
        ("test_one_past_the_end", "source", (0, 4, 384, 384)),
        ("test_one_row_too_many_written", "target", (2, 2, 192, 192)),
        ("test_lanes_not_masked", "target", (0, 24, 96, 96)),
        ("test_view_in_larger_storage", "source", (0, 2, 192, 192)),
        ("test_block_pointer[False]", "source", (0, 3, 192, 192)),
        ("test_atomic[5]", "counters", (0, 5, 20, 16)),
        ("test_replay_faults", "source", (0, -1, -96, 384)),
    ],
)
def test_kernel_out_of_range(played: Answer, name: str, argument: str, numbers: tuple[int, ...]) -> None:
    fault = first_fault(played, name)
    assert (fault["kind"], fault["engine"], fault["argument"]) == ("mte-out-of-range", "kernel", argument)
    assert tuple(fault[each] for each in ("row", "index", "offset", "extent")) == numbers


def test_operator_out_of_range(played: Answer) -> None:
    fault = first_fault(played, "test_operator_out_of_range")
    assert (fault["kind"], fault["engine"], fault["name"]) == ("mte-out-of-range", "operator", "gather_rows")
    assert (fault["argument"], fault["row"], fault["index"], fault["offset"]) == ("x", 2, -1, -96)


def test_an_address_of_nobody(played: Answer) -> None:
    assert first_fault(played, "test_pointer_from_an_integer[1099511627776]")["kind"] == "unknown-pointer"


def test_what_comes_after_a_fault_is_a_secondary_error(played: Answer) -> None:
    record = played.test("test_secondary_error")
    assert record["outcome"] == "failed"
    assert [fault["kind"] for fault in record["faults"]] == ["mte-out-of-range", "secondary", "secondary"]
    assert record["faults"][0]["text"] in record["faults"][2]["text"]


@pytest.mark.parametrize(
    ("name", "engine", "row", "owner"),
    [
        ("test_skipped_row_is_read", "result", 1, "output of gather_rows 3x24 float32"),
        ("test_operator_computes_from_fresh_memory", "operator", 1, "empty 2x24 float32 of scenes.py:"),
        ("test_kernel_copies_fresh_memory", "result", 0, "put 1x24 float32"),
    ],
)
def test_memory_that_nobody_wrote(played: Answer, name: str, engine: str, row: int, owner: str) -> None:
    fault = first_fault(played, name)
    assert (fault["kind"], fault["engine"], fault["row"]) == ("silent", engine, row)
    assert fault["owner"].startswith(owner)


def test_every_wide_type_shows_that_it_was_not_written(played: Answer) -> None:
    records = played.named("test_fresh_memory")
    assert len(records) == 6
    assert {fault["kind"] for record in records for fault in record["faults"]} == {"silent"}
    assert all(len(record["faults"]) == 2 for record in records)


def test_observations(played: Answer) -> None:
    assert played.test("test_in_range")["observations"] == {
        "word": "said",
        "number": 1.5,
        "whole": 3,
        "flag": True,
        "many": [1, 2],
        "endless": "inf",
    }
    assert played.test("test_skipped_row_is_read")["observations"] == {"skipped": "poison", "whole": "mixed"}
    assert played.test("test_a_computed_nan_is_not_poison")["observations"] == {"word": "nan"}
    assert played.test("test_replay_poisons_again")["observations"] == {"written": "finite", "left": "poison"}


@pytest.mark.parametrize("way", ["item", "tolist", "bool", "cpu", "nonzero"])
def test_host_reads_are_refused_in_a_capture(played: Answer, way: str) -> None:
    record = played.test(f"test_host_read_in_a_capture[{way}]")
    assert record["outcome"] == "failed"
    assert "while a graph is being captured" in record["message"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("test_unmodelled", "index 99"),
        ("test_no_stand_in", "'acme.device.other' is not among the stand-ins of this kit"),
        ("test_no_such_name", "the stand-in 'acme.device.ops' has no 'scatter_rows'"),
        ("test_no_operator_of_torch", "'nothing'"),
        ("test_launch_without_a_device", "outside a test that asks for the fixture 'device'"),
    ],
)
def test_what_is_not_modelled_is_an_error_and_no_finding(played: Answer, name: str, why: str) -> None:
    record = played.test(name)
    assert classify_ending(TestResult.model_validate(record)) == "error"
    assert why in record["message"]


def test_the_result_says_what_ran(played: Answer) -> None:
    result = played.result
    assert (result["nonce"], result["pytest_exit"], result["error"]) == ("a-nonce", 1, None)
    assert result["model"] == {
        "name": "plain",
        "options": {"flavour": "sweet"},
        "sentence": "every index is used as it is",
    }
    assert "the synthetic kit models nothing in particular" in result["limits"]
    assert {"python", "torch", "triton", "numpy", "pytest"} <= set(result["versions"])
    assert result["faults"]["secondary"] == 2


def test_the_house_can_read_it(played: Answer) -> None:
    """The two sides share no code: this is where they meet."""
    read = CheckResult.model_validate(played.result)
    assert len(read.tests) == len(played.result["tests"])


def test_the_loaded_file_is_hashed(played: Answer) -> None:
    (loaded,) = played.result["loaded"]
    assert (loaded["module"], loaded["file"]) == ("gizmo.inner.kernels", str(KERNELS))
    digest = hashlib.sha256(KERNELS.read_bytes()).hexdigest()
    assert (loaded["sha256"], loaded["source_sha256"], loaded["cached"]) == (digest, digest, None)
    assert loaded["loader"] == "SourceFileLoader"


@pytest.mark.parametrize("stale", [False, True])
def test_bytecode_that_was_executed_is_compared_with_the_source(
    synthetic: Target, target_python: Path, tmp_path: Path, stale: bool
) -> None:
    """An unchecked ``.pyc`` is executed whatever the file says: then no source is known to have run."""
    module = tmp_path / "picked.py"
    module.write_text("ANSWER = 1\n", encoding="utf-8")
    compiling = (
        "import py_compile as p, sys; p.compile(sys.argv[1], invalidation_mode=p.PycInvalidationMode.UNCHECKED_HASH)"
    )
    subprocess.run([str(target_python), "-c", compiling, str(module)], check=True)
    if stale:
        module.write_text("ANSWER = 2\n", encoding="utf-8")
    check = tmp_path / "test_it.py"
    check.write_text("import picked\n\n\ndef test_it():\n    assert picked.ANSWER == 1\n", encoding="utf-8")
    answer = replace(synthetic, path=(*synthetic.path, tmp_path)).run(check, files=[str(module)])
    (loaded,) = answer.result["loaded"]
    assert loaded["cached"].endswith(".pyc")
    assert loaded["source_sha256"] == (None if stale else loaded["sha256"])


def test_launches_carry_the_hash_of_the_lines_on_disk(played: Answer) -> None:
    launches = {each["kernel"].rsplit(".", 1)[1]: each for each in played.result["launches"]}
    entry = launches["copy_rows"]
    lines = KERNELS.read_bytes().split(b"\n")
    text = b"\n".join(lines[entry["first_line"] - 1 : entry["last_line"]]) + b"\n"
    assert text.startswith(b"@triton.jit\ndef copy_rows(")
    assert entry["source_sha256"] == hashlib.sha256(text).hexdigest()
    assert {"DIM": 24, "BLOCK": 16} in entry["constexprs"]
    assert entry["count"] > len(entry["constexprs"])


def test_coverage_sees_the_lines_of_interpreted_kernels(played: Answer) -> None:
    reached = played.result["reached"][str(KERNELS)]
    source = KERNELS.read_text(encoding="utf-8").split("\n")
    texts = {source[line - 1].strip() for line in reached}
    assert "index = tl.load(indices + row).to(tl.int64)" in texts
    assert "tl.store(given, tl.load(taken))" in texts


def test_the_folder_of_the_check_has_no_say(synthetic: Target, tmp_path: Path) -> None:
    """No conftest, no settings, no module of the same name."""
    (tmp_path / "conftest.py").write_text("raise RuntimeError('conftest was run')\n", encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n", encoding="utf-8")
    (tmp_path / "torch.py").write_text("raise RuntimeError('the wrong torch')\n", encoding="utf-8")
    check = tmp_path / "test_plain.py"
    check.write_text("import torch\n\n\ndef test_plain(device):\n    device.put(torch.zeros(1))\n", encoding="utf-8")
    answer = synthetic.run(check)
    assert [each["outcome"] for each in answer.result["tests"]] == ["passed"], answer.result
