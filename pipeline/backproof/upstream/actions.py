"""GitHub Actions as the surroundings of a run: groups, annotations, summary, outputs, masks. Nothing outside Actions.

Whatever a target prints goes through a fence: a line of a log that starts with `::` would be a command otherwise.
https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

import os
import re
import secrets
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from backproof.core.plain_text import strip_controls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from backproof.core.model import Finding

ANNOTATIONS = 10
"""Actions shows ten of a kind per step and drops the rest without a word."""
SUMMARY_BYTES = 1024 * 1024
Kind = Literal["error", "warning", "notice"]
_KINDS: dict[str, Kind] = {"fail": "error", "warning": "warning", "note": "notice"}
_CUT = "\n\n_Cut: a job summary holds 1 MiB. The whole is in the artifact._\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class Actions:
    """One job. `write` prints a line where Actions reads commands: stdout of the step."""

    write: Callable[[str], None]
    summary_file: Path | None
    output_file: Path | None
    secret: Callable[[], str] = field(default=lambda: secrets.token_hex(16))

    @classmethod
    def here(cls, write: Callable[[str], None], env: Mapping[str, str] | None = None) -> Actions | None:
        """The job that we run in; None elsewhere."""
        source = os.environ if env is None else env
        if source.get("GITHUB_ACTIONS") != "true":
            return None
        return cls(
            write=write,
            summary_file=Path(summary) if (summary := source.get("GITHUB_STEP_SUMMARY")) else None,
            output_file=Path(output) if (output := source.get("GITHUB_OUTPUT")) else None,
        )

    def open_group(self, title: str) -> AbstractContextManager[None]:
        """Lines that Actions folds under a title."""
        return self._enclose(f"::group::{_escape_message(title)}", "::endgroup::")

    def fence_output(self) -> AbstractContextManager[None]:
        """Lines from outside: no command in them is obeyed until a word that nobody can guess."""
        word = self.secret()
        return self._enclose(f"::stop-commands::{word}", f"::{word}::")

    @contextmanager
    def _enclose(self, begin: str, end: str) -> Iterator[None]:
        self.write(begin)
        try:
            yield
        finally:
            self.write(end)

    def mask_value(self, value: str) -> None:
        """Actions replaces the value in its log from here on, line by line."""
        for line in value.splitlines():
            if line.strip():
                self.write(f"::add-mask::{_escape_data(line)}")

    def annotate_findings(self, findings: Iterable[Finding]) -> None:
        """The weightiest first, ten of a kind at most; what is left out is counted in the last one."""
        kinds: dict[Kind, list[Finding]] = {"error": [], "warning": [], "notice": []}
        for finding in findings:
            kinds[_KINDS[finding.severity]].append(finding)
        for kind, found in kinds.items():
            room = ANNOTATIONS if len(found) <= ANNOTATIONS else ANNOTATIONS - 1
            for item in found[:room]:
                self.write(
                    f"::{kind} title={_escape_property(item.where) or 'Backproof'}::{_escape_message(item.text)}"
                )
            if more := len(found[room:]):
                self.write(f"::{kind} title=Backproof::{more} more, in the job summary and in run.json")

    def append_summary(self, markdown: str) -> None:
        """Append to the job summary. Other steps write there too, so it is never written over."""
        if self.summary_file is None:
            return
        room = SUMMARY_BYTES - (self.summary_file.stat().st_size if self.summary_file.exists() else 0)
        data = f"{markdown.rstrip()}\n\n".encode("utf-8", "backslashreplace")
        if len(data) > room:
            kept = data[: max(0, room - len(_CUT) - 8)].decode("utf-8", "ignore")
            # The cut falls on a line: half a fence or a half-open table row would swallow what follows.
            data = f"{_close_fence(kept.rpartition(chr(10))[0])}{_CUT}".encode()
        if len(data) <= room:
            with self.summary_file.open("ab") as stream:
                stream.write(data)

    def set_outputs(self, **values: str) -> None:
        """Set outputs of the step, each between delimiters that its value cannot contain."""
        if self.output_file is None:
            return
        with self.output_file.open("a", encoding="utf-8") as stream:
            for name, value in values.items():
                word = self.secret()
                if word in value:
                    raise ValueError(f"the delimiter of the output {name} is part of its value")
                stream.write(f"{name.replace('_', '-')}<<{word}\n{value}\n{word}\n")


def _close_fence(markdown: str) -> str:
    """Close a fence that the cut left open."""
    open_fence = ""
    for ticks, rest in re.findall(r"^(`{3,})(.*)$", markdown, re.MULTILINE):
        if not open_fence:
            open_fence = ticks
        elif not rest.strip() and len(ticks) >= len(open_fence):
            open_fence = ""
    return f"{markdown}\n{open_fence}" if open_fence else markdown


def _escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_message(text: str) -> str:
    """Escape text that is shown; a value to mask stays what it is."""
    return _escape_data(strip_controls(text))


def _escape_property(text: str) -> str:
    return _escape_message(text).replace(":", "%3A").replace(",", "%2C")
