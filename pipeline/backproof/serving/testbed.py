"""Where rounds run: the device for as long as the run has it, the run folder, and how an arm gets into the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.records.serving import Round
from backproof.rundir.ledger import digest_of
from backproof.serving import ramp
from backproof.serving.round_context import RoundContext

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from backproof.core.model import Arm, Evidence, Record
    from backproof.core.time_budget import TimeBudget
    from backproof.devices.protocol import Session
    from backproof.rundir.ledger import Ledger
    from backproof.serving.round_context import RoundSpec


@dataclass(frozen=True, kw_only=True, slots=True)
class Testbed:
    """The parts that all rounds of a command share."""

    __test__ = False
    ledger: Ledger
    python: Path
    words: Mapping[str, str]
    """Values of {kit} and {model} in a service's command."""
    env: Mapping[str, str]
    facts: Mapping[str, str]
    session: Session
    install: Callable[[Arm], AbstractContextManager[Mapping[str, str | None]]]
    budget: TimeBudget
    say: Callable[[str], None]
    url: str = ""
    folder: str = "rounds"
    """The folder of the rounds in the run folder."""

    def run_round(self, spec: RoundSpec) -> Round:
        """Run one round with the arm in place; it is spoiled when a card went bad meanwhile."""
        with self.install(spec.arm) as hashes:
            context = self._prepare_round(spec, hashes)
            done = ramp.run_round(context)
        if context.earlier == done:
            return done
        if spoiled := self.session.spoiled():
            done = ramp.save_round(context, done.model_copy(update={"spoiled": spoiled}))
        return done

    def _prepare_round(self, spec: RoundSpec, hashes: Mapping[str, str | None]) -> RoundContext:
        process = self.session.prepare_process(spec.arm, f"{spec.serve.id}-{spec.number}")
        place = self._place(spec)
        earlier = self.ledger.read_record(f"{place}/round.json", Round)
        return RoundContext(
            spec=spec,
            env={**self.env, **spec.serve.env, **process.env},
            python=self.python,
            words={"python": str(self.python), **self.words},
            digest=self._digest_inputs(spec, hashes),
            host=self.facts.get("host", ""),
            boot_id=self.facts.get("boot_id", ""),
            folder=self.ledger.stage_folder(place),
            logs=process.logs,
            budget=self.budget,
            say=self.say,
            keep=self._keep_in(place),
            url=self.url,
            earlier=None if earlier and earlier.spoiled else earlier,
        )

    def _place(self, spec: RoundSpec) -> str:
        return f"{self.folder}/{spec.group}/{spec.label}-{spec.number}"

    def _keep_in(self, place: str) -> Callable[[str, Record], None]:
        def keep(name: str, record: Record) -> None:
            self.ledger.write_record(f"{place}/{name}", record)

        return keep

    def _digest_inputs(self, spec: RoundSpec, hashes: Mapping[str, str | None]) -> str:
        """Hash all that a round depends on, without the device's log folder: each round gets a new one."""
        return digest_of(
            {
                "serve": spec.serve.model_dump(mode="json"),
                "arguments": spec.arguments,
                "env": {**self.env, **spec.serve.env},
                "arm": spec.arm,
                "number": spec.number,
                "code": dict(hashes),
                "facts": dict(self.facts),
                "url": self.url,
                "words": dict(self.words),
            }
        )

    def collect_evidence(self, spec: RoundSpec, done: Round) -> tuple[Evidence, ...]:
        """Register the files of a round: its record, the service's log, the triage, the benchmark's results."""
        folder = self.ledger.folder / self._place(spec)
        claim = f"what {spec.serve.id} showed on {spec.arm}, round {spec.number}"
        benchmarks = sorted(path.name for path in folder.glob("bench-*.json"))
        files = [folder / name for name in ("round.json", "service.log", "triage.json", *benchmarks)]
        return tuple(
            self.ledger.register_evidence(path, claim=claim, command=done.command) for path in files if path.is_file()
        )
