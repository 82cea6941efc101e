"""Kernels of our own on the model of the device: each rule with a kernel that breaks it, each call with its numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from backproof_target import operator_process, poison
from backproof_target.operator_build import Build, SourceUnusable
from backproof_target.operator_process import KINDS
from backproof_target.operator_source import HostRefusal, Launched, SourceOperator, launch_source

HERE = Path(__file__).resolve().parent
COUNT = 64
DTYPES = (torch.float32, torch.float16, torch.bfloat16)


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def describe(name: str, *inputs: str, entry: str = "") -> SourceOperator:
    return SourceOperator(
        kernel=f"op_kernel/{name}.cpp",
        tiling="op_host/self_test_tiling.cpp",
        entry=entry or f"{name}<{{0}}>",
        inputs=inputs,
        outputs=("y",),
    )


def fresh(like: Any) -> Any:
    y = torch.empty_like(like)
    poison.fill(y)
    return y


def run_rule(cache: Path, scene: int, cores: int = 1) -> tuple[Launched, Any, Any]:
    x = torch.arange(COUNT, dtype=torch.float32).reshape(8, 8)
    # As large as a unit of allocation, and not larger: the row behind it is somebody else's.
    x = torch.cat([x, x + COUNT]) if scene == 1 else x
    y = fresh(x)
    build = Build(source=HERE, cache=cache)
    return launch_source(build, describe("rules", "x"), {"x": x, "y": y}, [scene, cores]), x, y


@pytest.mark.parametrize(
    ("scene", "cores", "kind", "call_and_text"),
    [
        (1, 1, "mte-out-of-range", ("DataCopy", "read of bytes [512, 544) of 512")),
        (2, 1, "mte-out-of-range", ("DataCopy", "read of bytes [-32, 0) of 256")),
        (3, 1, "mte-out-of-range", ("DataCopy", "write to an input")),
        (4, 1, "silent", ("DataCopy", "nobody wrote")),
        (5, 1, "silent", ("DataCopy", "nobody wrote")),
        (6, 1, "local-memory", ("InitBuffer", "the chip has 196608")),
        (7, 1, "local-memory", ("Muls", "are allocated")),
        (8, 1, "alignment", ("Muls", "no multiple of 32")),
        (9, 1, "alignment", ("DataCopy", "36 bytes are no multiple of 32")),
        (10, 1, "event", ("WaitFlag", "it hangs")),
        (11, 1, "event", ("SetFlag", "set twice")),
        (12, 1, "event", ("end", "still set")),
        (13, 1, "race", ("Muls", "does not wait for the write")),
        (14, 1, "race", ("DataCopy", "does not wait for the write")),
        (15, 2, "race", ("DataCopy", "nothing orders the two")),
        (16, 2, "hang", ("SyncAll", "1 cores wait for 1")),
        (17, 1, "event", ("end", "not released")),
        (18, 1, "event", ("ReleaseEventID", "released twice")),
        (19, 1, "event", ("AllocEventID", "more than 8")),
        (24, 1, "silent", ("GetValue", "never written")),
        (25, 1, "mte-out-of-range", ("DataCopy", "not handed over")),
    ],
)
def test_a_rule_that_is_broken(cache: Path, scene: int, cores: int, kind: str, call_and_text: tuple[str, str]) -> None:
    call, told = call_and_text
    first = run_rule(cache, scene, cores)[0].findings[0]
    assert (KINDS[first.kind], first.call.decode()) == (kind, call), first.text
    assert told in first.text.decode()
    if call not in {"end", "SyncAll"}:
        assert first.file.decode() == "rules.cpp"
        assert first.line > 0


@pytest.mark.parametrize(("scene", "cores"), [(0, 1), (20, 1), (21, 1), (26, 2), (27, 2), (28, 1)])
def test_what_is_no_fault(cache: Path, scene: int, cores: int) -> None:
    launched, x, y = run_rule(cache, scene, cores)
    assert launched.findings == ()
    assert (launched.advice > 0) == (scene == 20)
    if scene == 0:
        assert torch.equal(y, 2 * x)


def test_where_a_fault_is_said(cache: Path) -> None:
    """Kernel, line, core, tensor, row, byte and address."""
    launched, x, _ = run_rule(cache, 2)
    first = launched.findings[0]
    source = (HERE / "op_kernel" / "rules.cpp").read_text(encoding="utf-8").splitlines()
    assert "case 2:" in source[first.line - 1]
    assert (first.core, first.tensor.decode(), first.row, first.offset) == (0, "x", -1, -32)
    assert first.address == x.data_ptr() - 32


def test_what_nobody_wrote_stays_marked(cache: Path) -> None:
    _, _, y = run_rule(cache, 5)
    assert poison.where(y).flatten().tolist() == [False] * 32 + [True] * 32


CALLS = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a / b,
    torch.maximum,
    torch.minimum,
    lambda a, _: a + 2,
    lambda a, _: a * 2,
    lambda a, _: a.clamp(min=2),
    lambda a, _: a.clamp(max=2),
    lambda a, _: a.abs(),
    lambda a, _: a.float().exp().to(a.dtype),
    lambda a, _: a.float().log().to(a.dtype),
    lambda a, _: a.float().sqrt().to(a.dtype),
    lambda a, _: (1 / a.float().sqrt()).to(a.dtype),
    lambda a, _: (1 / a.float()).to(a.dtype),
    lambda a, _: a.relu(),
    lambda a, _: torch.nn.functional.silu(a.float()).to(a.dtype),
    lambda a, _: torch.full_like(a, 2),
    lambda _, b: b,
    lambda a, b: a * b + 2,
    lambda a, _: a,
    lambda a, _: a.floor(),
    lambda a, _: a.round(),
    lambda a, _: a.ceil(),
    lambda a, _: a.trunc(),
]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_each_call_has_its_numbers(cache: Path, dtype: Any) -> None:
    generator = torch.Generator().manual_seed(1)
    build, operator = Build(source=HERE, cache=cache), describe("calls", "x", "z")
    for scene, expected in enumerate(CALLS):
        x = (torch.rand(COUNT, generator=generator) * 4 + 0.1).to(dtype)
        if scene in {10, 16, 22, 23, 24, 25}:
            x = x - 2
        z = (torch.rand(COUNT, generator=generator) + 0.5).to(dtype)
        y = fresh(x)
        launched = launch_source(build, operator, {"x": x, "z": z, "y": y}, [scene, 1])
        assert launched.findings == (), (scene, launched.findings[0].text)
        torch.testing.assert_close(y, expected(x, z).to(dtype), msg=lambda text, scene=scene: f"call {scene}: {text}")


def test_transfers_with_strides_and_padding(cache: Path) -> None:
    build, operator = Build(source=HERE, cache=cache), describe("calls", "x", "z")
    x = torch.arange(COUNT, dtype=torch.float32)
    for scene, expected in ((26, [*range(8), *range(16, 24)]), (27, [0, 1, 2, 3, 2, 2, 2, 2])):
        y = fresh(x)
        launched = launch_source(build, operator, {"x": x, "z": x, "y": y}, [scene, 1])
        assert launched.findings == (), launched.findings[0].text
        assert y[: len(expected)].tolist() == expected
        assert bool(poison.where(y[len(expected) :]).all())
    y = fresh(x)
    launch_source(build, operator, {"x": x, "z": x, "y": y}, [28, 1])
    assert torch.equal(y, x.flip(0))


def test_an_unknown_call_is_named(cache: Path) -> None:
    x = torch.zeros(8)
    with pytest.raises(SourceUnusable, match="not supported by the model of the device: WholeReduceMagic, Mmad"):
        launch_source(Build(source=HERE, cache=cache), describe("unknown", "x"), {"x": x, "y": x.clone()}, [0, 1])


def test_the_host_refuses(cache: Path) -> None:
    with pytest.raises(HostRefusal, match="scene -1 is negative"):
        run_rule(cache, -1)


def test_a_crash_is_no_fault_of_the_kernel(cache: Path) -> None:
    with pytest.raises(SourceUnusable, match="crashed"):
        run_rule(cache, 23)


def test_a_kernel_that_does_not_end(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operator_process, "PATIENCE", 1)
    with pytest.raises(TimeoutError, match="did not end in 1 s"):
        run_rule(cache, 22)


def test_without_a_compiler(cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from backproof_target.operator_build import find_compiler

    find_compiler.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    try:
        with pytest.raises(SourceUnusable, match="no C\\+\\+ compiler"):
            run_rule(cache, 0)
    finally:
        find_compiler.cache_clear()


def test_a_build_is_kept_and_made_again_for_another_source(tmp_path: Path) -> None:
    folder = tmp_path / "source"
    for name in ("op_kernel/rules.cpp", "op_kernel/tiling_data.h", "op_host/self_test_tiling.cpp"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes((HERE / name).read_bytes())
    cache = tmp_path / "cache"
    x = torch.zeros(8)
    for _ in range(2):
        launch_source(Build(source=folder, cache=cache), describe("rules", "x"), {"x": x, "y": fresh(x)}, [0, 1])
        assert len(list(cache.iterdir())) == 2
