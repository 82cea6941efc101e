"""Which timeout the socket has at the moment a request is sent, against a real server on the loopback."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from urllib3 import HTTPConnectionPool, Timeout
from urllib3.connection import HTTPConnection

if TYPE_CHECKING:
    from collections.abc import Iterator

_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class _Watched(HTTPConnection):
    """Notes the timeout of the socket each time a request goes out."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.seen: list[float | None] = []

    def send(self, data: Any) -> Any:
        if self.sock is None:
            self.connect()
        self.seen.append(self.sock.gettimeout())
        return super().send(data)


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Watched  # type: ignore[mutable-override] # newer releases type it; the affected one does not


def _serve(listener: socket.socket) -> None:
    """One connection at a time, one answer per request, until the client goes away."""
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        with client:
            _answer(client)


def _answer(client: socket.socket) -> None:
    pending = b""
    while received := client.recv(65536):
        *heads, pending = (pending + received).split(b"\r\n\r\n")
        for head in heads:
            if not head.startswith(b"GET /never"):
                client.sendall(_ANSWER)


@contextmanager
def _server() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_serve, args=(listener,), daemon=True).start()
        yield listener.getsockname()[1]


@contextmanager
def _pool(default: float | None) -> Iterator[_Pool]:
    """A pool with the given default timeout of sockets, put back afterwards."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(default)
    try:
        with _server() as port, _Pool("127.0.0.1", port, maxsize=1, retries=False) as pool:
            yield pool
    finally:
        socket.setdefaulttimeout(before)


def _seen(pool: _Pool, *timeouts: Timeout) -> list[float | None]:
    """The timeouts under which the requests were sent, all over one connection."""
    for timeout in timeouts:
        assert pool.request("GET", "/", timeout=timeout).data == b"ok"
    assert pool.num_connections == 1, "the connection was not reused, so nothing was tested"
    assert pool.pool is not None
    connection = pool.pool.get(timeout=1)
    pool.pool.put(connection)
    return list(connection.seen)


@pytest.mark.parametrize(
    ("first", "second", "default", "wanted"),
    [
        (Timeout(connect=5, read=7), Timeout(connect=2, read=7), None, 2),
        (Timeout(connect=2, read=7), Timeout(connect=5, read=7), None, 5),
        (Timeout(connect=5, read=7), Timeout(connect=None, read=7), None, None),
        (Timeout(connect=5, read=7), Timeout(read=7), 11, 11),
        (Timeout(connect=5, read=7), Timeout(total=3), None, 3),
    ],
    ids=["shorter", "longer", "none", "default-of-sockets", "total"],
)
def test_second_request(
    device: Any, first: Timeout, second: Timeout, default: float | None, wanted: float | None
) -> None:
    with _pool(default) as pool:
        seen = _seen(pool, first, second)
    device.observe(sent_under=seen)
    assert seen[-1] == wanted


@pytest.mark.parametrize(
    ("timeout", "default", "wanted"),
    [(Timeout(connect=5, read=7), None, 5), (Timeout(read=7), 11, 11), (Timeout(read=7), None, None)],
    ids=["given", "default-of-sockets", "none"],
)
def test_first_request(device: Any, timeout: Timeout, default: float | None, wanted: float | None) -> None:
    with _pool(default) as pool:
        seen = _seen(pool, timeout)
    device.observe(sent_under=seen)
    assert seen == [wanted]


def test_read_timeout(device: Any) -> None:
    """The response's own timeout holds on a reused connection, whatever the request was sent under."""
    from urllib3.exceptions import ReadTimeoutError

    with _pool(None) as pool:
        _seen(pool, Timeout(connect=5, read=7))
        with pytest.raises(ReadTimeoutError):
            pool.request("GET", "/never", timeout=Timeout(connect=5, read=0.05))
    device.observe(read_timeout="raised")
