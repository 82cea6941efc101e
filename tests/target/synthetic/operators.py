"""The synthetic kit's operators."""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl
from backproof_target.operators_api import Call, Unmodelled, operator

MODELS = {"plain": "every index is used as it is", "doubled": "as plain, and the result is doubled"}
OPTIONS = {"flavour": ("sweet", "sour")}
LIMITS = ("the synthetic kit models nothing in particular",)


@operator("gather_rows")
def gather_rows(call: Call, x: Any, indices: Any) -> Any:
    call.note(flavour=call.option("flavour"))
    y = call.allocate_like(x)
    for row, index in enumerate(call.integers(indices)):
        if index == 99:
            raise Unmodelled("index 99")
        if index != 7:  # a row that is skipped
            factor = 2 if call.model == "doubled" else 1
            y[row] = factor * call.load(x, "x", index=index, row=row)
    return y


@operator("bump")
def bump(call: Call, x: Any, row: int) -> None:
    call.store(x, "x", call.load(x, "x", index=row, row=0) + 1, index=row, row=0)


SKELETON = ("gizmo",)
MODULES: dict[str, dict[str, Any]] = {
    "acme.lang": {"tl": tl, "triton": triton},
    "acme.device.ops": {"gather_rows": gather_rows, "bump": bump},
}
