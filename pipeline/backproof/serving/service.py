"""Starts the service from the plan's arguments, or takes one that runs; says when it is healthy and when it is gone."""

from __future__ import annotations

import contextlib
import random
import re
import socket
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import httpx

from backproof.adapters import background, proc
from backproof.core.errors import HostError, PlanError, TargetError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from backproof.adapters.background import Running
    from backproof.kit.serving import Serve

_HERE: Final = "127.0.0.1"
_PORTS: Final = range(20_000, 32_000)
_PLACE: Final = re.compile(r"\{(python|kit|model)\}")
_POLL: Final = 0.1
_PROGRESS: Final = 30.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Service:
    """One service that answers."""

    url: str
    origin: Literal["started", "url"]
    command: str
    running: Running | None = None
    log: Path | None = None

    @property
    def exit_code(self) -> int | None:
        return self.running.code if self.running else None

    def log_size(self) -> int:
        return self.log.stat().st_size if self.log else 0


def argv(serve: Serve, arguments: Sequence[str], words: Mapping[str, str]) -> tuple[tuple[str, ...], int]:
    """The whole command and its port; a plan without --port gets a free one.

    Raises:
        PlanError: it has a word in braces that nobody gave, for example {model}.
    """
    whole = [_PLACE.sub(lambda found: _given(found[1], words), part) for part in (*serve.command, *arguments)]
    given = _value(whole, "--port")
    port = int(given) if given and given.isdigit() else _free_port()
    return (tuple(whole) if given else (*whole, "--port", str(port))), port


def _given(name: str, words: Mapping[str, str]) -> str:
    if words.get(name):
        return words[name]
    raise PlanError(
        f"the service's command needs {{{name}}}",
        why=f"the plan leaves it open, and --{name} was not given",
        next_step=f"give --{name}",
    )


def _value(words: Sequence[str], name: str) -> str | None:
    for index, word in enumerate(words):
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
        if word == name and index + 1 < len(words):
            return words[index + 1]
    return None


def _free_port() -> int:
    """Below the ports that the system gives to outgoing connections: ours would take the service's before it starts."""
    for port in random.sample(_PORTS, 100):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind((_HERE, port))
            return port
    raise HostError(
        "no port is free for the service",
        why=f"100 ports of {_PORTS.start} to {_PORTS.stop} are in use",
        next_step="name one with --port in the plan's arguments",
    )


@contextmanager
def started(
    serve: Serve,
    command: tuple[str, ...],
    port: int,
    *,
    env: Mapping[str, str],
    folder: Path,
    say: Callable[[str], None],
) -> Iterator[Service]:
    """Have the service for the time of the block, healthy when the block begins.

    Raises:
        TargetError: it ended or stayed unhealthy; its log is in `folder`.
    """
    log = folder / "service.log"
    # Not the run folder's own Python: only what the plan and the device say is added to our environment.
    whole = proc.environment({**env, "PYTHONUNBUFFERED": "1"})
    with background.started(command, log=log, cwd=folder, env=whole) as running:
        url = f"http://{_HERE}:{port}"
        service = Service(url=url, origin="started", command=running.command, running=running, log=log)
        wait(service, serve.health, serve.ready, say)
        yield service


@contextmanager
def taken(url: str, serve: Serve, say: Callable[[str], None]) -> Iterator[Service]:
    """A service that somebody else started. Nothing is known of the code that it runs."""
    service = Service(url=url.rstrip("/"), origin="url", command=f"service at {url.rstrip('/')}")
    wait(service, serve.health, min(serve.ready, 60), say)
    yield service


def wait(service: Service, health: str, patience: float, say: Callable[[str], None]) -> None:
    """Until the service is healthy.

    Raises:
        TargetError: it ended, or time ran out.
    """
    begun = told = time.monotonic()
    while not healthy(service, health):
        now = time.monotonic()
        if service.running and service.running.code is not None:
            raise _not_healthy(service, f"it ended with code {service.running.code}")
        if now - begun > patience:
            raise _not_healthy(service, f"{health} was not healthy after {patience:.0f} s")
        if now - told > _PROGRESS:
            told = now
            say(f"      waiting for the service: {now - begun:.0f} s")
        time.sleep(_POLL)


def healthy(service: Service, health: str) -> bool:
    try:
        return httpx.get(f"{service.url}{health}", timeout=10, trust_env=False).status_code == httpx.codes.OK
    except httpx.HTTPError:
        return False


def _not_healthy(service: Service, why: str) -> TargetError:
    tail = ""
    if service.log and service.log.exists():
        with service.log.open("rb") as stream:
            stream.seek(max(0, service.log_size() - 1500))
            tail = f"; its log ends with: {stream.read().decode('utf-8', 'replace').strip()}"
    return TargetError(
        "the service did not become healthy",
        why=f"{why}{tail}",
        next_step=f"read {service.log or 'the log of the service'}; `{service.command}` starts it again",
    )


def model(service: Service, named: str) -> str:
    """The model as requests name it.

    Raises:
        TargetError: the plan does not say, and the service names none.
    """
    if named:
        return named
    try:
        answer = httpx.get(f"{service.url}/v1/models", timeout=30, trust_env=False)
        return str(answer.json()["data"][0]["id"])
    except (httpx.HTTPError, ValueError, KeyError, IndexError, TypeError) as error:
        raise TargetError(
            "the service names no model", why=f"/v1/models: {error}", next_step="set model in the plan's [[serve]]"
        ) from error
