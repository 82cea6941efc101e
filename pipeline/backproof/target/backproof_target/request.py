"""The request as this side reads it; devices/check_run.py writes it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SCHEMA = 4


class RequestError(Exception):
    """The request cannot be understood: the two sides are of different versions, or the file is damaged."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """The pytest file to run, and which of its tests: those of these ids, or those of a ``-k`` expression."""

    id: str
    file: Path
    select: str | None = None
    only: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Operators:
    """The file of the kit's operator references, and the model of them that is asked for.

    ``source`` is the user's own copy of the operators' source, ``cache`` a folder for what is compiled from it.
    """

    file: Path
    model: str
    options: dict[str, str] = field(default_factory=dict)
    source: str = ""
    cache: str = ""


@dataclass(frozen=True, kw_only=True)
class Request:
    """One check on one device. What arm is in place, and where results are kept, is not for it to know.

    ``ahead`` are folders that come before the target's own on the path, in processes that the check starts, too.
    ``device`` is only the name that a check can ask for; ``session`` is the module of ``sessions`` that prepares it.
    """

    nonce: str
    device: str
    session: str
    check: Check
    operators: Operators | None
    files: tuple[Path, ...]
    ahead: list[str]
    cover: bool
    stop: bool
    carried: list[str]
    work: Path


def read_request(path: Path) -> Request:
    """Read REQUEST.json; every fault of it is one RequestError."""
    try:
        return _parse_request(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RequestError(f"{path}: {type(error).__name__}: {error}") from error


def _parse_request(
    *, schema: int, check: dict[str, Any], operators: dict[str, Any] | None, work: str, **facts: Any
) -> Request:
    if schema != SCHEMA:
        raise ValueError(f"schema {schema!r} is not {SCHEMA}: both sides must be of one version")
    return Request(
        check=Check(**{**check, "file": Path(check["file"])}),
        operators=Operators(**{**operators, "file": Path(operators["file"])}) if operators else None,
        work=Path(work),
        **{**facts, "files": tuple(map(Path, facts["files"]))},
    )
