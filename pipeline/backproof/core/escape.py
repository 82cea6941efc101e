"""Makes text from outside harmless where it is shown: in Markdown on GitHub, and in HTML.

Everything that a run collects is hostile until proven otherwise: commit subjects, test messages, paths, log lines. In
Markdown each piece lands as one line of prose, one code span or one fence; nothing else. GitHub looks for mentions and
references in the rendered text, where an entity is a plain character again: so these are broken by a word joiner.
"""

from __future__ import annotations

import re

from markupsafe import Markup

from backproof.core.plain_text import JOINER, cut_text, one_line, strip_controls

_LIVE = re.compile(
    r"(?P<after>[@#]|:(?=//|[a-z+-][\w+-]*:))"  # mentions, references, URLs, emoji names
    r"|(?P<before>(?<=www)\.|(?<=\bgh)-(?=\d))",
    re.IGNORECASE,
)
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\\": "&#92;", "|": "&#124;", "`": "&#96;", "$": "&#36;"}
_STRUCTURE = re.compile(r"[&<>\\|`$]|[*\[\]~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_BLOCK_START = re.compile(r"^(?:[-+=]|\d{1,9}(?=[.)](?:\s|$)))")
_TICKS = re.compile(r"`+")


def prose(text: str, limit: int = 600) -> Markup:
    """Text that reads as text anywhere in a line of Markdown, table cells included."""
    line = _LIVE.sub(_unlink, one_line(text, limit))
    line = _STRUCTURE.sub(lambda found: _ENTITIES.get(found[0], f"\\{found[0]}"), line)
    return Markup(_BLOCK_START.sub(_unblock, line))  # noqa: S704 - this is the escaping


def _unblock(found: re.Match[str]) -> str:
    return f"{found[0]}{JOINER}" if found[0].isdigit() else f"\\{found[0]}"


def _unlink(found: re.Match[str]) -> str:
    return f"{found[0]}{JOINER}" if found["after"] else f"{JOINER}{found[0]}"


def code(text: str, limit: int = 200) -> Markup:
    """A code span; not for table cells, where renderers disagree about a bar in code."""
    line = one_line(text, limit) or "(empty)"
    ticks = "`" * (_longest_run(line) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return Markup(f"{ticks}{pad}{line}{pad}{ticks}")  # noqa: S704


def fence(text: str, language: str = "", limit: int = 4000) -> Markup:
    """A fenced block on lines of its own."""
    body = cut_text(strip_controls(text[: limit * 4]).strip("\n"), limit)
    ticks = "`" * max(3, _longest_run(body) + 1)
    return Markup(f"{ticks}{language}\n{body}\n{ticks}")  # noqa: S704


def _longest_run(text: str) -> int:
    return max((len(each) for each in _TICKS.findall(text)), default=0)
