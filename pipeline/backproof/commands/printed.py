"""How the commands print what came from outside: no control reaches a terminal, no line becomes a command of Actions."""

from __future__ import annotations

import json
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from backproof.core.escape import one_line
from backproof.upstream.actions import Actions

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def fenced() -> Iterator[None]:
    """Lines with words from outside: in Actions they must not become commands."""
    actions = Actions.here(click.echo)
    with actions.fenced() if actions else nullcontext():
        yield


def row(text: str) -> None:
    """One line, whatever is in it: no control reaches the terminal."""
    indent = len(text) - len(text.lstrip(" "))
    click.echo(" " * indent + one_line(text, 2000))


def as_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))
