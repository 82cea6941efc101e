"""The outcome of a triage, one of five, and the words for a result without a first fault.

"No failure was found" is only said of logs that were read to their end and hold no error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from backproof.core.plural import format_count
from backproof.records.triage import LoggedError
from backproof.triage import correlate, timestamps, unruled

if TYPE_CHECKING:
    from collections.abc import Callable

    from backproof.records.triage import Outcome
    from backproof.triage.choose_fault import Choice
    from backproof.triage.events import Event, World
    from backproof.triage.inputs import LogFiles
    from backproof.triage.rules import RuleBook

_TEXT: Final = 400
_MOST_RANKS: Final = 4096
COLLECT: Final = "Collect debug/plog of every rank, the device logs (msnpureport) and dmesg of the same run."


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """An outcome with its sentence and what to do next; empty where the first fault has its own."""

    outcome: Outcome
    sentence: str = ""
    advice: str = ""
    error: LoggedError | None = None


def draw_conclusion(
    files: LogFiles, world: World, choice: Choice, book: RuleBook, locate: Callable[[Event], tuple[str, int]]
) -> Conclusion:
    """Conclude from everything that was read.

    Args:
        locate: file and line of a record.
    """
    if choice.fault is not None:
        return Conclusion(outcome="first-fault")
    if any(event.role in {"secondary", "pointer"} for event in world.events):
        return _conclude_secondary(world)
    if earliest := _find_earliest(world, choice):
        file, line = locate(earliest)
        return _conclude_errors(_make_logged_error(earliest, file, line), choice.survived.get(earliest, ""))
    if error := unruled.find_error(files, book, world.clock):
        return _conclude_errors(error, "")
    return _conclude_unread(files) if files.unread or not files.sources else _conclude_healthy(files)


def _conclude_secondary(world: World) -> Conclusion:
    return Conclusion(
        outcome="only-secondary",
        sentence="these files hold only secondary errors and pointers: the log with the first fault is not among them",
        advice=f"{_name_missing_ranks(world)}{COLLECT}",
    )


def _name_missing_ranks(world: World) -> str:
    """Name the ranks without a log, as far as the ranks that have one tell."""
    present = {rank for rank in world.ranks.values() if rank < _MOST_RANKS}
    peers = {peer for event in world.events if (peer := correlate.find_peer(event.subject)) is not None}
    missing = sorted(
        set(range(max(present, default=0))) - present | {peer for peer in peers if peer < _MOST_RANKS} - present
    )
    if not missing:
        return ""
    listed = ", ".join(str(rank) for rank in missing[:16])
    more = f" and {len(missing) - 16} more" if len(missing) > 16 else ""
    return f"There is no log of rank {listed}{more} here. "


def _conclude_errors(error: LoggedError, survived: str) -> Conclusion:
    subject = "errors that the run survived" if survived else "errors that no rule knows as a failure"
    reason = f" ({survived})" if survived else ""
    return Conclusion(
        outcome="errors",
        sentence=f"{subject}; the earliest is {error.file}:{error.line}: {error.text}{reason}",
        advice=f"Read it and the lines around it. {COLLECT}",
        error=error,
    )


def _conclude_unread(files: LogFiles) -> Conclusion:
    read = (
        f"no error in {format_count(len(files.sources), 'file')} that could be read"
        if files.sources
        else "no log was read"
    )
    reasons = files.unread or ["there is no log among these files"]
    more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
    return Conclusion(
        outcome="unread",
        sentence=f"unknown: {read}; {reasons[0]}{more}",
        advice="Give what was not read in another form: plain text, zip, tar, gz, bz2 or xz, readable by this user.",
    )


def _conclude_healthy(files: LogFiles) -> Conclusion:
    count = format_count(len(files.sources), "file")
    return Conclusion(outcome="healthy", sentence=f"no failure was found: {count}, read to the end, no error in them")


def _find_earliest(world: World, choice: Choice) -> Event | None:
    """Return the earliest error that no rule knows; where there is none, the earliest that was survived."""
    errors = [event for event in world.events if event.role in {"unknown", "first-fault", "detail"}]
    unknown = [event for event in errors if event not in choice.survived]
    return min(unknown or errors, key=lambda event: (event.time is None, event.time or 0, event.place), default=None)


def _make_logged_error(event: Event, file: str, line: int) -> LoggedError:
    time = None if event.time is None else timestamps.format_time(event.time)
    return LoggedError(file=file, line=line, text=event.subject[:_TEXT], time=time)
