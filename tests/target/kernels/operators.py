"""The operators of the self-tests: a kernel of our own, run as a kit runs the source of a device operator."""

from __future__ import annotations

from typing import Any

from backproof_target.operators_api import Call, SourceOperator, operator

MODELS = {"source": "the operator's own source"}
RULES = SourceOperator(
    kernel="op_kernel/rules.cpp",
    tiling="op_host/self_test_tiling.cpp",
    entry="rules<{0}>",
    inputs=("x",),
    outputs=("y",),
)


@operator("rules")
def rules(call: Call, x: Any, scene: int) -> Any:
    y = call.allocate_like(x)
    call.run_source(RULES, {"x": x, "y": y}, [scene, 1])
    return y


MODULES: dict[str, dict[str, Any]] = {"acme.rules": {"rules": rules}}
