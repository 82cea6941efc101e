"""An operator's own source, run on a CPU: its host tiling as it is, then its kernel, on the tensors of one call.

What runs is the source at hand, not the binary that a device host has installed; the report says so.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from backproof_target import poison
from backproof_target.memory import extent_of
from backproof_target.operator_build import MODEL, Build
from backproof_target.operator_process import (
    KINDS,
    Chip,
    Finding,
    GivenOperand,
    MadeTiling,
    Region,
    Report,
    call_apart,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

# ge::DataType, and the name that the kernel is compiled with.
_TYPES = {
    torch.float32: (0, "float"),
    torch.float16: (1, "half"),
    torch.int8: (2, "int8_t"),
    torch.int32: (3, "int32_t"),
    torch.uint8: (4, "uint8_t"),
    torch.int64: (9, "int64_t"),
    torch.bool: (12, "bool"),
    torch.bfloat16: (27, "bfloat16_t"),
}
ADVICE = KINDS.index("advice")


@dataclass(frozen=True, kw_only=True)
class ChipFacts:
    """A2 and A3: 48 vector cores; 192 KiB of local memory each. The unit of allocation is assumed."""

    cores: int = 48
    local_memory: int = 192 * 1024
    allocation_unit: int = 512


@dataclass(frozen=True, kw_only=True)
class SourceOperator:
    """Where in a source folder an operator is, and what its kernel is called with.

    Args:
        kernel: the file with the entry, below the folder.
        tiling: the file with the host's tiling function.
        entry: the kernel with its template arguments as ``{0}``, ``{1}``: the bytes of the tiling key.
        inputs: names in the order of the operator's definition; the host sees these.
        outputs: names of what follows them among the kernel's arguments.
        written: inputs that the kernel writes, too.
        typed_by: the input whose type is the macro ``DTYPE_X``.
    """

    kernel: str
    tiling: str
    entry: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    written: tuple[str, ...] = ()
    typed_by: str = "x"
    chip: ChipFacts = field(default_factory=ChipFacts)

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.inputs, *self.outputs)


@dataclass(frozen=True, kw_only=True)
class Launched:
    """What one launch of the compiled kernel found, in the order in which it was found."""

    findings: tuple[Finding, ...]
    advice: int


class HostRefusal(RuntimeError):  # noqa: N818 - what the host does
    """The operator's own host code refuses the call, as it does on a device host."""


def launch_source(
    build: Build, operator: SourceOperator, tensors: Mapping[str, Any], attributes: Sequence[int]
) -> Launched:
    """Tile, compile for what the host chose, and run the kernel; outputs and written inputs are changed in place.

    Args:
        build: the source.
        operator: what it is.
        tensors: by the operator's names; one that is not given is None.
        attributes: integers, as the host reads them.

    Raises:
        HostRefusal: the tiling function refuses the call.
        SourceUnusable: the source cannot be compiled, or crashed.
        TimeoutError: the kernel does not end.
    """
    made = tile(build, operator, [tensors[name] for name in operator.inputs], attributes)
    library = build.compile(
        "launch.cpp", _define_kernel(build, operator, tensors, made.key), [build.source / "op_kernel"]
    )
    workspace = torch.empty(max(int(made.workspace), 1), dtype=torch.uint8)
    operands = [(name, tensors[name], name in (*operator.outputs, *operator.written)) for name in operator.names]
    operands.append(("workspace", workspace, True))
    return _run_kernel(library, operator, operands, made)


def tile(build: Build, operator: SourceOperator, inputs: Sequence[Any], attributes: Sequence[int]) -> MadeTiling:
    """Run the host's tiling function for one call."""
    file = build.source / operator.tiling
    library = build.compile("tiling.cpp", [("ASCMODEL_TILING", f'"{file}"')], [MODEL / "host", file.parent])
    operands = (GivenOperand * len(inputs))(*map(_describe_operand, inputs))
    values = (ctypes.c_int64 * len(attributes))(*attributes)

    def call(loaded: Any) -> bytes:
        made = MadeTiling()
        facts = (operator.chip.cores, ctypes.c_int64(operator.chip.local_memory))
        code = loaded.ascmodel_tile(operands, len(inputs), values, len(attributes), *facts, ctypes.byref(made))
        return bytes([code]) + bytes(made)

    answer = call_apart(library, call)
    made = MadeTiling.from_buffer_copy(answer, 1)
    if answer[0]:
        raise HostRefusal(f"the operator's host refuses the call: {made.text.decode('utf-8', 'replace').strip()}")
    return made


def _describe_operand(tensor: Any) -> GivenOperand:
    operand = GivenOperand()
    if tensor is not None:
        operand.given, operand.dimensions, operand.type = 1, tensor.dim(), _TYPES[tensor.dtype][0]
        operand.sizes[: tensor.dim()] = list(tensor.shape)
        operand.steps[: tensor.dim()] = list(tensor.stride())
        operand.strided = int(not tensor.is_contiguous())
    return operand


def _define_kernel(
    build: Build, operator: SourceOperator, tensors: Mapping[str, Any], key: int
) -> list[tuple[str, str]]:
    arguments = ", ".join(f"given[{place}]" for place in range(len(operator.names) + 2))
    entry = operator.entry.format(*(key >> shift & 0xFF for shift in range(0, 64, 8)))
    return [
        ("ASCMODEL_KERNEL", f'"{build.source / operator.kernel}"'),
        ("ASCMODEL_ENTRY(given)", f"{entry}({arguments})"),
        ("DTYPE_X", _TYPES[tensors[operator.typed_by].dtype][1]),
    ]


def _run_kernel(
    library: Path, operator: SourceOperator, operands: Sequence[tuple[str, Any, bool]], made: MadeTiling
) -> Launched:
    given = [(name, tensor, _mark_state(tensor), written) for name, tensor, written in operands if tensor is not None]
    regions = (Region * len(given))(*(_describe_region(*item) for item in given))
    tiling = ctypes.create_string_buffer(bytes(made.data[: made.bytes]), int(made.bytes))
    pointers = [None if tensor is None else tensor.data_ptr() for _, tensor, _ in operands]
    arguments = (ctypes.c_void_p * (len(pointers) + 1))(*pointers, ctypes.addressof(tiling))
    chip = Chip(operator.chip.local_memory, operator.chip.allocation_unit, operator.chip.cores, 0)
    back = [(tensor, state) for name, tensor, state, written in given if written and name != "workspace"]

    def call(loaded: Any) -> bytes:
        report = Report()
        size = ctypes.c_int64(made.bytes)
        loaded.ascmodel_run(
            regions, len(regions), arguments, tiling, size, int(made.blocks), ctypes.byref(chip), ctypes.byref(report)
        )
        parts = [ctypes.string_at(place, count) for tensor, state in back for place, count in _places(tensor, state)]
        return bytes(report) + b"".join(parts)

    answer = call_apart(library, call)
    _take_back(answer[ctypes.sizeof(Report) :], back)
    report = Report.from_buffer_copy(answer)
    return Launched(findings=tuple(report.found[: report.findings]), advice=int(report.counts[ADVICE]))


def _mark_state(tensor: Any) -> Any:
    """Mark each byte of an operand's extent: 1 is written, 2 belongs to the view."""
    elements = extent_of(tensor) // tensor.element_size()
    marks = torch.zeros(elements, dtype=torch.uint8)
    written = torch.logical_not(poison.where(tensor)).to(torch.uint8)
    marks.as_strided(tensor.shape, tensor.stride()).copy_(written + 2)
    return marks.repeat_interleave(tensor.element_size()).contiguous()


def _describe_region(name: str, tensor: Any, state: Any, written: bool) -> Region:  # noqa: FBT001 - one of an operand's facts
    rows = tensor.shape[0] if tensor.dim() else 1
    step = (tensor.stride(0) if tensor.dim() else 1) * tensor.element_size()
    return Region(name.encode(), tensor.data_ptr(), len(state), step, rows, state.data_ptr(), int(written), 0)


def _places(tensor: Any, state: Any) -> list[tuple[int, int]]:
    return [(tensor.data_ptr(), len(state)), (state.data_ptr(), len(state))]


def _take_back(data: bytes, back: Sequence[tuple[Any, Any]]) -> None:
    """Copy what the process wrote into the tensors; what nobody wrote is marked as such again."""
    at = 0
    for tensor, state in back:
        size = len(state)
        ctypes.memmove(tensor.data_ptr(), data[at : at + size], size)
        marks = torch.frombuffer(bytearray(data[at + size : at + 2 * size]), dtype=torch.uint8)
        at += 2 * size
        width = tensor.element_size()
        unwritten = (marks.view(-1, width) & 1 == 0).any(dim=1).as_strided(tensor.shape, tensor.stride())
        if bool(unwritten.any()):
            filler = torch.empty_like(tensor, memory_format=torch.contiguous_format)
            poison.fill(filler)
            tensor.copy_(torch.where(unwritten, filler, tensor))
