"""capture: the logs that triage gets to read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from backproof.commands.options import CommandGroup
from backproof.commands.output import print_exact, print_line, say
from backproof.core.plural import format_count

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.group("capture", cls=CommandGroup)
def capture_group() -> None:
    """Collect the traces of a crash: old logs are moved aside, never deleted; nothing is killed."""


@capture_group.command("start", context_settings={"ignore_unknown_options": True})
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The folder of the capture.")
@click.argument("argv", metavar="COMMAND...", nargs=-1, type=click.UNPROCESSED)
def start_command(*, out: Path, argv: Sequence[str]) -> None:
    """Prepare a capture and print the command line to start the service with."""
    from backproof.host.capture import start_capture

    out.mkdir(parents=True, exist_ok=True)
    session = start_capture(argv, out)
    if session.moved:
        say(f"old logs were moved to {session.moved}")
    print_exact(session.command)


@capture_group.command("stop")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The folder of the capture.")
def stop_command(*, out: Path) -> None:
    """Collect plogs, dmesg and npu-smi into one archive with a manifest."""
    from backproof.host.capture import stop_capture

    manifest = stop_capture(out)
    for note in manifest.notes:
        say(f"note: {note}")
    print_line(f"{out / manifest.archive}: {format_count(len(manifest.files), 'file')}")
