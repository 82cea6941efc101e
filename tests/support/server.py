"""The stand-in: a real HTTP server on loopback that speaks GitHub's contract, and can go wrong in the ways GitHub does."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qsl, urlsplit

import contract
from graphql import graphql_sync
from world import ROUTES, Ask, Refuse, World, graph_root

if TYPE_CHECKING:
    from collections.abc import Callable

Kind = Literal[
    "lost-reply",
    "502",
    "502-done",
    "slow",
    "drip",
    "cut",
    "rate-limit",
    "secondary",
    "truncated",
    "twice",
    "refuse",
    "retry-after",
    "answer",
]


@dataclass
class Fault:
    """What goes wrong with the next `times` requests of a method whose path has a part."""

    kind: Kind
    method: str
    part: str
    times: int = 1
    status: int = 500
    message: str = ""
    seconds: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Request:
    """What arrived."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    headers: dict[str, str]


@dataclass
class StandIn:
    """The running server."""

    world: World = field(default_factory=World)
    faults: list[Fault] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    url: str = ""
    page: int = 100
    between: Callable[[str, str], None] | None = None

    def fault(self, kind: Kind, method: str, part: str, **facts: Any) -> None:
        self.faults.append(Fault(kind, method, part, **facts))

    def made(self, method: str) -> list[str]:
        return [each.path for each in self.requests if each.method == method]

    def take_fault(self, method: str, path: str) -> Fault | None:
        with self.world.lock:
            for each in self.faults:
                if each.times > 0 and each.method == method and each.part in path:
                    each.times -= 1
                    return each
        return None


def start(stand_in: StandIn) -> ThreadingHTTPServer:
    """Serve on a free port until `shutdown`."""

    class Handler(_Handler):
        pass

    Handler.stand_in = stand_in
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    stand_in.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    return server


class _Handler(BaseHTTPRequestHandler):
    stand_in: StandIn
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: Any) -> None:
        """Nothing on stderr: it belongs to the command under test."""

    def _serve(self) -> None:
        split = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(length)
        body = json.loads(raw) if raw else None
        query = dict(parse_qsl(split.query))
        request = Request(self.command, split.path, query, body, dict(self.headers))
        self.stand_in.requests.append(request)
        fault = self.stand_in.take_fault(self.command, split.path)
        if fault and self._fault_before(fault):
            return
        status, payload, headers = self._answer(request)
        if self.stand_in.between:
            self.stand_in.between(self.command, split.path)
        if fault and self._fault_after(fault, status, payload):
            return
        self._send(status, payload, headers)

    do_GET = do_POST = do_PATCH = do_DELETE = _serve  # noqa: N815 - http.server names them

    def _fault_before(self, fault: Fault) -> bool:
        if fault.kind == "slow":
            time.sleep(fault.seconds)
        if fault.kind == "502":
            self._send_raw(502, b"<html><body>502 Bad Gateway</body></html>", {"Content-Type": "text/html"})
        elif fault.kind == "rate-limit":
            reset = str(int(time.time() + fault.seconds))
            limits = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}
            self._send(403, {"message": "API rate limit exceeded for user ID 1."}, limits)
        elif fault.kind == "secondary":
            # As hub4j/github-api#2009 shows it: no header, no JSON field, only words.
            said = b"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
            self._send_raw(403, said, {"Content-Type": "text/plain"})
        elif fault.kind == "retry-after":
            limits = {"Retry-After": str(int(fault.seconds))}
            self._send(fault.status, {"message": "You have exceeded a secondary rate limit."}, limits)
        elif fault.kind == "answer":
            # Not GitHub's: what a proxy, a limit or a policy answers in its place. The message is the whole body.
            self._send_raw(fault.status, fault.message.encode(), {"Content-Type": "application/json", **fault.headers})
        elif fault.kind == "refuse":
            self._send(fault.status, {"message": fault.message}, {})
        else:
            return False
        return True

    def _fault_after(self, fault: Fault, status: int, payload: Any) -> bool:
        if fault.kind == "lost-reply":
            self.close_connection = True
            self.connection.close()
        elif fault.kind in {"cut", "drip"}:
            self._send_partly(fault, status, json.dumps(payload).encode())
        elif fault.kind == "502-done":
            self._send_raw(502, b"", {})
        elif fault.kind == "truncated":
            data = json.dumps(payload).encode()
            self._send_raw(status, data[: len(data) // 2], {"Content-Type": "application/json"})
        else:
            return False
        return True

    def _send_partly(self, fault: Fault, status: int, data: bytes) -> None:
        """The length of the whole, and then half of it; or all of it, a byte at a time."""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if fault.kind == "cut":
            self.wfile.write(data[: len(data) // 2])
        else:
            for byte in data:
                self.wfile.write(bytes([byte]))
                time.sleep(fault.seconds)
        self.close_connection = True

    def _answer(self, request: Request) -> tuple[int, Any, dict[str, str]]:
        try:
            if request.path == "/graphql":
                return self._graph(request)
            return self._rest(request)
        except AssertionError as error:
            self.stand_in.violations.append(f"{request.method} {request.path}: {error}")
            return 500, {"message": "the contract was broken: see the test"}, {}

    def _login(self) -> str | None:
        given = self.headers.get("Authorization", "")
        if not given:
            return None
        token = given.split(" ", 1)[1]
        if given.startswith("Bearer ey"):
            return "an App itself"
        login = self.stand_in.world.logins.get(token)
        if login is None:
            raise Refuse(401, "Bad credentials")
        return login

    def _rest(self, request: Request) -> tuple[int, Any, dict[str, str]]:
        found = contract.rest()
        operation, given = found.find(request.method, request.path)
        found.check_request(operation, given, request.query, request.body)
        try:
            login = self._login()
            ask = Ask(self.stand_in.world, found, operation, given, request.query, request.body, login)
            status, payload = ROUTES[operation.method, operation.path](ask)
        except Refuse as refused:
            return refused.status, {"message": refused.message}, refused.headers
        schema = found.answer_schema(operation, status)
        if schema is not None:
            found.check(schema, payload, f"the answer of {operation.method} {operation.path}")
        return self._paged(request, status, payload)

    def _paged(self, request: Request, status: int, payload: Any) -> tuple[int, Any, dict[str, str]]:
        """GitHub's pages: a Link header leads to the next; a fault `twice` shows the last items again."""
        key = "check_runs" if isinstance(payload, dict) and "check_runs" in payload else ""
        items = payload[key] if key else payload
        if not isinstance(items, list):
            return status, payload, {}
        size = min(int(request.query.get("per_page", 30)), self.stand_in.page)
        page = int(request.query.get("page", 1))
        again = self.stand_in.take_fault("PAGE", request.path)
        start = (page - 1) * size - (1 if again and page > 1 else 0)
        shown = items[start : page * size]
        headers = {}
        if page * size < len(items):
            url = f"{self.stand_in.url}{request.path}?per_page={size}&page={page + 1}"
            headers["Link"] = f'<{url}>; rel="next", <{url}>; rel="last"'
        return status, ({**payload, key: shown} if key else shown), headers

    def _graph(self, request: Request) -> tuple[int, Any, dict[str, str]]:
        try:
            login = self._login()
        except Refuse as refused:
            return refused.status, {"message": refused.message}, {}
        done = graphql_sync(
            contract.graph(),
            request.body["query"],
            root_value=graph_root(self.stand_in.world, login),
            variable_values=request.body["variables"],
        )
        assert not done.errors, f"the query is not of GitHub's schema: {done.errors}"
        return 200, {"data": done.data}, {}

    def _send(self, status: int, payload: Any, headers: dict[str, str]) -> None:
        data = b"" if payload is None else json.dumps(payload).encode()
        self._send_raw(status, data, {"Content-Type": "application/json; charset=utf-8", **headers})

    def _send_raw(self, status: int, data: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
