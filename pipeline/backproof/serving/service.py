"""The service under load: started from the plan's arguments, or one that runs already, and its health."""

from __future__ import annotations

import contextlib
import random
import re
import socket
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import httpx

from backproof.adapters import background
from backproof.adapters.environment import build_environment
from backproof.core.errors import HostError, PlanError, TargetError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from backproof.adapters.background import RunningProcess
    from backproof.kit.serving import Serve

_HERE: Final = "127.0.0.1"
_PORTS: Final = range(20_000, 32_000)
_PLACE: Final = re.compile(r"\{(python|kit|model)\}")
_POLL: Final = 0.1
_PROGRESS: Final = 30.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Service:
    """A service that answers requests."""

    url: str
    command: str
    running: RunningProcess | None = None
    log: Path | None = None

    @property
    def exit_code(self) -> int | None:
        return self.running.code if self.running else None

    def log_size(self) -> int:
        return self.log.stat().st_size if self.log else 0


def build_command(serve: Serve, arguments: Sequence[str], words: Mapping[str, str]) -> tuple[tuple[str, ...], int]:
    """Return the whole command and its port; a plan without --port gets a free one.

    Raises:
        PlanError: a word in braces has no value, for example {model}.
    """
    command = [_PLACE.sub(lambda match: _fill_word(match[1], words), part) for part in (*serve.command, *arguments)]
    named = _find_value(command, "--port")
    port = int(named) if named and named.isdigit() else _find_free_port()
    return (tuple(command) if named else (*command, "--port", str(port))), port


def _fill_word(name: str, words: Mapping[str, str]) -> str:
    if words.get(name):
        return words[name]
    raise PlanError(
        f"the service's command needs {{{name}}}",
        why=f"the plan leaves it open, and --{name} was not given",
        next_step=f"give --{name}",
    )


def _find_value(words: Sequence[str], name: str) -> str | None:
    for index, word in enumerate(words):
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
        if word == name and index + 1 < len(words):
            return words[index + 1]
    return None


def _find_free_port() -> int:
    """Return a port below those of outgoing connections: one of ours could take the service's before it starts."""
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
def start_service(
    serve: Serve,
    command: tuple[str, ...],
    port: int,
    *,
    env: Mapping[str, str],
    folder: Path,
    say: Callable[[str], None],
) -> Iterator[Service]:
    """Run the service during the block; it is healthy when the block begins.

    Raises:
        TargetError: it ended or stayed unhealthy; its log is in `folder`.
    """
    log = folder / "service.log"
    # Only the variables of the plan and the device are added to our environment.
    environment = build_environment({**env, "PYTHONUNBUFFERED": "1"})
    with background.start_process(command, log=log, cwd=folder, env=environment) as running:
        url = f"http://{_HERE}:{port}"
        service = Service(url=url, command=running.command, running=running, log=log)
        _await_health(service, serve.health, serve.ready, say)
        yield service


@contextmanager
def attach_service(url: str, serve: Serve, say: Callable[[str], None]) -> Iterator[Service]:
    """Yield a service that somebody else started. Nothing is known of the code that it runs."""
    service = Service(url=url.rstrip("/"), command=f"service at {url.rstrip('/')}")
    _await_health(service, serve.health, min(serve.ready, 60), say)
    yield service


def _await_health(service: Service, health: str, patience: float, say: Callable[[str], None]) -> None:
    """Wait until the service is healthy.

    Raises:
        TargetError: it ended, or time ran out.
    """
    begun = reported = time.monotonic()
    while not is_healthy(service, health):
        now = time.monotonic()
        if service.running and service.running.code is not None:
            raise _unhealthy_error(service, f"it ended with code {service.running.code}")
        if now - begun > patience:
            raise _unhealthy_error(service, f"{health} was not healthy after {patience:.0f} s")
        if now - reported > _PROGRESS:
            reported = now
            say(f"      waiting for the service: {now - begun:.0f} s")
        time.sleep(_POLL)


def is_healthy(service: Service, health: str) -> bool:
    try:
        return httpx.get(f"{service.url}{health}", timeout=10, trust_env=False).status_code == httpx.codes.OK
    except httpx.HTTPError:
        return False


def _unhealthy_error(service: Service, why: str) -> TargetError:
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


def find_model(service: Service, planned: str) -> str:
    """Return the model as requests name it.

    Raises:
        TargetError: the plan names none, and the service names none.
    """
    if planned:
        return planned
    try:
        answer = httpx.get(f"{service.url}/v1/models", timeout=30, trust_env=False)
        return str(answer.json()["data"][0]["id"])
    except (httpx.HTTPError, ValueError, KeyError, IndexError, TypeError) as error:
        raise TargetError(
            "the service names no model", why=f"/v1/models: {error}", next_step="set model in the plan's [[serve]]"
        ) from error
