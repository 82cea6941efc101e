"""A service that fails as it is told, and rounds against it."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backproof.core.model import Arm, Record
from backproof.core.time_budget import TimeBudget
from backproof.devices.ascend import session
from backproof.kit.serving import Serve
from backproof.kit.types import Expected
from backproof.records.serving import Round, Step
from backproof.rundir.ledger import Ledger
from backproof.serving.round_context import RoundContext, RoundSpec
from backproof.serving.testbed import Testbed
from checkout import TESTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


SERVICE = TESTS / "support" / "stand_ins" / "service.py"
MTE = "fault:mte-out-of-range"
EXPECT = Expected(base=MTE, pick="pass", fixed="pass")
SHORT = ("one two three", "a b c", "tide and wind")


def serve(*arguments: str, **facts: Any) -> Serve:
    given: dict[str, Any] = {
        "id": "load",
        "claim": "it serves",
        "command": (sys.executable, str(SERVICE)),
        "arguments": arguments,
        "ready": 20,
        "stall": 10,
        "concurrency": (1, 2, 4, 8),
        "requests": 2,
        "max_tokens": 12,
        "prompts": SHORT,
        "bench": False,
        "expect": EXPECT,
    }
    return Serve.model_validate({**given, **facts})


def context(folder: Path, plan: Serve, **facts: Any) -> RoundContext:
    folder.mkdir(parents=True, exist_ok=True)
    logs = folder / "logs"
    logs.mkdir(exist_ok=True)

    def keep(name: str, record: Record) -> None:
        (folder / name).write_text(record.model_dump_json(by_alias=True), encoding="utf-8")

    spec = RoundSpec(
        serve=plan, arguments=plan.arguments or (), arm=Arm.BASE, number=1, group="serve/load", label="base"
    )
    given: dict[str, Any] = {
        "spec": spec,
        "env": {"ASCEND_PROCESS_LOG_PATH": str(logs)},
        "python": Path(sys.executable),
        "words": {"python": sys.executable},
        "digest": "d",
        "host": "h",
        "boot_id": "b",
        "folder": folder,
        "logs": logs,
        "budget": TimeBudget(),
        "say": lambda _: None,
        "keep": keep,
    }
    return RoundContext(**{**given, **facts})


@dataclass
class Target:
    """A target whose one file an arm replaces: the service reads it, as a fix would change what it does."""

    file: Path
    installs: list[Arm] = field(default_factory=list)

    @contextmanager
    def install(self, arm: Arm) -> Iterator[Mapping[str, str | None]]:
        self.installs.append(arm)
        self.file.write_text("FIXED" if arm is Arm.FIXED else "faulty", encoding="utf-8")
        yield {str(self.file): arm.value}
        self.file.write_text("as it was", encoding="utf-8")


@contextmanager
def opened(folder: Path, target: Target, **facts: Any) -> Iterator[Testbed]:
    ledger = Ledger(folder / "run")
    with session.open_session(Path(sys.executable), ledger.stage_folder("serve"), {}) as device:
        given: dict[str, Any] = {
            "ledger": ledger,
            "python": Path(sys.executable),
            "words": {},
            "env": {},
            "facts": {"host": device.inventory.host, "boot_id": device.inventory.boot_id},
            "session": device,
            "install": target.install,
            "budget": TimeBudget(),
            "say": lambda _: None,
        }
        yield Testbed(**{**given, **facts})


def of(arm: Arm, observed: str, *, number: int = 1, host: str = "a", boot: str = "1", **facts: Any) -> Round:
    outcome = "pass" if observed == "pass" else "failed"
    steps = tuple(
        Step(concurrency=concurrency, outcome="pass", sentence="", requests=1, ok=1, failed=0, seconds=1)
        for concurrency in (1, 2)
    )
    last = steps[0].model_copy(update={"concurrency": 8, "outcome": outcome})
    given: dict[str, Any] = {
        "steps": (*steps, last),
        "complete": True,
        "digest": "",
        "origin": "started",
        "command": "",
    }
    return Round(serve="load", arm=arm, number=number, host=host, boot_id=boot, observed=observed, **{**given, **facts})
