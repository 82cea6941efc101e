"""Where rounds run: the device while it is ours, the run folder, and how an arm gets into the target."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.records.serving import Round
from backproof.rundir.ledger import digest_of
from backproof.serving import ramp
from backproof.serving.setup import Setup

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from backproof.core.model import Arm, Evidence, Record
    from backproof.core.time_budget import Budget
    from backproof.devices.protocol import Session
    from backproof.kit.serving import Serve
    from backproof.rundir.ledger import Ledger


@dataclass(frozen=True, kw_only=True, slots=True)
class Slot:
    """One round to come: what is served, with which arguments, on which arm, and its folder in the run folder."""

    serve: Serve
    arguments: tuple[str, ...]
    arm: Arm
    number: int
    place: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Testbed:
    """What all rounds of a command share."""

    __test__ = False
    ledger: Ledger
    python: Path
    words: Mapping[str, str]
    """What stands for {kit} and {model} in a service's command."""
    env: Mapping[str, str]
    facts: Mapping[str, str]
    session: Session
    install: Callable[[Arm], AbstractContextManager[Mapping[str, str | None]]]
    budget: Budget
    say: Callable[[str], None]
    url: str = ""
    folder: str = "rounds"
    """Where the rounds lie in the run folder."""

    def round(self, slot: Slot) -> Round:
        """One round with the arm in place; it is spoiled when a card went bad meanwhile."""
        with self.install(slot.arm) as hashes:
            setup = self._setup(slot, hashes)
            done = ramp.run(setup)
        if setup.known == done:
            return done
        if spoiled := self.session.spoiled():
            done = done.model_copy(update={"spoiled": spoiled})
            setup.keep("round.json", done)
        return done

    def _setup(self, slot: Slot, hashes: Mapping[str, str | None]) -> Setup:
        folder = self.ledger.stage_folder(slot.place)
        device = self.session.environment(slot.arm, f"{slot.serve.id}-{slot.number}")
        logs = device.get("ASCEND_PROCESS_LOG_PATH")
        known = self.ledger.read(f"{slot.place}/round.json", Round)

        def keep(name: str, record: Record) -> None:
            self.ledger.write(f"{slot.place}/{name}", record)

        return Setup(
            serve=slot.serve,
            arguments=slot.arguments,
            env={**self.env, **slot.serve.env, **device},
            python=self.python,
            words={"python": str(self.python), **self.words},
            arm=slot.arm,
            number=slot.number,
            digest=self._digest(slot, hashes),
            host=self.facts.get("host", ""),
            boot_id=self.facts.get("boot_id", ""),
            folder=folder,
            logs=Path(logs) if logs else None,
            budget=self.budget,
            say=self.say,
            keep=keep,
            url=self.url,
            known=None if known and known.spoiled else known,
        )

    def _digest(self, slot: Slot, hashes: Mapping[str, str | None]) -> str:
        """All that a round depends on. The device's log folder is new each time: it is no input."""
        return digest_of(
            {
                "serve": slot.serve.model_dump(mode="json"),
                "arguments": slot.arguments,
                "env": {**self.env, **slot.serve.env},
                "arm": slot.arm,
                "number": slot.number,
                "code": dict(hashes),
                "facts": dict(self.facts),
                "url": self.url,
                "words": dict(self.words),
            }
        )

    def evidence(self, place: str, done: Round) -> tuple[Evidence, ...]:
        """What a round left: its record, the service's log, what triage said, the benchmark's files."""
        folder = self.ledger.folder / place
        claim = f"what {done.serve} showed on {done.arm}, round {done.number}"
        benches = sorted(each.name for each in folder.glob("bench-*.json"))
        files = [folder / name for name in ("round.json", "service.log", "triage.json", *benches)]
        return tuple(self.ledger.evidence(each, claim=claim, command=done.command) for each in files if each.is_file())
