"""Makes text from outside harmless in Markdown on GitHub.

Everything that a run collects is hostile until proven otherwise: commit subjects, test messages, paths, log lines. In
Markdown each piece lands as one line of prose, one code span or one fence; nothing else. GitHub looks for mentions and
references in the rendered text, where an entity is a plain character again: so these are broken by a word joiner.
"""

from __future__ import annotations

import re
from urllib.parse import quote

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


def escape_prose(text: str, limit: int = 600) -> Markup:
    """Return text that reads as text anywhere in a line of Markdown, table cells included."""
    line = _LIVE.sub(_break_link, one_line(text, limit))
    line = _STRUCTURE.sub(lambda match: _ENTITIES.get(match[0], f"\\{match[0]}"), line)
    return Markup(_BLOCK_START.sub(_break_block, line))  # noqa: S704 - this is the escaping


def _break_block(match: re.Match[str]) -> str:
    return f"{match[0]}{JOINER}" if match[0].isdigit() else f"\\{match[0]}"


def _break_link(match: re.Match[str]) -> str:
    return f"{match[0]}{JOINER}" if match["after"] else f"{JOINER}{match[0]}"


def format_code_span(text: str, limit: int = 200) -> Markup:
    """Return a code span; not for table cells, where renderers disagree about a bar in code."""
    line = one_line(text, limit) or "(empty)"
    ticks = "`" * (_longest_run(line) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return Markup(f"{ticks}{pad}{line}{pad}{ticks}")  # noqa: S704


def format_code_block(text: str, language: str = "", limit: int = 4000) -> Markup:
    """Return a fenced block on lines of its own."""
    body = cut_text(strip_controls(text[: limit * 4]).strip("\n"), limit)
    ticks = "`" * max(3, _longest_run(body) + 1)
    return Markup(f"{ticks}{language}\n{body}\n{ticks}")  # noqa: S704


def escape_address(text: str) -> Markup:
    """Return an address for the round brackets of a link; "" where it is not one of the web."""
    address = quote(one_line(text, 2000), safe="/:?&=%#~+,;@.-_")
    return Markup(address if address.startswith(("https://", "http://")) else "")  # noqa: S704


def _longest_run(text: str) -> int:
    return max(map(len, _TICKS.findall(text)), default=0)
