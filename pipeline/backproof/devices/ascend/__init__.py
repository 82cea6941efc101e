"""An Ascend NPU host. Its checks run on the device itself; without one, the outcome is an error, never a pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.core.level import Level
from backproof.devices import no_models
from backproof.devices.protocol import DeviceTraits, DeviceWords

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from backproof.devices.protocol import Session
    from backproof.kit.plan import Plan

NAME = "ascend"
LEVEL = Level.DEVICE
WORDS = DeviceWords(
    level={"en": "device checks", "zh": "设备检查"}, where="on ascend", expected_in="[check.expect.ascend]"
)
LIMITS: tuple[str, ...] = (
    "On a device uninitialised memory is whatever was there: that a row was never written can be missed.",
    "A fault is reported at a synchronisation: the operator that made it is in the device's log, not in this result.",
)
# What CANN's set_env.sh and the documentation of torch_npu and vllm-ascend set; driver and runtime are found by them.
TRAITS = DeviceTraits(
    session="npu",
    passes=(
        "LD_LIBRARY_PATH",
        "LD_PRELOAD",
        "ASCEND*",
        "TOOLCHAIN_HOME",
        "ACL_*",
        "ATB_*",
        "CANN_*",
        "CPU_AFFINITY_CONF",
        "HCCL_*",
        "HF_*",
        "NPU_*",
        "PYTORCH_NPU_*",
        "TASK_QUEUE_ENABLE",
        "TE_*",
        "VLLM_*",
    ),
)


request = no_models.request


def describe(python: Path) -> dict[str, str]:
    from backproof.devices.ascend import inventory  # noqa: PLC0415 - the help of a command names the devices: it waits for no reader of hosts

    return inventory.describe_hardware(inventory.read_hardware(python))


def models(plan: Plan) -> tuple[str, ...]:
    del plan
    return (NAME,)


def open_session(python: Path, folder: Path, env: Mapping[str, str]) -> AbstractContextManager[Session]:
    from backproof.devices.ascend import session  # noqa: PLC0415 - likewise

    return session.open_session(python, folder, env)
