"""Cases as text: each line of a log behind a sign that says what it is. Read by test_cases.py.

# why the case exists
kind: mte-out-of-range        (null: nothing happened; also device, rank, kernel, code)
== rank0/plog-31_20270214100000001.log
! the first fault    s its detail    p pointer    e secondary error    n noise    u unknown    . none of these
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from checkout import TESTS

SIGNS = {"!": "first", "s": "detail", "p": "pointer", "e": "secondary", "n": "noise", "u": "unknown"}
FOLDER = TESTS / "triage" / "cases"


@dataclass
class Story:
    """A case: its files and what each line is."""

    name: str
    head: dict[str, str | None] = field(default_factory=dict)
    files: dict[str, list[str]] = field(default_factory=dict)
    lines: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in SIGNS.values()})

    def write_files(self, folder: Path) -> None:
        for label, lines in self.files.items():
            path = folder / label
            path.parent.mkdir(parents=True, exist_ok=True)
            end = "" if "no_final_newline" in self.head else "\n"
            path.write_bytes(self._encode_text("\n".join(lines) + end))

    def _encode_text(self, text: str) -> bytes:
        data = text.encode()
        if "escapes" in self.head:
            data = data.decode("unicode_escape").encode("latin-1")
        return data


def read_story(path: Path) -> Story:
    story, label = Story(path.stem), ""
    for line in path.read_text("utf-8").split("\n"):
        if line.startswith("== "):
            label = line[3:]
            story.files[label] = []
        elif label and line:
            story.files[label].append(line[2:])
            if line[0] != ".":
                story.lines[SIGNS[line[0]]].append(f"{label}:{len(story.files[label])}")
        elif ": " in line and not line.startswith("#"):
            name, _, value = line.partition(": ")
            story.head[name] = None if value == "null" else value
    return story


def read_stories() -> list[Story]:
    return [read_story(path) for path in sorted(FOLDER.glob("*.case"))]
