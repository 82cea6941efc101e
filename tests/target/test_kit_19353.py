"""The checks of the kit against the release's own files: each arm, each operator model, and mutants of the fix."""

from __future__ import annotations

import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from checkout import ROOT
from target_process import Answer, Target

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.target
KIT = ROOT / "patches" / "19353"
WRAPPER = "vllm_ascend/models/glm5next/ops/causal_conv1d.py"
KERNEL = "vllm_ascend/ops/triton/kda/conv_state.py"

# Edits as (file, old, new); the picked change as the post-mortem gives it.
INDEX = (KERNEL, "tl.where(active, request, -1)", "tl.where(active, request, REQUESTS)")
BOX = (WRAPPER, "torch.empty((requests, state_len, dim)", "torch.empty((requests + 1, state_len, dim)")
NULL = (WRAPPER, "        null_block_id = PAD_SLOT_ID\n", "        null_block_id = requests\n")
ZERO = (
    WRAPPER,
    "        kernel_indices = torch.empty(requests,",
    "        kernel_state[-1].zero_()\n        kernel_indices = torch.empty(requests,",
)
PICK = (INDEX, BOX, NULL)
FIXED = (*PICK, ZERO)
# Mutants of the fix, and the check that catches each. The last two do no harm to active rows under the model ``raw``: its
# filter comes before any access. It takes the check at the operator's door to see them.
MUTANTS = {
    "the index is one too large": (
        "test_decode",
        (*FIXED, (KERNEL, "active, request, REQUESTS)", "active, request, REQUESTS + 1)")),
    ),
    "a row too many is written": (
        "test_decode",
        (*FIXED, (KERNEL, "packed_offsets = request *", "packed_offsets = (request + 2) *")),
    ),
    "idle rows are written back": (
        "test_decode",
        (*FIXED, (KERNEL, "values, mask=active & in_range)", "values, mask=in_range)")),
    ),
    "the gap is written": (
        "test_decode",
        (*FIXED, (KERNEL, "in_range = channels < DIM", "in_range = channels < DIM + 16")),
    ),
    "only the wrapper is patched": ("test_decode", (BOX, NULL)),
    "only the kernel is patched": ("test_decode", (INDEX,)),
    "the null block is one too large": (
        "test_null_row",
        (*FIXED, (WRAPPER, "null_block_id = requests\n", "null_block_id = requests + 1\n")),
    ),
    "there is no row for the null block": ("test_null_row", (INDEX, NULL)),
}


@pytest.fixture(scope="module")
def installed(target_python: Path) -> Path:
    """Where the release is installed; asked of its metadata, for importing it starts half a serving stack."""
    ask = "import importlib.util as u; print(u.find_spec('vllm_ascend').submodule_search_locations[0])"
    done = subprocess.run([str(target_python), "-c", ask], capture_output=True, text=True, check=True)
    return Path(done.stdout.strip()).parent


@pytest.fixture(scope="module")
def arm(
    installed: Path, target_python: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[tuple[tuple[str, str, str], ...]], Target]:
    """A copy of the two files with some edits, first on the target's path; the installed release stays as it is."""

    def made(edits: tuple[tuple[str, str, str], ...]) -> Target:
        site = tmp_path_factory.mktemp("site")
        for file in (WRAPPER, KERNEL):
            (site / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(installed / file, site / file)
        for package in {each.parent for each in site.rglob("*.py")} | {site / "vllm_ascend"}:
            for folder in (package, *package.parents):
                if folder.is_relative_to(site / "vllm_ascend"):
                    (folder / "__init__.py").write_text("raise RuntimeError('an __init__ was run')\n", encoding="utf-8")
        for file, old, new in edits:
            text = (site / file).read_text(encoding="utf-8")
            assert text.count(old) == 1, f"{old!r} is met {text.count(old)} times in {file}"
            (site / file).write_text(text.replace(old, new), encoding="utf-8")
        files = [str(site / WRAPPER), str(site / KERNEL)]
        return Target(
            python=target_python, work=tmp_path_factory.mktemp("requests"), path=(site,), settings={"files": files}
        )

    return made


def play(target: Target, select: str, model: str = "raw", **options: str) -> Answer:
    check = KIT / "checks" / "test_conv_state.py"
    answer = target.run(
        check,
        check={"id": "kit", "file": str(check), "select": select},
        operators={"file": str(KIT / "operators.py"), "model": model, "options": options},
    )
    assert answer.result["error"] is None, answer.result["error"]
    return answer


def shown(records: list[dict[str, Any]], *names: str) -> set[tuple[Any, ...]]:
    """The distinct (outcome, kinds of fault, observations...) of some tests."""
    return {
        (
            each["outcome"],
            *sorted({fault["kind"] for fault in each["faults"]}),
            *(each["observations"].get(name) for name in names),
        )
        for each in records
    }


def idle(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each for each in records if each["observations"]["live"] < each["observations"]["batch"]]


def full(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each for each in records if each["observations"]["live"] == each["observations"]["batch"]]


def test_base_faults_at_every_step_with_an_idle_row(arm: Callable[..., Target]) -> None:
    records = play(arm(()), "test_decode").named("test_decode[")
    assert (len(records), len(idle(records))) == (36, 24)
    assert shown(full(records), "active_exact", "state_exact") == {("passed", True, True)}
    assert shown(idle(records)) == {("failed", "mte-out-of-range")}
    fault = next(each for each in records if "batch8-graph-step3-live5" in each["nodeid"])["faults"][0]
    assert (fault["engine"], fault["name"], fault["argument"]) == ("operator", "causal_conv1d_update", "conv_state")
    assert (fault["index"], fault["offset"], fault["extent"]) == (-1, -768, 8 * 768)
    assert fault["owner"].startswith("empty 8x3x128 bfloat16 of causal_conv1d.py:")


def test_fixed_is_exact_and_its_idle_output_is_not_written(arm: Callable[..., Target]) -> None:
    """And it says so: the zeroed row of the fix-up changes nothing that can be seen under this model."""
    answer = play(arm(FIXED), "not batch16")
    decode = answer.named("test_decode[")
    assert len(decode) == 24
    expected = ("passed", True, True, "zero")
    assert shown(decode, "active_exact", "state_exact", "inner_null_row") == {expected}
    assert shown(idle(decode), "inactive_rows", "input_overwritten") == {("passed", "poison", True)}
    assert shown(answer.named("test_inactive_output")) == {("failed", "silent")}
    for guard in ("test_null_row", "test_contiguous", "test_prefill"):
        assert shown(answer.named(guard)) == {("passed",)}
    assert len(answer.result["loaded"]) == 2


def test_pick_differs_from_fixed_in_its_null_row_only(arm: Callable[..., Target]) -> None:
    answer = play(arm(PICK), "(test_decode and batch4) or test_null_row or test_prefill")
    names = ("active_exact", "state_exact", "inner_null_row")
    assert shown(answer.named("test_decode["), *names) == {("passed", True, True, "poison")}
    assert shown(idle(answer.named("test_decode[")), "inactive_rows") == {("passed", "poison")}
    assert shown(answer.named("test_null_row"), "inner_null_row") == {("failed", "poison")}
    assert shown(answer.named("test_prefill")) == {("passed",)}


@pytest.mark.parametrize(
    ("edits", "model", "options", "expected"),
    [
        ((), "skip", {}, ("passed", True, True, "poison")),
        (PICK, "compute-null", {}, ("failed", "silent", True, True, "nan")),
        (FIXED, "compute-null", {}, ("passed", True, True, "finite")),
        (FIXED, "raw", {"out": "given"}, ("passed", True, True, "zero")),
        (FIXED, "raw", {"out": "given", "backend": "ctypes"}, ("passed", True, True, "poison")),
    ],
    ids=["base skip", "pick compute-null", "fixed compute-null", "fixed out given", "fixed out given by ctypes"],
)
def test_operator_models(
    arm: Callable[..., Target],
    edits: tuple[tuple[str, str, str], ...],
    model: str,
    options: dict[str, str],
    expected: tuple[Any, ...],
) -> None:
    records = play(arm(edits), "test_decode and batch4 and step3", model, **options).named("test_decode[")
    assert shown(idle(records), "active_exact", "state_exact", "inactive_rows") == {expected}


@pytest.fixture(scope="module")
def mutants(arm: Callable[..., Target]) -> dict[str, Answer]:
    """All of them, two at a time: most of a run is importing torch."""
    select = "test_null_row or (test_decode and batch4 and eager and step3)"
    targets = [arm(edits) for _, edits in MUTANTS.values()]
    with ThreadPoolExecutor(max_workers=2) as pool:
        return dict(zip(MUTANTS, pool.map(lambda target: play(target, select), targets), strict=True))


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_of_the_fix_is_caught(mutants: dict[str, Answer], name: str) -> None:
    check, _ = MUTANTS[name]
    assert "failed" in {each["outcome"] for each in mutants[name].named(check)}
