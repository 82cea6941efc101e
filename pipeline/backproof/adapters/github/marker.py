"""The hidden line that marks a comment as Backproof's: its kit, branch and device, and the hash of its text."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import parse_qs, quote, urlencode

from pydantic import AliasPath, Field

from backproof.adapters.github.pulls import GitHubRecord

_MARKER = re.compile(r"\A<!-- backproof:1 ([A-Za-z0-9=&%._~/+]{1,2000}) -->\n")
"""Only at the very start: there, nothing that came from outside can stand."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CommentDraft:
    """The comment to post, with the run that it shows."""

    kit: str
    branch: str
    device: str
    run: str
    started: str
    text: str

    @property
    def key(self) -> tuple[str, str, str]:
        return self.kit, self.branch, self.device

    @property
    def body(self) -> str:
        return f"{self.marker}\n{self.text}"

    @property
    def marker(self) -> str:
        fields = {
            "kit": self.kit,
            "branch": self.branch,
            "device": self.device,
            "run": self.run,
            "started": self.started,
            "body": hash_text(self.text),
        }
        # Two hyphens would end an HTML comment early.
        return f"<!-- backproof:1 {urlencode(fields, quote_via=quote).replace('-', '%2D')} -->"


@dataclass(frozen=True, kw_only=True, slots=True)
class MarkedComment:
    """A comment with the marker of Backproof."""

    id: int
    url: str
    login: str
    key: tuple[str, str, str]
    started: str
    fingerprint: str
    edited: bool


class _Comment(GitHubRecord):
    """The fields of a comment that are read; a deleted account leaves no user."""

    id: int
    html_url: str
    body: str | None = None
    login: Annotated[str, Field(validation_alias=AliasPath("user", "login"))] = ""


def hash_text(text: str) -> str:
    """Return the SHA-256 of a text as GitHub keeps it: line ends and outer blanks do not count."""
    return hashlib.sha256(text.replace("\r\n", "\n").strip().encode()).hexdigest()


def read_marker(comment: object) -> MarkedComment | None:
    """Return a comment with its marker; None where it has none."""
    read = _Comment.model_validate(comment)
    body = (read.body or "").replace("\r\n", "\n")
    match = _MARKER.match(body)
    if not match:
        return None
    fields = {name: values[0] for name, values in parse_qs(match[1]).items()}
    if not {"kit", "branch", "device", "started", "body"} <= set(fields):
        return None
    return MarkedComment(
        id=read.id,
        url=read.html_url,
        login=read.login,
        key=(fields["kit"], fields["branch"], fields["device"]),
        started=fields["started"],
        fingerprint=fields["body"],
        edited=hash_text(body[match.end() :]) != fields["body"],
    )
